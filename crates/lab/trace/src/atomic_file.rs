//! Files that are there completely or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file under a temporary name beside its place, which it takes on [`Self::commit`]. Dropped before that (on an error,
/// a panic, an interrupt that unwinds) it is removed.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
    committed: bool,
}

impl AtomicFile {
    /// Creates the temporary file. The folder must exist; an existing target stays as it is until the commit replaces it.
    pub fn create(target: &Path) -> io::Result<Self> {
        if target.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
        }
        let name = target
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.partial", std::process::id()));
        let temporary = target.with_file_name(hidden);
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&temporary)?;
        Ok(Self { file, temporary, target: target.to_owned(), committed: false })
    }
    /// Gives the file its name.
    pub fn commit(mut self) -> io::Result<()> {
        // Some file systems report a full disk only here.
        self.file.sync_all()?;
        fs::rename(&self.temporary, &self.target)?;
        self.committed = true;
        Ok(())
    }
    /// Where it will be.
    pub fn target(&self) -> &Path {
        &self.target
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            // The error that brought us here is the one to report.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
