//! What is said about the keys of a scenario while they are resolved.

use std::cell::RefCell;

use crate::files::Laws;
use crate::report::{Effect, Report};
use crate::tree::Node;

/// Errors and warnings about keys, and which keys were written.
#[derive(Clone, Copy)]
pub(crate) struct Remarks<'a> {
    pub tree: &'a Node,
    pub report: &'a RefCell<Report>,
    /// Laws that were given with the scenario.
    pub laws: &'a Laws,
}

impl Remarks<'_> {
    /// The key at `path` is wrong.
    pub(crate) fn error(&self, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.report.borrow_mut().error(&self.tree.mark_of(path), message, hint);
    }

    /// The key at `path` is doubtful.
    pub(crate) fn warning(&self, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.report.borrow_mut().warning(&self.tree.mark_of(path), message, hint);
    }

    /// Whether the key at `path` is in the file, rather than filled in.
    pub(crate) fn is_written(&self, path: &str) -> bool {
        self.tree.find(path).is_some()
    }
}

/// A table of the scenario; its keys are named without the path of the table.
pub(crate) struct Table<'a> {
    pub path: String,
    pub remarks: Remarks<'a>,
}

impl Table<'_> {
    /// The table `name` inside this one.
    pub(crate) fn table(&self, name: &str) -> Self {
        Self { path: self.at(name), ..*self }
    }

    /// Path of a key.
    pub(crate) fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// The table as a whole is wrong.
    pub(crate) fn refuse(&self, message: impl Into<String>, hint: impl Into<String>) {
        self.remarks.error(&self.path, message, hint);
    }

    /// The key is wrong.
    pub(crate) fn error(&self, key: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.remarks.error(&self.at(key), message, hint);
    }

    /// The key is doubtful.
    pub(crate) fn warning(&self, key: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.remarks.warning(&self.at(key), message, hint);
    }

    /// The key of a law has an effect that its author may not expect, and that results repeat.
    pub(crate) fn effect(&self, key: &str, kind: &'static str, text: String, hint: String) {
        self.remarks.report.borrow_mut().effect(Effect { kind, path: self.at(key), text, hint });
    }
}
