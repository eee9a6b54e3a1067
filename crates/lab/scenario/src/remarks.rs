//! What is said about the keys of a scenario while they are resolved.

use crate::report::Report;
use crate::tree::Node;

/// Errors and warnings about keys, and which keys were written.
pub(crate) struct Remarks<'a> {
    pub tree: &'a Node,
    pub report: &'a mut Report,
}

impl Remarks<'_> {
    /// The key at `path` is wrong.
    pub fn error(&mut self, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.report.error(&self.tree.mark_of(path), message, hint);
    }

    /// The key at `path` is doubtful.
    pub fn warning(&mut self, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.report.warning(&self.tree.mark_of(path), message, hint);
    }

    /// Whether the key at `path` is in the file, rather than filled in.
    pub fn is_written(&self, path: &str) -> bool {
        self.tree.find(path).is_some()
    }
}
