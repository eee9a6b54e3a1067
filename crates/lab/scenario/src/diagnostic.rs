//! Errors, warnings and notes with their place in the source, drawn as compilers draw them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A text that scenario values come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// File name, `--set` for an argument, or the name of a JSON value.
    pub name: String,
    /// The whole text of the source; documents that are made from each other share it.
    pub text: Arc<str>,
}

/// A place in one of the sources.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mark {
    /// Index of the source in the report's list of sources.
    pub source: usize,
    /// Byte range in the text of the source.
    pub range: Range<usize>,
}

/// One problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Name of the source, as in [`Source::name`].
    pub file: String,
    /// Line number, counted from 1.
    pub line: usize,
    /// Column number in characters, counted from 1.
    pub column: usize,
    /// The whole line at that place; empty if the problem concerns the scenario as a whole.
    pub source_line: String,
    /// Number of characters that the caret underlines.
    pub width: usize,
    /// What is wrong.
    pub message: String,
    /// What the user can write instead.
    pub hint: Option<String>,
    /// An error refuses the scenario; warnings and notes do not.
    pub severity: Severity,
}

/// Severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The scenario is refused.
    Error,
    /// The scenario runs, but probably not as meant.
    Warning,
    /// The scenario runs as written; the note explains what that implies.
    Note,
}

/// All problems of a scenario.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Errors(pub Vec<Diagnostic>);

impl Diagnostic {
    /// A problem at `mark`.
    pub(crate) fn new(
        sources: &[Source],
        mark: &Mark,
        severity: Severity,
        message: String,
        hint: Option<String>,
    ) -> Self {
        let source = &sources[mark.source];
        let start = floor_boundary(&source.text, mark.range.start);
        let end = floor_boundary(&source.text, mark.range.end).max(start);
        let line_start = source.text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = source.text[start..].find('\n').map_or(source.text.len(), |i| start + i);
        let line = source.text[line_start..line_end].trim_end();
        Self {
            file: source.name.clone(),
            line: source.text[..start].matches('\n').count() + 1,
            column: source.text[line_start..start].chars().count() + 1,
            // A problem of the scenario as a whole has no line to show.
            source_line: if mark.range == (0..source.text.len()) { String::new() } else { line.to_owned() },
            width: source.text[start..end.min(line_end)].trim_end().chars().count().max(1),
            message,
            hint,
            severity,
        }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        writeln!(f, "{severity}: {}", self.message)?;
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        writeln!(f, "{gutter}--> {}:{}:{}", self.file, self.line, self.column)?;
        if !self.source_line.is_empty() {
            // A tab counts as one column, here as in `column`.
            let (line, start, width) = self.excerpt();
            writeln!(f, "{gutter} |\n{number} | {line}")?;
            writeln!(f, "{gutter} | {}{}", " ".repeat(start), "^".repeat(width))?;
        }
        match &self.hint {
            Some(hint) => writeln!(f, "hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl Diagnostic {
    /// Shortens the line around the caret to a readable length; returns the caret's place in it too.
    fn excerpt(&self) -> (String, usize, usize) {
        const WIDTH: usize = 120;
        let printable = |c: char| if c.is_control() { ' ' } else { c };
        let start = self.column - 1;
        let skip = if start + 40 > WIDTH { start - 40 } else { 0 };
        let line: String = self.source_line.chars().skip(skip).take(WIDTH).map(printable).collect();
        let width = self.width.min(WIDTH - (start - skip));
        (line.trim_end().to_owned(), start - skip, width)
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}
