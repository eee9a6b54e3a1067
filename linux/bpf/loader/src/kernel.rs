//! What the running kernel must have, asked before anything is loaded.

use std::fs;
use std::path::Path;

use libbpf_rs::ReferencesType as _;
use libbpf_rs::btf::types::{FuncProto, MemberAttr, Ptr, Struct, Typedef};
use libbpf_rs::btf::{Btf, BtfType};

use crate::refusal::{Outcome, Refusal};

const KERNEL_BTF: &str = "/sys/kernel/btf/vmlinux";
/// The table of a congestion control, and the arguments of its `cong_control` from Linux 6.10 on.
const TABLE: &str = "tcp_congestion_ops";
const CONTROL_ARGUMENTS: usize = 4;
/// What a marker is told by the kernel, as types that describe its tracepoints.
const TRACEPOINTS: [&str; 3] = ["qdisc_dequeue", "net_dev_start_xmit", "kfree_skb"];

/// Numbers of capabilities as in `linux/capability.h`.
const CAP_NET_ADMIN: (u32, &str) = (12, "CAP_NET_ADMIN");
const CAP_SYS_ADMIN: (u32, &str) = (21, "CAP_SYS_ADMIN");
const CAP_PERFMON: (u32, &str) = (38, "CAP_PERFMON");
const CAP_BPF: (u32, &str) = (39, "CAP_BPF");

/// Refuses to load a program without what the kernel asks for.
pub fn may_load() -> Outcome<()> {
    let all = effective()?;
    // To the kernel CAP_SYS_ADMIN includes the two newer ones.
    let lacks = |(bit, _): &(u32, &str), includes: bool| {
        all & 1 << bit == 0 && !(includes && all & 1 << CAP_SYS_ADMIN.0 != 0)
    };
    let missing: Vec<_> = [(CAP_BPF, true), (CAP_PERFMON, true), (CAP_NET_ADMIN, false)]
        .iter()
        .filter(|(capability, included)| lacks(capability, *included))
        .map(|((_, name), _)| *name)
        .collect();
    refuse_without(&missing, "load a BPF program")
}

/// Refuses to list what is loaded without the right to.
pub fn may_list() -> Outcome<()> {
    let missing: &[_] = if effective()? & 1 << CAP_SYS_ADMIN.0 == 0 { &[CAP_SYS_ADMIN.1] } else { &[] };
    refuse_without(missing, "list what is loaded into the kernel")
}

fn refuse_without(missing: &[&str], purpose: &str) -> Outcome<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(", ");
    Err(Refusal::new(
        format!("this process may not {purpose}: it lacks {names}"),
        "run it as root, as in: sudo shoal bpf ...",
    ))
}

/// The effective capabilities of this process.
fn effective() -> Outcome<u64> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok())
        .ok_or_else(|| {
            Refusal::new("/proc/self/status does not tell the capabilities of this process", "mount /proc")
        })
}

/// The kernel's description of its own types.
pub fn described() -> Outcome<Btf<'static>> {
    if !Path::new(KERNEL_BTF).exists() {
        return Err(Refusal::new(
            format!("this kernel does not describe its types: there is no {KERNEL_BTF}"),
            "take a kernel with CONFIG_DEBUG_INFO_BTF, as those of the distributions, or the module (linux/modules)",
        ));
    }
    Btf::from_path(KERNEL_BTF).map_err(|error| {
        Refusal::new(format!("{KERNEL_BTF}: {error}"), "is this kernel's description complete?")
    })
}

/// Refuses a kernel that does not have what a marker needs.
pub fn takes_markers(btf: &Btf<'_>) -> Outcome<()> {
    let lacks = |name: &&&str| btf.type_by_name::<Typedef<'_>>(&format!("btf_trace_{name}")).is_none();
    match TRACEPOINTS.iter().find(lacks) {
        None => Ok(()),
        Some(name) => Err(Refusal::new(
            format!("this kernel does not tell when packets leave: it has no tracepoint {name}"),
            "take a kernel with CONFIG_TRACEPOINTS and CONFIG_NET_SCHED, as those of the distributions",
        )),
    }
}

/// Refuses a kernel that does not have what a congestion control needs.
pub fn takes_controls(btf: &Btf<'_>) -> Outcome<()> {
    if btf.type_by_name::<Struct<'_>>(&format!("bpf_struct_ops_{TABLE}")).is_none() {
        return Err(Refusal::new(
            "this kernel takes no congestion control as a BPF program: it has no struct_ops for TCP",
            "take a kernel with CONFIG_BPF_JIT and CONFIG_BPF_SYSCALL, or the module (linux/modules)",
        ));
    }
    let arguments = member(btf, "cong_control").and_then(|kind| {
        let pointer = Ptr::try_from(kind.skip_mods_and_typedefs()).ok()?;
        Some(FuncProto::try_from(pointer.referenced_type().skip_mods_and_typedefs()).ok()?.len())
    });
    if arguments != Some(CONTROL_ARGUMENTS) {
        return Err(Refusal::new(
            "cong_control of this kernel has other arguments than these programs",
            "take Linux 6.10 or newer, or the module (linux/modules)",
        ));
    }
    Ok(())
}

/// Type of a member of `struct tcp_congestion_ops`.
pub fn member<'btf>(btf: &'btf Btf<'_>, name: &str) -> Option<BtfType<'btf>> {
    let table = btf.type_by_name::<Struct<'_>>(TABLE)?;
    let kind = table.iter().find(|member| member.name.is_some_and(|text| text == name))?.ty;
    btf.type_by_id(kind)
}

/// Places of the members of `struct tcp_congestion_ops` in a program that the kernel's own does not have.
pub fn places_unknown_to(kernel: &Btf<'_>, program: &Btf<'_>) -> Vec<(String, usize)> {
    let Some(table) = program.type_by_name::<Struct<'_>>(TABLE) else { return Vec::new() };
    table
        .iter()
        .filter_map(|entry| {
            let name = entry.name?.to_str()?.to_owned();
            let at = match entry.attr {
                MemberAttr::Normal { offset } => offset as usize / 8,
                MemberAttr::BitField { .. } => return None,
            };
            member(kernel, &name).is_none().then_some((name, at))
        })
        .collect()
}
