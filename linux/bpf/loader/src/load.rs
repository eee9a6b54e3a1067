//! Loads a program, puts it into its place (congestion controls, or the egress of a device), and keeps it there until
//! it is told to end.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use libbpf_rs::btf::Btf;
use libbpf_rs::{
    AsRawLibbpf, Link, MapCore, MapType, Object, ObjectBuilder, OpenObject, PrintLevel, RingBufferBuilder,
    set_print,
};
use nix::sys::signal::{SigSet, Signal};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::device::Device;
use crate::refusal::{Outcome, Refusal};
use crate::trace::Table;
use crate::{device, kernel, parameters, pins, say};

/// Room for what the verifier says of one program.
const LOG_BYTES: usize = 1 << 20;
/// Level 1 of the verifier's log with its statistics.
const LOG_LEVEL: u32 = 1 | 4;
/// How long a full half of the trace's buffer may wait.
const TICK: Duration = Duration::from_millis(50);

/// What the loader and the verifier say, for the case of an error.
static SAID: Mutex<String> = Mutex::new(String::new());

/// A request to load.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The compiled program; its name is that of the file up to the first dot.
    object: PathBuf,
    #[serde(default)]
    parameters: BTreeMap<String, u32>,
    /// The network interface whose egress a marker is for.
    device: Option<String>,
    #[serde(default)]
    pin: bool,
    /// A new file for the calls as a table.
    trace: Option<PathBuf>,
    /// A file for the log of the verifier.
    verifier_log: Option<PathBuf>,
}

impl Load {
    /// Loads, and returns when the programs are pinned, or gone again.
    pub fn carry_out(&self) -> Outcome<Value> {
        kernel::may_load()?;
        let types = kernel::described()?;
        let device = self.device.as_deref().map(Device::find).transpose()?;
        match device {
            Some(_) => kernel::takes_markers(&types)?,
            None => kernel::takes_controls(&types)?,
        }
        let place = pins::place(&self.program(), self.device.as_deref());
        if self.pin {
            pins::may_pin(&place)?;
        }
        let revision = device.as_ref().map_or(Ok(0), Device::without_marker)?;
        // Signals wait until the programs are gone: nothing is left behind.
        let ends = SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP]);
        ends.thread_block()
            .map_err(|error| Refusal::new(format!("signals cannot be blocked: {error}"), ""))?;
        set_print(Some((PrintLevel::Warn, |_, text| {
            SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push_str(&text);
        })));
        let bytes = fs::read(&self.object).map_err(|error| self.unreadable(&error.to_string()))?;
        let name = self.program();
        let own =
            Btf::from_raw(&name, &bytes).ok().flatten().ok_or_else(|| self.unreadable("no BPF program"))?;
        let mut opened = ObjectBuilder::default()
            .open_memory(&bytes)
            .map_err(|error| self.unreadable(&error.to_string()))?;
        let parameters = parameters::set(&mut opened, &self.parameters)?;
        parameters::set_tracing(&mut opened, self.trace.is_some())?;
        if let Some(device) = &device {
            parameters::set_device(&mut opened, &device.as_bytes())?;
        }
        leave_out(&mut opened, &types, &own);
        let mut log = Log::of(&opened, self.verifier_log.is_some());
        let loaded = opened.load();
        if let Some(path) = &self.verifier_log {
            log.write(path)?;
        }
        let mut object = loaded.map_err(|error| self.refused(&error.to_string()))?;
        let mut table = self.trace.as_deref().map(|path| Table::create(path, &own)).transpose()?;
        let mut links = match &device {
            Some(device) => device::attach(&object, device, revision)?,
            None => register(&mut object)?,
        };
        let names: Vec<_> = match device {
            Some(_) => vec![self.program()],
            None => links.iter().map(|(name, _)| name.clone()).collect(),
        };
        let mut answer = json!({ "loaded": names, "device": self.device, "parameters": parameters });
        if self.pin {
            answer["pinned"] = json!(pins::pin(&place, &mut links)?);
            return Ok(answer);
        }
        // Whoever called us may go away in a hurry.
        nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)
            .map_err(|error| Refusal::new(format!("prctl: {error}"), ""))?;
        say(&answer);
        keep(&object, &ends, table.as_mut())?;
        drop(links);
        let lost = lost(&object);
        let rows = table.map(Table::finish).transpose()?;
        let counts = device.and_then(|_| device::counts(&object));
        Ok(json!({ "unloaded": names, "traced": rows, "lost": lost, "counts": counts }))
    }

    fn program(&self) -> String {
        let name = self.object.file_name().unwrap_or_default().to_string_lossy();
        name.split('.').next().unwrap_or_default().to_owned()
    }

    fn unreadable(&self, why: &str) -> Refusal {
        Refusal::new(format!("{}: {why}", self.object.display()), "build the programs again: shoal bpf build")
    }

    fn refused(&self, error: &str) -> Refusal {
        let said = SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let lines: Vec<_> = said.lines().collect();
        let end = lines[lines.len().saturating_sub(15)..].join("\n");
        Refusal::new(
            format!("the kernel refuses `{}`: {error}\n{end}", self.program()),
            "nothing is left in the kernel; --verifier-log FILE keeps all that it said",
        )
    }
}

/// Calls that the running kernel does not have become none.
fn leave_out(object: &mut OpenObject, kernel: &Btf<'_>, program: &Btf<'_>) {
    let places = kernel::places_unknown_to(kernel, program);
    for mut map in object.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        let Some(table) = map.initial_value_mut() else { continue };
        for (_, at) in &places {
            table[*at..at + size_of::<usize>()].fill(0);
        }
    }
}

/// Registers the congestion controls of a program, all or none.
fn register(object: &mut Object) -> Outcome<Vec<(String, Link)>> {
    let mut links = Vec::new();
    for mut map in object.maps_mut().filter(|map| map.map_type() == MapType::StructOps) {
        let name = map.name().to_string_lossy().into_owned();
        let link = map.attach_struct_ops().map_err(|error| match error.kind() {
            libbpf_rs::ErrorKind::AlreadyExists => Refusal::new(
                format!(
                    "this kernel has a congestion control `{name}` already, as a module or as a BPF program"
                ),
                "`shoal bpf show` lists programs; a module goes by rmmod, when no socket uses it",
            ),
            _ => Refusal::new(
                format!("the kernel does not take `{name}`: {error}"),
                "nothing is left in the kernel",
            ),
        })?;
        links.push((name, link));
    }
    links.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(links)
}

/// Waits for a signal, and writes the trace meanwhile.
fn keep(object: &Object, ends: &SigSet, table: Option<&mut Table>) -> Outcome<()> {
    let Some(table) = table else {
        return ends
            .wait()
            .map(drop)
            .map_err(|error| Refusal::new(format!("signals cannot be waited for: {error}"), ""));
    };
    let map = object.maps().find(|map| map.map_type() == MapType::RingBuf);
    let map =
        map.ok_or_else(|| Refusal::new("this program does not trace", "build it again: shoal bpf build"))?;
    let mut builder = RingBufferBuilder::new();
    let cannot = |error: libbpf_rs::Error| Refusal::new(format!("the trace cannot be read: {error}"), "");
    builder
        .add(&map, |record| {
            table.push(record);
            0
        })
        .map_err(cannot)?;
    let ring = builder.build().map_err(cannot)?;
    while !is_pending(ends) {
        // A signal interrupts it, and ends the loop.
        let _ = ring.poll(TICK);
    }
    let _ = ring.consume();
    Ok(())
}

fn is_pending(signals: &SigSet) -> bool {
    let mut pending = SigSet::empty();
    // SAFETY: the set is ours, and the call writes nothing else.
    let known = unsafe { nix::libc::sigpending(std::ptr::from_mut(&mut pending).cast()) } == 0;
    known && signals.iter().any(|signal| pending.contains(signal))
}

/// Calls that the trace had no room for.
fn lost(object: &Object) -> u64 {
    numbers(object, ".data.lost").and_then(|all| all.first().copied()).unwrap_or(0)
}

/// The numbers in a section of variables, as they are in the kernel now.
pub fn numbers(object: &Object, section: &str) -> Option<Vec<u64>> {
    let map = object.maps().find(|map| map.name().to_string_lossy().ends_with(section))?;
    let bytes = map.lookup(&0u32.to_le_bytes(), libbpf_rs::MapFlags::ANY).ok().flatten()?;
    Some(bytes.chunks_exact(8).filter_map(|part| Some(u64::from_le_bytes(part.try_into().ok()?))).collect())
}

/// What the verifier says of each program, in memory that outlives the loading.
struct Log {
    parts: Vec<(String, Vec<u8>)>,
}

impl Log {
    fn of(object: &OpenObject, wanted: bool) -> Self {
        let mut parts = Vec::new();
        for program in object.progs().filter(|_| wanted) {
            let mut room = vec![0u8; LOG_BYTES];
            let raw = program.as_libbpf_object().as_ptr();
            // SAFETY: the room lies on the heap and is kept until the log has been written, after loading.
            unsafe {
                libbpf_rs::libbpf_sys::bpf_program__set_log_level(raw, LOG_LEVEL);
                libbpf_rs::libbpf_sys::bpf_program__set_log_buf(
                    raw,
                    room.as_mut_ptr().cast::<c_char>(),
                    room.len() as u64,
                );
            }
            parts.push((program.name().to_string_lossy().into_owned(), room));
        }
        Self { parts }
    }

    fn write(&mut self, path: &std::path::Path) -> Outcome<()> {
        let mut text = String::new();
        for (name, room) in &self.parts {
            let end = room.iter().position(|byte| *byte == 0).unwrap_or(room.len());
            text.push_str(&format!("== {name}\n{}", String::from_utf8_lossy(&room[..end])));
        }
        fs::write(path, text)
            .map_err(|error| Refusal::new(format!("{}: {error}", path.display()), "name another file"))
    }
}
