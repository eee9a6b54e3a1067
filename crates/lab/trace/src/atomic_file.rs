//! Files that exist either completely or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file under a temporary name beside its target, which it replaces on [`Self::commit`]. If it is dropped
/// before that (after an error, a panic, or an interrupt that unwinds), it is removed. Devices and pipes are
/// written directly.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    target: PathBuf,
    /// Path of the temporary file; `None` after the commit, and if the target is not a regular file.
    temporary: Option<PathBuf>,
}

impl AtomicFile {
    /// Creates the temporary file. Its folder must exist; an existing target is left alone until the commit
    /// replaces it.
    ///
    /// # Errors
    /// If the folder does not exist, or the file cannot be made in it.
    pub fn create(target: &Path) -> io::Result<Self> {
        let target = match fs::metadata(target) {
            Ok(found) if found.is_dir() => {
                return Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory"));
            }
            // Renaming would replace the device by a regular file.
            Ok(found) if !found.is_file() => {
                let file = File::options().write(true).open(target)?;
                return Ok(Self { file, target: target.to_owned(), temporary: None });
            }
            // Renaming would replace a symbolic link instead of the file to which it points.
            Ok(_) => fs::canonicalize(target)?,
            Err(_) => target.to_owned(),
        };
        let temporary = temporary_name(&target)?;
        Ok(Self { file: File::create(&temporary)?, target, temporary: Some(temporary) })
    }
    /// Renames the file to its target.
    ///
    /// # Errors
    /// If the file cannot be written to the end or renamed; nothing is left of it then.
    pub fn commit(mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            // Some file systems report a full disk only here.
            self.file.sync_all()?;
            fs::rename(temporary, &self.target)?;
            self.temporary = None;
        }
        Ok(())
    }
    /// Path of the finished file.
    pub fn target(&self) -> &Path {
        &self.target
    }
}

fn temporary_name(target: &Path) -> io::Result<PathBuf> {
    let name =
        target.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "it names no file"))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    // If two processes write to the same target, the last one to finish wins, with a complete file.
    hidden.push(format!(".{}.partial", std::process::id()));
    Ok(target.with_file_name(hidden))
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
        if let Some(temporary) = &self.temporary {
            // The error that led here is the one to report.
            let _ = fs::remove_file(temporary);
        }
    }
}
