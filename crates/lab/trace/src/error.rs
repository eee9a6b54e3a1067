//! Errors in writing results.

use parquet::errors::ParquetError;
use std::io;
use std::path::{Path, PathBuf};

/// A file could not be written; no part of it is left.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{}`: {reason}", path.display())]
pub struct WriteError {
    /// Path of the file.
    pub path: PathBuf,
    /// Why it could not be written.
    #[source]
    pub reason: WriteFailure,
}

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteFailure {
    /// The operating system reported an error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The encoder of Parquet files failed.
    #[error(transparent)]
    Parquet(ParquetError),
}

impl From<ParquetError> for WriteFailure {
    fn from(error: ParquetError) -> Self {
        match error {
            // The encoder wraps errors of the file; a full disk is reported as such.
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
