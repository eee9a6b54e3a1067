//! Collects the problems of a scenario while it is read, so that all are reported at once.

use crate::diagnostic::{Diagnostic, Mark, Severity, Source};

/// The sources and the problems found in them.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Sources: the file first, then the `--set` arguments.
    pub sources: Vec<Source>,
    /// Problems in the order of their discovery.
    found: Vec<Diagnostic>,
    /// Effects of keys of laws, which results repeat once it is known which link has the law.
    effects: Vec<Effect>,
    errors: usize,
    warnings: usize,
    notes: usize,
}

/// An effect of a key that the scenario's author may not expect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Effect {
    /// Stable name of the kind of note.
    pub kind: &'static str,
    /// The key.
    pub path: String,
    /// One sentence without a full stop.
    pub text: String,
    /// What to do about it.
    pub hint: String,
}

/// Most problems of each severity. Nobody reads more of them, and a megabyte of mistakes must not take
/// minutes.
const MOST_OF_A_KIND: usize = 100;

impl Report {
    /// Adds a source and returns its index.
    pub(crate) fn add_source(&mut self, name: &str, text: &str) -> usize {
        self.sources.push(Source { name: name.to_owned(), text: text.into() });
        self.sources.len() - 1
    }

    /// Reports a mistake, for which the scenario is refused.
    pub(crate) fn error(&mut self, mark: &Mark, message: impl Into<String>, hint: impl Into<String>) {
        self.add(mark, Severity::Error, message.into(), hint.into());
    }

    /// Reports something doubtful.
    pub(crate) fn warning(&mut self, mark: &Mark, message: impl Into<String>, hint: impl Into<String>) {
        self.add(mark, Severity::Warning, message.into(), hint.into());
    }

    /// Reports an effect that the scenario's author may not expect.
    pub(crate) fn note(&mut self, mark: &Mark, message: impl Into<String>, hint: impl Into<String>) {
        self.add(mark, Severity::Note, message.into(), hint.into());
    }

    /// Keeps an effect for [`Self::take_effects`], if it was not said before: groups and ports share laws.
    pub(crate) fn effect(&mut self, effect: Effect) {
        if self.effects.iter().all(|other| (other.kind, &other.text) != (effect.kind, &effect.text)) {
            self.effects.push(effect);
        }
    }

    /// Takes the effects that were kept.
    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Whether the scenario is refused.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// An empty report on sources that were read before.
    pub(crate) fn of(sources: Vec<Source>) -> Self {
        Self { sources, ..Self::default() }
    }

    /// All problems of one severity, in the order of their places.
    pub(crate) fn into_found(mut self, severity: Severity) -> Vec<Diagnostic> {
        self.take(severity)
    }

    /// Takes the problems of one severity out of the report, in the order of their places.
    pub(crate) fn take(&mut self, severity: Severity) -> Vec<Diagnostic> {
        let (mut taken, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.found).into_iter().partition(|found| found.severity == severity);
        self.found = rest;
        taken.sort_by_key(|d| (self.sources.iter().position(|s| s.name == d.file), d.line, d.column));
        taken
    }

    fn add(&mut self, mark: &Mark, severity: Severity, message: String, hint: String) {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Note => &mut self.notes,
        };
        *count += 1;
        if *count > MOST_OF_A_KIND {
            return;
        }
        let (message, hint) = if *count == MOST_OF_A_KIND {
            (format!("{message} (further ones are not shown)"), hint)
        } else {
            (message, hint)
        };
        let hint = (!hint.is_empty()).then_some(hint);
        let diagnostic = Diagnostic::new(&self.sources, mark, severity, message, hint);
        // A value that several groups share would otherwise be reported once for each group.
        if !self.found.contains(&diagnostic) {
            self.found.push(diagnostic);
        }
    }
}
