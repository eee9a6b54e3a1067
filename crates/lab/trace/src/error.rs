//! What can go wrong when results are written.

use std::io;
use std::path::{Path, PathBuf};

/// A file could not be written. Nothing is left of it.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {reason}", path.display())]
pub struct WriteError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub reason: WriteFailure,
}

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteFailure {
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The encoder of Parquet files failed, for most of the reasons because the operating system refused.
    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
}

impl WriteError {
    pub(crate) fn new(path: &Path, reason: impl Into<WriteFailure>) -> Self {
        Self { path: path.to_owned(), reason: reason.into() }
    }
}
