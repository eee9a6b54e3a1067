//! Parquet files read back by the crate's own reader, and all cases in which writing can fail.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row as Record};
use shoal_packet::{CaState, Ecn};
use shoal_trace::parquet_out::{PacketTraceWriter, encode, write_table};
use shoal_trace::pcapng::{Capture, PcapWriter};
use shoal_trace::{FlowRow, GroupIndex, LinkIndex, Names, PacketEvent, PacketRow, Series, TABLES, Table};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

fn names() -> Names {
    Names { links: vec!["uplink".into(), "downlink".into()], groups: vec!["reno".into(), "dctcp".into()] }
}

fn flow_row(n: u32) -> FlowRow {
    FlowRow {
        time_s: f64::from(n) * 0.1,
        flow: u32::MAX - n,
        group: GroupIndex(n % 2),
        goodput_bps: 1e6,
        wire_bps: 1.1e6,
        cwnd_packets: n,
        ssthresh_packets: (n >= 3).then_some(7.0),
        alpha: (n % 2 == 1).then_some(0.5),
        srtt_s: None,
        state: if n == 2 { CaState::Recovery } else { CaState::Open },
    }
}

fn flow_table(rows: u32) -> Table {
    let mut series = Series::new(&names());
    (0..rows).for_each(|n| series.push(flow_row(n)));
    series.into_table()
}

#[test]
fn files_say_what_they_leave_out() {
    let folder = Folder::new("coverage");
    let path = folder.0.join("flows.parquet");
    let said = |table: &Table| {
        write_table(&path, table).unwrap();
        let (reader, _) = rows(&path);
        let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
        metadata.iter().find(|entry| entry.key == "coverage").and_then(|entry| entry.value.clone())
    };
    assert_eq!(said(&flow_table(2)), None);
    let mut series = Series::new(&names());
    series.push(flow_row(1));
    let table = series.into_table_covering("Flow 1 only.".to_owned());
    assert_eq!(table.coverage(), Some("Flow 1 only."));
    assert_eq!(said(&table).as_deref(), Some("Flow 1 only."));
}

fn packet_row(n: u64) -> PacketRow {
    PacketRow {
        time_ps: 10_u64.pow(15) * 18 + n * 1_200_000,
        link: LinkIndex((n % 2) as u32),
        flow: 7,
        event: if n.is_multiple_of(10) { PacketEvent::Drop } else { PacketEvent::Depart },
        size: 1500,
        ecn: if n.is_multiple_of(3) { Ecn::Ce } else { Ecn::Ect0 },
        seq: u32::MAX - n as u32,
        backlog_bytes: n * 1500,
        sojourn_ps: 17,
    }
}

/// A new folder that is removed at the end.
struct Folder(PathBuf);
impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("shoal-trace-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn files(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

fn rows(path: &Path) -> (SerializedFileReader<File>, Vec<Record>) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    (reader, rows)
}

fn field<'a>(row: &'a Record, name: &str) -> &'a Field {
    row.get_column_iter().find(|(column, _)| *column == name).unwrap().1
}

#[test]
fn flows_come_back_with_types_nulls_and_units() {
    let folder = Folder::new("round-trip");
    let path = folder.0.join("flows.parquet");
    write_table(&path, &flow_table(5)).unwrap();
    let (reader, rows) = rows(&path);
    assert_eq!(rows.len(), 5);
    for (n, row) in (0..).zip(&rows) {
        let expected = flow_row(n);
        let optional = |value: Option<f64>| value.map_or(Field::Null, Field::Double);
        assert_eq!(field(row, "time_s"), &Field::Double(expected.time_s));
        assert_eq!(field(row, "flow"), &Field::UInt(expected.flow));
        assert_eq!(field(row, "group"), &Field::Str(names().groups[expected.group.0 as usize].clone()));
        assert_eq!(field(row, "ssthresh_packets"), &optional(expected.ssthresh_packets));
        assert_eq!(field(row, "alpha"), &optional(expected.alpha));
        assert_eq!(field(row, "srtt_s"), &Field::Null);
        assert_eq!(field(row, "state"), &Field::Str(expected.state.as_str().into()));
    }
    let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let value = |key: &str| metadata.iter().find(|entry| entry.key == key).unwrap().value.clone().unwrap();
    assert_eq!((value("table"), value("unit.goodput_bps")), ("flows".into(), "bit/s".into()));
    assert_eq!(value("doc.alpha"), "DCTCP's estimate of the marked fraction at the end of the bin.");
    assert_eq!(folder.files(), ["flows.parquet"]);
}

#[test]
fn table_without_rows_is_a_valid_file() {
    let folder = Folder::new("empty");
    let path = folder.0.join("flows.parquet");
    write_table(&path, &flow_table(0)).unwrap();
    assert_eq!(rows(&path).1.len(), 0);
}

#[test]
fn packet_trace_spans_row_groups() {
    let folder = Folder::new("packets");
    let path = folder.0.join("packets.parquet");
    let count = 300_001;
    let mut writer = PacketTraceWriter::create(&path, &names()).unwrap();
    (0..count).for_each(|n| writer.push(packet_row(n)).unwrap());
    writer.finish().unwrap();
    let (reader, rows) = rows(&path);
    assert_eq!(reader.num_row_groups(), 3);
    assert_eq!(rows.len() as u64, count);
    for (n, row) in (0..).zip(&rows).step_by(997) {
        assert_eq!(field(row, "time_ps"), &Field::ULong(packet_row(n).time_ps));
        assert_eq!(field(row, "seq"), &Field::UInt(u32::MAX - n as u32));
        assert_eq!(field(row, "backlog_bytes"), &Field::ULong(n * 1500));
        assert_eq!(field(row, "link"), &Field::Str(names().links[(n % 2) as usize].clone()));
        assert_eq!(field(row, "event"), &Field::Str(packet_row(n).event.as_str().into()));
        assert_eq!(field(row, "ecn"), &Field::Str(if n.is_multiple_of(3) { "ce" } else { "ect0" }.into()));
    }
}

#[test]
fn equal_tables_are_equal_bytes() {
    let bytes = || encode(Vec::new(), &flow_table(1000)).unwrap();
    assert_eq!(bytes(), bytes());
}

#[test]
fn missing_folder_is_named() {
    let folder = Folder::new("missing");
    let path = folder.0.join("no-such-folder/flows.parquet");
    let error = write_table(&path, &flow_table(3)).unwrap_err();
    assert!(
        error.to_string().starts_with(&format!("cannot write `{}`: No such file", path.display())),
        "{error}"
    );
    assert!(PacketTraceWriter::create(&path, &names()).is_err());
    assert!(PcapWriter::create(&path, &[], Capture::Whole).is_err());
    assert_eq!(folder.files(), [""; 0]);
}

#[test]
fn folder_in_the_way_is_named() {
    let folder = Folder::new("folder");
    let path = folder.0.join("flows.parquet");
    std::fs::create_dir(&path).unwrap();
    let error = write_table(&path, &flow_table(3)).unwrap_err();
    assert!(error.to_string().ends_with("it is a directory"), "{error}");
    assert_eq!(folder.files(), ["flows.parquet"]);
}

/// A sink that behaves like a full disk: it accepts some bytes and then refuses.
struct Full {
    room: usize,
}
impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.room);
        self.room -= taken;
        if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn full_disk_is_an_error_wherever_it_strikes() {
    let table = flow_table(2000);
    let needed = encode(Vec::new(), &table).unwrap().len();
    for room in (0..needed).step_by(97).chain([needed - 1]) {
        assert!(encode(Full { room }, &table).is_err(), "{room} of {needed} bytes were enough");
    }
    assert!(encode(Full { room: needed }, &table).is_ok());
}

#[cfg(target_os = "linux")]
#[test]
fn full_device_is_an_error_and_stays_a_device() {
    use std::os::unix::fs::FileTypeExt;
    let full = Path::new("/dev/full");
    let error = write_table(full, &flow_table(3)).unwrap_err();
    assert!(error.to_string().starts_with("cannot write `/dev/full`: No space left"), "{error}");
    let mut writer = PacketTraceWriter::create(full, &names()).unwrap();
    writer.push(packet_row(0)).unwrap();
    assert!(writer.finish().unwrap_err().to_string().contains("No space left"));
    let capture = PcapWriter::create(full, &[], Capture::Whole).unwrap();
    assert!(capture.commit().unwrap_err().to_string().contains("No space left"));
    assert!(std::fs::metadata(full).unwrap().file_type().is_char_device());
}

#[test]
fn unfinished_files_vanish_and_old_ones_stay() {
    let folder = Folder::new("unfinished");
    let path = folder.0.join("packets.parquet");
    std::fs::write(&path, "old").unwrap();
    let mut writer = PacketTraceWriter::create(&path, &names()).unwrap();
    writer.push(packet_row(0)).unwrap();
    drop(writer);
    drop(PcapWriter::create(&path, &[], Capture::Whole).unwrap());
    assert_eq!(folder.files(), ["packets.parquet"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
}

#[cfg(unix)]
#[test]
fn links_keep_pointing_to_the_file() {
    let folder = Folder::new("link");
    let (real, link) = (folder.0.join("real.parquet"), folder.0.join("link.parquet"));
    std::fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_table(&link, &flow_table(3)).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(rows(&real).1.len(), 3);
}

#[test]
fn every_column_is_documented() {
    let page = shoal_trace::schema_markdown();
    for table in TABLES {
        assert!(page.contains(&format!("## `{}`", table.name)));
        for column in table.columns {
            assert!(column.doc.ends_with('.'), "{}.{}", table.name, column.name);
            assert!(page.contains(&format!("| `{}` |", column.name)));
            // A unit in the name and the declared unit never contradict each other.
            for (suffix, unit) in
                [("_s", "s"), ("_ps", "ps"), ("_bps", "bit/s"), ("_bytes", "B"), ("_packets", "packets")]
            {
                assert!(
                    !column.name.ends_with(suffix) || column.unit == unit,
                    "{}.{}",
                    table.name,
                    column.name
                );
            }
        }
    }
}
