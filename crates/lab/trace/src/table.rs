//! Typed columns. A table is declared once as a [`Row`] (see `schema.rs`); its files, its representation in
//! Python and its documentation come from that declaration.

use crate::{DeliveryKind, FlowEnd, FlowEvent, PacketEvent, PathState, QueueClass, SegmentEvent};
use shoal_packet::{CaState, Class, Ecn};
use std::marker::PhantomData;

/// Type of a column; for text, with the list of its words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnKind {
    /// 64-bit floating point; NaN means that there is no value (null in files).
    F64,
    /// 32-bit unsigned integer.
    U32,
    /// 64-bit unsigned integer.
    U64,
    /// Name of a link.
    LinkName,
    /// Name of a flow group.
    GroupName,
    /// One of the given words.
    Word(&'static [&'static str]),
}

impl ColumnKind {
    /// The type as documentation names it.
    pub fn describe(self) -> String {
        match self {
            Self::F64 => "f64".to_owned(),
            Self::U32 => "u32".to_owned(),
            Self::U64 => "u64".to_owned(),
            Self::LinkName | Self::GroupName => "text".to_owned(),
            Self::Word(words) => format!("text: {}", words.join(", ")),
        }
    }
}

/// Declaration of a column.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSpec {
    /// Name in files and in Python.
    pub name: &'static str,
    /// Type.
    pub kind: ColumnKind,
    /// Unit; empty if there is none.
    pub unit: &'static str,
    /// Meaning of the column, in one sentence.
    pub doc: &'static str,
}

/// Declaration of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableSpec {
    /// Name in files and in Python.
    pub name: &'static str,
    /// What a row describes.
    pub doc: &'static str,
    /// Columns of the table, in order.
    pub columns: &'static [ColumnSpec],
}

/// The values of a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// Floating point; NaN means that there is no value.
    F64(Vec<f64>),
    /// 32-bit unsigned integers.
    U32(Vec<u32>),
    /// 64-bit unsigned integers.
    U64(Vec<u64>),
    /// Words; each value is a position in the list.
    Text {
        /// The words in use.
        words: Vec<String>,
        /// Position in `words` of each row.
        codes: Vec<u32>,
    },
}

/// Number of a monitored link: its position in [`Names::links`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkIndex(pub u32);
/// Number of a flow group: its position in [`Names::groups`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupIndex(pub u32);

/// The names that rows refer to by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
    /// Names of the monitored links.
    pub links: Vec<String>,
    /// Names of the flow groups.
    pub groups: Vec<String>,
}

/// A value that fits a column.
pub trait Cell {
    /// Kind of column for the value.
    const KIND: ColumnKind;
    /// Appends the value.
    ///
    /// # Panics
    /// If the column is of another kind.
    fn append(self, column: &mut Column);
}

/// A row of a declared table.
pub trait Row {
    /// Declaration of the table.
    const SPEC: TableSpec;
    /// Appends one value to each column.
    ///
    /// # Panics
    /// If the columns are not those of the declaration.
    fn append(self, columns: &mut [Column]);
}

/// Columns of equal length, with their declaration.
#[derive(Clone, Debug)]
pub struct Table {
    spec: TableSpec,
    columns: Vec<Column>,
    coverage: Option<String>,
}

/// A table that grows by rows of one type.
#[derive(Clone, Debug)]
pub struct Series<R> {
    table: Table,
    row: PhantomData<R>,
}

impl<R: Row> Series<R> {
    /// An empty table.
    pub fn new(names: &Names) -> Self {
        let columns = R::SPEC.columns.iter().map(|column| Column::new(column.kind, names)).collect();
        Self { table: Table { spec: R::SPEC, columns, coverage: None }, row: PhantomData }
    }
    /// Appends a row.
    #[inline]
    pub fn push(&mut self, row: R) {
        row.append(&mut self.table.columns);
    }
    /// Removes all rows and keeps the allocated memory.
    pub fn clear(&mut self) {
        self.table.columns.iter_mut().for_each(Column::clear);
    }
    /// The table with the rows so far.
    pub const fn table(&self) -> &Table {
        &self.table
    }
    /// The finished table.
    pub fn into_table(self) -> Table {
        self.table
    }
    /// The finished table with one sentence on what it holds and leaves out.
    pub fn into_table_covering(self, coverage: String) -> Table {
        Table { coverage: Some(coverage), ..self.table }
    }
}

impl Table {
    /// Declaration of the table.
    pub const fn spec(&self) -> &TableSpec {
        &self.spec
    }
    /// What the table holds and leaves out; `None` if it holds everything that its declaration describes.
    pub fn coverage(&self) -> Option<&str> {
        self.coverage.as_deref()
    }
    /// Columns of the table, in the order of the declaration.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }
    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.spec.columns.iter().position(|column| column.name == name).map(|index| &self.columns[index])
    }
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Column {
    fn new(kind: ColumnKind, names: &Names) -> Self {
        let text = |words| Self::Text { words, codes: Vec::new() };
        match kind {
            ColumnKind::F64 => Self::F64(Vec::new()),
            ColumnKind::U32 => Self::U32(Vec::new()),
            ColumnKind::U64 => Self::U64(Vec::new()),
            ColumnKind::LinkName => text(names.links.clone()),
            ColumnKind::GroupName => text(names.groups.clone()),
            ColumnKind::Word(words) => text(words.iter().map(|&word| word.to_owned()).collect()),
        }
    }
    fn clear(&mut self) {
        match self {
            Self::F64(values) => values.clear(),
            Self::U32(values) | Self::Text { codes: values, .. } => values.clear(),
            Self::U64(values) => values.clear(),
        }
    }
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::U32(values) | Self::Text { codes: values, .. } => values.len(),
            Self::U64(values) => values.len(),
        }
    }
    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

macro_rules! cell {
    ($type:ty, $kind:expr, $column:pat => $values:ident, $value:ident => $convert:expr) => {
        impl Cell for $type {
            const KIND: ColumnKind = $kind;
            #[inline]
            fn append(self, column: &mut Column) {
                let $value = self;
                match column {
                    $column => $values.push($convert),
                    _ => unreachable!("a {} for a column of another type", stringify!($type)),
                }
            }
        }
    };
}

cell!(f64, ColumnKind::F64, Column::F64(values) => values, value => value);
cell!(Option<f64>, ColumnKind::F64, Column::F64(values) => values, value => value.unwrap_or(f64::NAN));
cell!(u32, ColumnKind::U32, Column::U32(values) => values, value => value);
cell!(u64, ColumnKind::U64, Column::U64(values) => values, value => value);
cell!(LinkIndex, ColumnKind::LinkName, Column::Text { codes, .. } => codes, value => value.0);
cell!(GroupIndex, ColumnKind::GroupName, Column::Text { codes, .. } => codes, value => value.0);
cell!(FlowEnd, ColumnKind::Word(FlowEnd::NAMES), Column::Text { codes, .. } => codes, value => value as u32);
cell!(SegmentEvent, ColumnKind::Word(SegmentEvent::NAMES), Column::Text { codes, .. } => codes, value => value as u32);
cell!(CaState, ColumnKind::Word(CaState::NAMES), Column::Text { codes, .. } => codes, value => value as u32);
cell!(PathState, ColumnKind::Word(PathState::NAMES), Column::Text { codes, .. } => codes, value => value as u32);
cell!(DeliveryKind, ColumnKind::Word(DeliveryKind::NAMES), Column::Text { codes, .. } => codes, value => value as u32);
cell!(FlowEvent, ColumnKind::Word(FlowEvent::NAMES), Column::Text { codes, .. } => codes, value => value as u32);
cell!(PacketEvent, ColumnKind::Word(PacketEvent::NAMES), Column::Text { codes, .. } => codes, value => value as u32);
cell!(QueueClass, ColumnKind::Word(QueueClass::NAMES), Column::Text { codes, .. } => codes, value => value as u32);
cell!(Class, ColumnKind::Word(Class::NAMES), Column::Text { codes, .. } => codes, value => value as u32);
// The position is the codepoint on the wire ([RFC 3168, section
// 5](https://www.rfc-editor.org/rfc/rfc3168#section-5)).
cell!(
    Ecn,
    ColumnKind::Word(&["not_ect", "ect1", "ect0", "ce"]),
    Column::Text { codes, .. } => codes,
    value => u32::from(value.bits())
);
