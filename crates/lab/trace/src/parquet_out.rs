//! Tables as Parquet files. They use Snappy compression, logical types for unsigned integers and text, and
//! null for NaN. The file's metadata holds the unit and the meaning of each column under `unit.COLUMN` and
//! `doc.COLUMN`, and under `coverage` what the table leaves out. Equal tables give equal bytes.

use crate::atomic_file::AtomicFile;
use crate::{Column, ColumnKind, Names, PacketRow, Row, Series, Table, TableSpec, WriteError, WriteFailure};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type};
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Rows in a row group: large enough to compress well, small enough to buffer (7 MiB of packet rows).
const ROW_GROUP_ROWS: usize = 1 << 17;

/// Writes a table to a file and replaces an older file. After an error no new file is left and an older file
/// is unchanged.
///
/// # Errors
/// If the file cannot be written; nothing is left of it then.
pub fn write_table(path: &Path, table: &Table) -> Result<(), WriteError> {
    let write = || -> Result<(), WriteFailure> {
        let file = encode(AtomicFile::create(path)?, table)?;
        Ok(file.commit()?)
    };
    write().map_err(|reason| WriteError::new(path, reason))
}

/// Writes a table as Parquet to `sink` and returns `sink`.
///
/// # Errors
/// If `sink` refuses to be written to.
pub fn encode<W: Write + Send>(sink: W, table: &Table) -> Result<W, WriteFailure> {
    let mut file = open(sink, table.spec(), table.coverage())?;
    for start in (0..table.len()).step_by(ROW_GROUP_ROWS) {
        append_rows(&mut file, table, start..table.len().min(start + ROW_GROUP_ROWS))?;
    }
    Ok(file.into_inner()?)
}

/// Writer of the per-packet trace. It writes in row groups, so that memory stays bounded in runs of any
/// length.
pub struct PacketTraceWriter {
    rows: Series<PacketRow>,
    file: SerializedFileWriter<AtomicFile>,
    path: std::path::PathBuf,
}

impl PacketTraceWriter {
    /// Opens the file. It gets its name on [`Self::finish`], and is removed if that is not reached.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path, names: &Names) -> Result<Self, WriteError> {
        let open = || -> Result<_, WriteFailure> { open(AtomicFile::create(path)?, &PacketRow::SPEC, None) };
        let file = open().map_err(|reason| WriteError::new(path, reason))?;
        Ok(Self { rows: Series::new(names), file, path: path.to_owned() })
    }
    /// Appends a row.
    ///
    /// # Errors
    /// If the file cannot be written; nothing is left of it then.
    #[inline]
    pub fn push(&mut self, row: PacketRow) -> Result<(), WriteError> {
        self.rows.push(row);
        if self.rows.table().len() < ROW_GROUP_ROWS { Ok(()) } else { self.flush() }
    }
    /// Writes the remaining rows and gives the file its name.
    ///
    /// # Errors
    /// If the file cannot be written; nothing is left of it then.
    pub fn finish(mut self) -> Result<(), WriteError> {
        self.flush()?;
        let close = || -> Result<(), WriteFailure> { Ok(self.file.into_inner()?.commit()?) };
        close().map_err(|reason| WriteError::new(&self.path, reason))
    }

    #[cold]
    fn flush(&mut self) -> Result<(), WriteError> {
        let table = self.rows.table();
        if !table.is_empty() {
            append_rows(&mut self.file, table, 0..table.len())
                .map_err(|reason| WriteError::new(&self.path, reason))?;
        }
        self.rows.clear();
        Ok(())
    }
}

fn open<W: Write + Send>(
    sink: W,
    spec: &TableSpec,
    coverage: Option<&str>,
) -> Result<SerializedFileWriter<W>, WriteFailure> {
    let fields = spec.columns.iter().map(|column| {
        let (physical, logical) = match column.kind {
            ColumnKind::F64 => (Physical::DOUBLE, None),
            ColumnKind::U32 => (Physical::INT32, Some(LogicalType::integer(32, false))),
            ColumnKind::U64 => (Physical::INT64, Some(LogicalType::integer(64, false))),
            ColumnKind::LinkName | ColumnKind::GroupName | ColumnKind::Word(_) => {
                (Physical::BYTE_ARRAY, Some(LogicalType::String))
            }
        };
        let repetition =
            if column.kind == ColumnKind::F64 { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition);
        field.build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
    let schema = Type::group_type_builder(spec.name).with_fields(fields).build()?;
    Ok(SerializedFileWriter::new(sink, Arc::new(schema), Arc::new(properties(spec, coverage)))?)
}

fn properties(spec: &TableSpec, coverage: Option<&str>) -> WriterProperties {
    let entry = |key: String, value: &str| KeyValue::new(key, value.to_owned());
    let mut metadata = vec![entry("table".to_owned(), spec.name), entry("doc".to_owned(), spec.doc)];
    metadata.extend(coverage.map(|coverage| entry("coverage".to_owned(), coverage)));
    for column in spec.columns {
        metadata.push(entry(format!("unit.{}", column.name), column.unit));
        metadata.push(entry(format!("doc.{}", column.name), column.doc));
    }
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("shoal ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(metadata));
    for column in
        spec.columns.iter().filter(|column| matches!(column.kind, ColumnKind::U32 | ColumnKind::U64))
    {
        // Times, sequence numbers and counters grow in small steps, which delta encoding stores in few bits.
        let path = ColumnPath::from(column.name);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

fn append_rows<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    table: &Table,
    rows: Range<usize>,
) -> Result<(), WriteFailure> {
    let mut group = file.next_row_group()?;
    for column in table.columns() {
        append_column(&mut group, column, rows.clone())?;
    }
    group.close()?;
    Ok(())
}

fn append_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
    rows: Range<usize>,
) -> Result<(), ParquetError> {
    let mut writer: SerializedColumnWriter<'_> =
        group.next_column()?.ok_or_else(|| ParquetError::General("more columns than declared".to_owned()))?;
    match column {
        Column::F64(values) => {
            let present: Vec<f64> =
                values[rows.clone()].iter().copied().filter(|value| !value.is_nan()).collect();
            let levels: Vec<i16> = values[rows].iter().map(|value| i16::from(!value.is_nan())).collect();
            writer.typed::<DoubleType>().write_batch(&present, Some(&levels), None)?;
        }
        // Parquet stores an unsigned integer as the signed one with the same bits.
        Column::U32(values) => {
            let values: Vec<i32> = values[rows].iter().map(|&value| value as i32).collect();
            writer.typed::<Int32Type>().write_batch(&values, None, None)?;
        }
        Column::U64(values) => {
            let values: Vec<i64> = values[rows].iter().map(|&value| value as i64).collect();
            writer.typed::<Int64Type>().write_batch(&values, None, None)?;
        }
        Column::Text { words, codes } => {
            let words: Vec<ByteArray> = words.iter().map(|word| ByteArray::from(word.as_str())).collect();
            let values: Vec<ByteArray> =
                codes[rows].iter().map(|&code| words[code as usize].clone()).collect();
            writer.typed::<ByteArrayType>().write_batch(&values, None, None)?;
        }
    }
    writer.close()
}
