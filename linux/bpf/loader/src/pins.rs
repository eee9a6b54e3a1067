//! Programs that stay without a process: their links have names in the kernel's file system for BPF.

use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter, ProgInfoIter};
use libbpf_rs::{Link, MapType, ProgramAttachType};
use nix::sys::statfs::{FsType, statfs};
use serde_json::{Value, json};

use crate::refusal::{Outcome, Refusal};
use crate::{kernel, parameters};

const ROOT: &str = "/sys/fs/bpf";
/// How the names of markers begin.
const MARKER: &str = "mark_";
/// The number of that file system, as in `linux/magic.h`.
const BPF_FS: FsType = FsType(0xcafe_4a11);

/// Whether a program of this name is a marker.
pub fn is_marker(name: &str) -> bool {
    name.starts_with(MARKER)
}

/// Under which name a program is pinned. That file system allows no dot, and no device has a colon in its name.
pub fn place(program: &str, device: Option<&str>) -> String {
    device.map_or_else(|| program.to_owned(), |device| format!("{program}@{}", device.replace('.', ":")))
}

/// Folder with the links of a program.
fn folder(program: &str) -> PathBuf {
    Path::new(ROOT).join("shoal").join(program)
}

/// Refuses to pin a program whose name is taken, or without a file system to pin it in.
pub fn may_pin(program: &str) -> Outcome<()> {
    if !statfs(ROOT).is_ok_and(|of| of.filesystem_type() == BPF_FS) {
        return Err(Refusal::new(
            format!("{ROOT} is not the file system for BPF"),
            format!("mount it: mount -t bpf bpf {ROOT}"),
        ));
    }
    if folder(program).exists() {
        return Err(Refusal::new(
            format!("`{program}` is pinned already, at {}", folder(program).display()),
            "unload it first, by shoal bpf unload",
        ));
    }
    Ok(())
}

/// Pins the links of a program, all or none.
pub fn pin(program: &str, links: &mut [(String, Link)]) -> Outcome<PathBuf> {
    let folder = folder(program);
    let pinned = fs::create_dir_all(&folder).map_err(|error| error.to_string()).and_then(|()| {
        links
            .iter_mut()
            .try_for_each(|(name, link)| link.pin(folder.join(&*name)).map_err(|error| error.to_string()))
    });
    pinned.map_err(|error| {
        // What is pinned is taken away again; the links end with this process.
        let _ = fs::remove_dir_all(&folder);
        Refusal::new(
            format!("cannot pin `{program}` at {}: {error}", folder.display()),
            "nothing was left there",
        )
    })?;
    Ok(folder)
}

/// Unloads a pinned program.
pub fn unload(program: &str) -> Outcome<Value> {
    let folder = folder(program);
    let entries = fs::read_dir(&folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => refused(&folder, &error.to_string()),
        _ => Refusal::new(
            format!("`{program}` is not pinned: there is no {}", folder.display()),
            "a program that is not pinned ends with the command that loaded it; `shoal bpf show` lists what is loaded",
        ),
    })?;
    let mut names = Vec::new();
    for entry in entries.flatten() {
        fs::remove_file(entry.path()).map_err(|error| refused(&entry.path(), &error.to_string()))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    fs::remove_dir(&folder).map_err(|error| refused(&folder, &error.to_string()))?;
    // Stays if other programs are pinned.
    let _ = fs::remove_dir(Path::new(ROOT).join("shoal"));
    names.sort();
    Ok(json!({ "unloaded": names }))
}

fn refused(at: &Path, why: &str) -> Refusal {
    Refusal::new(
        format!("cannot remove {}: {why}", at.display()),
        "run it as root, as in: sudo shoal bpf unload ...",
    )
}

/// All congestion controls that are BPF programs, ours and others, and our markers.
pub fn show() -> Outcome<Value> {
    kernel::may_list()?;
    let mut links: Vec<(u32, u32)> = LinkInfoIter::default()
        .filter_map(|link| match link.info {
            LinkTypeInfo::StructOps(of) => Some((of.map_id, link.id)),
            _ => None,
        })
        .collect();
    links.sort_unstable();
    let pins = pinned();
    let pin_of =
        |link: u32| pins.iter().find(|(id, _)| *id == link).map(|(_, path)| path.display().to_string());
    let loaded: Vec<Value> = MapInfoIter::default()
        .filter(|map| map.ty == MapType::StructOps)
        .filter_map(|map| {
            // A table without a link is not registered, or by somebody's older loader.
            let (_, link) = links.iter().find(|(of, _)| *of == map.id)?;
            let name = map.name.to_string_lossy();
            Some(json!({
                "name": name,
                "map": map.id,
                "link": link,
                "pinned": pin_of(*link),
                "parameters": parameters::loaded(map.btf_id),
            }))
        })
        .collect();
    Ok(json!({ "loaded": loaded, "markers": markers(pin_of) }))
}

/// Our programs on the egress of devices.
fn markers(pin_of: impl Fn(u32) -> Option<String>) -> Vec<Value> {
    let programs: Vec<_> =
        ProgInfoIter::default().filter(|program| is_marker(&program.name.to_string_lossy())).collect();
    LinkInfoIter::default()
        .filter_map(|link| {
            let LinkTypeInfo::Tcx(of) = link.info else { return None };
            let program = programs.iter().find(|program| program.id == link.prog_id)?;
            matches!(of.attach_type, ProgramAttachType::TcxEgress).then(|| {
                json!({
                    "name": program.name.to_string_lossy(),
                    "interface": of.ifindex,
                    "link": link.id,
                    "pinned": pin_of(link.id),
                    "parameters": parameters::loaded(program.btf_id),
                })
            })
        })
        .collect()
}

/// Numbers of the links that are pinned below our folder, with their places.
fn pinned() -> Vec<(u32, PathBuf)> {
    let entries =
        |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries(&Path::new(ROOT).join("shoal"))
        .flat_map(|program| entries(&program).collect::<Vec<_>>())
        .filter_map(|path| {
            let link = Link::open(&path).ok()?;
            let info = libbpf_rs::query::LinkInfo::from_fd(link.as_fd()).ok()?;
            Some((info.id, path))
        })
        .collect()
}
