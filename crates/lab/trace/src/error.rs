//! What can go wrong when results are written.

use parquet::errors::ParquetError;
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
    /// The encoder of Parquet files failed by itself.
    #[error(transparent)]
    Parquet(ParquetError),
}

impl From<ParquetError> for WriteFailure {
    fn from(error: ParquetError) -> Self {
        match error {
            // The encoder wraps what the file said; a full disk should read like one.
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(refusal) => Self::Io(*refusal),
                Err(inner) => Self::Parquet(ParquetError::External(inner)),
            },
            other => Self::Parquet(other),
        }
    }
}

impl WriteError {
    /// The failure of writing `path`.
    pub fn new(path: &Path, reason: impl Into<WriteFailure>) -> Self {
        Self { path: path.to_owned(), reason: reason.into() }
    }
}
