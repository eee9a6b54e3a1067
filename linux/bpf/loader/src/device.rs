//! The device of a marker: found, and its egress taken.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::ptr::NonNull;

use libbpf_rs::{AsRawLibbpf, ErrorKind, Link, Object, ProgramType, libbpf_sys};
use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use serde_json::{Value, json};

use crate::load::numbers;
use crate::refusal::{Outcome, Refusal};

const NETWORK: &str = "/proc/self/ns/net";

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

    /// As `struct device` of linux/bpf/marker.h has it.
    pub fn as_bytes(&self) -> Vec<u8> {
        [self.namespace.to_ne_bytes(), self.index.to_ne_bytes()].concat()
    }
}

/// Puts a marker's programs into their places, all or none: first those that watch packets leave, then the marker.
pub fn attach(object: &Object, device: &Device) -> Outcome<Vec<(String, Link)>> {
    let mut programs: Vec<_> = object.progs_mut().collect();
    programs.sort_by_key(|program| program.prog_type() == ProgramType::SchedCls);
    let mut links = Vec::new();
    for program in programs {
        let name = program.name().to_string_lossy().into_owned();
        let link = if program.prog_type() == ProgramType::SchedCls {
            let index = i32::try_from(device.index).unwrap_or(i32::MAX);
            // SAFETY: the program is loaded and outlives the call; without options the kernel appends it.
            let raw = unsafe {
                libbpf_sys::bpf_program__attach_tcx(
                    program.as_libbpf_object().as_ptr(),
                    index,
                    std::ptr::null(),
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
    let [packets, marked, dropped, left, unseen] = *numbers(object, ".data.counts")?.first_chunk()?;
    Some(json!({
        "packets": packets,
        "marked": marked,
        "dropped": dropped,
        "left": left,
        "unseen": unseen,
    }))
}
