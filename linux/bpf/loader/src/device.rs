//! The device of a marker: found, and its egress taken.

use std::fs;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::fs::MetadataExt as _;
use std::ptr::NonNull;

use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{AsRawLibbpf, ErrorKind, Link, Object, ProgramType, libbpf_sys};
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use serde_json::{Value, json};

use crate::load::numbers;
use crate::pins::is_marker;
use crate::refusal::{Outcome, Refusal};

const NETWORK: &str = "/proc/self/ns/net";
/// Programs that the kernel takes at one place (`BPF_MPROG_MAX`).
const MOST_PROGRAMS: usize = 64;

/// A network interface of this process's network namespace.
pub struct Device {
    name: String,
    index: u32,
    namespace: u32,
}

impl Device {
    /// Finds an interface that is up.
    pub fn find(name: &str) -> Outcome<Self> {
        let unknown = |error: String| {
            Refusal::new(
                format!("`{name}`: {error}"),
                "`ip link` lists the interfaces of this network namespace",
            )
        };
        let index = if_nametoindex(name).map_err(|error| match error {
            Errno::ENODEV | Errno::ENXIO => unknown("there is no such network interface here".to_owned()),
            _ => unknown(error.to_string()),
        })?;
        let mut all = getifaddrs().map_err(|error| unknown(error.to_string()))?;
        let flags = all.find(|each| each.interface_name == name).map(|each| each.flags);
        if !flags.is_some_and(|flags| flags.contains(InterfaceFlags::IFF_UP)) {
            return Err(Refusal::new(
                format!("the network interface `{name}` is down: nothing leaves there"),
                format!("ip link set {name} up"),
            ));
        }
        let namespace = fs::metadata(NETWORK)
            .ok()
            .and_then(|of| u32::try_from(of.ino()).ok())
            .ok_or_else(|| unknown(format!("{NETWORK} does not tell the network namespace")))?;
        Ok(Self { name: name.to_owned(), index, namespace })
    }

    /// Refuses a second marker: each would decide about packets that the other one has decided about.
    ///
    /// Returns the revision of the egress, by which the kernel tells whether a program has come since.
    pub fn without_marker(&self) -> Outcome<u64> {
        let mut ids = [0u32; MOST_PROGRAMS];
        let mut query = libbpf_sys::bpf_prog_query_opts {
            sz: size_of::<libbpf_sys::bpf_prog_query_opts>() as libbpf_sys::size_t,
            prog_ids: ids.as_mut_ptr(),
            ..Default::default()
        };
        query.__bindgen_anon_1.prog_cnt = MOST_PROGRAMS as u32;
        // SAFETY: the query and the room for its numbers are on the stack during the call.
        let failed = unsafe {
            libbpf_sys::bpf_prog_query_opts(self.number(), libbpf_sys::BPF_TCX_EGRESS, &raw mut query)
        };
        if failed != 0 {
            let error = std::io::Error::from_raw_os_error(-failed);
            return Err(Refusal::new(
                format!("the kernel does not tell the programs on the egress of `{}`: {error}", self.name),
                "tcx needs Linux 6.6 or newer",
            ));
        }
        // SAFETY: the call has written the number of programs.
        let count = unsafe { query.__bindgen_anon_1.prog_cnt } as usize;
        let known: Vec<_> = ProgInfoIter::default().collect();
        for id in ids.iter().take(count) {
            match known.iter().find(|program| program.id == *id).map(|program| program.name.to_string_lossy())
            {
                None => {
                    return Err(Refusal::new(
                        format!(
                            "`{}` has a BPF program on its egress, number {id}, which may be a marker: this process \
                             may not look, it lacks CAP_SYS_ADMIN",
                            self.name
                        ),
                        "run it as root, as in: sudo shoal bpf ...",
                    ));
                }
                Some(name) if is_marker(&name) => {
                    return Err(Refusal::new(
                        format!(
                            "`{}` has a marker on its egress already, `{name}`; both would decide about each packet",
                            self.name
                        ),
                        "end it first: the command that loaded it, or shoal bpf unload; `shoal bpf show` lists both",
                    ));
                }
                Some(_) => {}
            }
        }
        Ok(query.revision)
    }

    fn number(&self) -> i32 {
        i32::try_from(self.index).unwrap_or(i32::MAX)
    }

    /// As `struct device` of linux/bpf/marker.h has it.
    pub fn as_bytes(&self) -> Vec<u8> {
        [self.namespace.to_ne_bytes(), self.index.to_ne_bytes()].concat()
    }
}

/// Puts a marker's programs into their places, all or none: first those that watch packets leave, then the marker, if
/// the egress is still of this revision.
pub fn attach(object: &Object, device: &Device, revision: u64) -> Outcome<Vec<(String, Link)>> {
    let mut programs: Vec<_> = object.progs_mut().collect();
    programs.sort_by_key(|program| program.prog_type() == ProgramType::SchedCls);
    let mut links = Vec::new();
    for program in programs {
        let name = program.name().to_string_lossy().into_owned();
        let link = if program.prog_type() == ProgramType::SchedCls {
            let options = libbpf_sys::bpf_tcx_opts {
                sz: size_of::<libbpf_sys::bpf_tcx_opts>() as libbpf_sys::size_t,
                expected_revision: revision,
                ..Default::default()
            };
            // SAFETY: program and options outlive the call; the kernel appends the program.
            let raw = unsafe {
                libbpf_sys::bpf_program__attach_tcx(
                    program.as_libbpf_object().as_ptr(),
                    device.number(),
                    &raw const options,
                )
            };
            NonNull::new(raw)
                // SAFETY: the link is ours alone.
                .map(|raw| unsafe { Link::from_ptr(raw) })
                .ok_or_else(|| std::io::Error::last_os_error().to_string())
        } else {
            program.attach().map_err(|error| match error.kind() {
                ErrorKind::PermissionDenied => format!("{error}; CAP_PERFMON is needed"),
                _ => error.to_string(),
            })
        };
        let link = link.map_err(|error| {
            Refusal::new(
                format!("the kernel does not take `{name}` for `{}`: {error}", device.name),
                "nothing is left in the kernel; tcx needs Linux 6.6 or newer",
            )
        })?;
        links.push((name, link));
    }
    Ok(links)
}

/// What a marker has counted, as `struct marker_counts` of linux/bpf/marker.h has it.
pub fn counts(object: &Object) -> Option<Value> {
    let [packets, marked, dropped, left, unseen, unkept] = *numbers(object, ".data.counts")?.first_chunk()?;
    Some(json!({
        "packets": packets,
        "marked": marked,
        "dropped": dropped,
        "left": left,
        "unseen": unseen,
        "unkept": unkept,
        "missed": missed(object),
    }))
}

/// How often the kernel did not run the programs of an object, because it was within one already.
fn missed(object: &Object) -> u64 {
    object
        .progs()
        .map(|program| {
            let mut info = libbpf_sys::bpf_prog_info::default();
            let mut size = size_of_val(&info) as u32;
            // SAFETY: both are on the stack during the call, which writes at most `size` bytes.
            unsafe {
                libbpf_sys::bpf_prog_get_info_by_fd(
                    program.as_fd().as_raw_fd(),
                    &raw mut info,
                    &raw mut size,
                );
            }
            info.recursion_misses
        })
        .sum()
}
