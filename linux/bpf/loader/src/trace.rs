//! Calls of a congestion control, or packets at a marker, as a table: a column for each field of
//! `struct dctcp_call_record` (linux/bpf/trace.h) or `struct marker_record` (linux/bpf/marker_trace.h).

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Int, MemberAttr, Struct};

use crate::refusal::{Outcome, Refusal};

const RECORDS: [&str; 2] = ["dctcp_call_record", "marker_record"];

/// A table that is being written.
pub struct Table {
    out: BufWriter<File>,
    /// Place and size of each column in a record, in bytes.
    columns: Vec<(usize, usize)>,
    /// The first error of writing; later records are dropped.
    pub failed: Option<io::Error>,
    pub rows: u64,
}

impl Table {
    /// Creates the file and writes the names of its columns.
    pub fn create(path: &Path, program: &Btf<'_>) -> Outcome<Self> {
        let cannot =
            |error: io::Error| Refusal::new(format!("{}: {error}", path.display()), "name another file");
        let record = RECORDS
            .iter()
            .find_map(|name| program.type_by_name::<Struct<'_>>(name))
            .ok_or_else(|| Refusal::new("this program does not trace", "build it again: shoal bpf build"))?;
        let mut names = Vec::new();
        let mut columns = Vec::new();
        for member in record.iter() {
            let name = member.name.and_then(|name| name.to_str()).unwrap_or_default();
            let bits = program
                .type_by_id::<libbpf_rs::btf::BtfType<'_>>(member.ty)
                .and_then(|kind| Int::try_from(kind.skip_mods_and_typedefs()).ok())
                .map_or(0, |int| usize::from(int.bits));
            if let (MemberAttr::Normal { offset }, true) = (member.attr, name != "padding") {
                names.push(name.to_owned());
                columns.push((offset as usize / 8, bits / 8));
            }
        }
        let mut out = BufWriter::new(File::create_new(path).map_err(cannot)?);
        writeln!(out, "{}", names.join("\t")).map_err(cannot)?;
        Ok(Self { out, columns, failed: None, rows: 0 })
    }

    /// Writes a record.
    pub fn push(&mut self, record: &[u8]) {
        let texts: Vec<String> = self
            .columns
            .iter()
            .map(|(at, size)| {
                record[*at..at + size].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
            })
            .map(|value: u64| value.to_string())
            .collect();
        match (&self.failed, writeln!(self.out, "{}", texts.join("\t"))) {
            (None, Err(error)) => self.failed = Some(error),
            _ => self.rows += 1,
        }
    }

    /// Writes what is kept back, and returns the number of rows.
    pub fn finish(mut self) -> Outcome<u64> {
        let end = self.out.flush();
        match self.failed.or(end.err()) {
            None => Ok(self.rows),
            Some(error) => {
                Err(Refusal::new(format!("the trace is not complete: {error}"), "make room and trace again"))
            }
        }
    }
}
