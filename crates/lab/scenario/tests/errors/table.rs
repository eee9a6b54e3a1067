//! A table of cases: plain text, so that messages stand in it as on the screen.
//!
//! ```text
//! What the table is about.
//!
//! === a threshold in rates (queue)
//! # A comment.
//! + kind = "step"
//! + threshold = "20 Mbit/s"
//! - rtt = "25 ms"
//! + rtt = "10 ms"
//! --set duration=5 s
//! error: ...
//! ```
//!
//! The heading names the case and the scenario in `bases/` from which it starts. Lines with `+` before the first `-`
//! stand where that scenario has `# ...`; a `-` takes away the one line that reads so, and the `+` after it stand in
//! its place. Arguments are given as on the command line, but without quotes for a shell. What follows is the message.

use std::fmt;

const HEADING: &str = "=== ";
/// Where a base takes what its cases add.
const SLOT: &str = "# ...";

/// A file of cases.
pub(crate) struct Table {
    /// The file's name without extension.
    pub name: String,
    prose: String,
    pub cases: Vec<Case>,
}

impl Table {
    /// # Errors
    /// If the text is not a table: what is wrong.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, String> {
        let mut table = Self { name: name.to_owned(), prose: String::new(), cases: Vec::new() };
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some(heading) = line.strip_prefix(HEADING) else {
                table.prose += &format!("{line}\n");
                continue;
            };
            let mut rest = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with(HEADING)) {
                rest.push(line);
            }
            table.cases.push(Case::parse(heading, &rest)?);
        }
        Ok(table)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.prose)?;
        for (index, case) in self.cases.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            write!(f, "{separator}{HEADING}{} ({})\n{}{}", case.name, case.base, case.input, case.message)?;
        }
        Ok(())
    }
}

/// A scenario and what the user is told about it.
pub(crate) struct Case {
    pub name: String,
    /// Name of the scenario that is changed.
    pub base: String,
    /// The lines between heading and message, as they stand in the file.
    input: String,
    edits: Vec<Edit>,
    /// `--set`: key and value.
    pub arguments: Vec<(String, String)>,
    /// As on the screen, with the last end of line.
    pub message: String,
}

enum Edit {
    Remove(String),
    Add(String),
}

impl Case {
    fn parse(heading: &str, lines: &[&str]) -> Result<Self, String> {
        let (name, base) = heading
            .strip_suffix(')')
            .and_then(|heading| heading.rsplit_once(" ("))
            .ok_or_else(|| format!("expected `{HEADING}name (base)`, found `{HEADING}{heading}`"))?;
        let (mut input, mut edits, mut arguments) = (String::new(), Vec::new(), Vec::new());
        let mut lines = lines.iter().peekable();
        while let Some(line) = lines.next_if(|line| line.starts_with(['#', '+', '-'])) {
            input += &format!("{line}\n");
            if let Some(argument) = line.strip_prefix("--set ") {
                let pair = argument.split_once('=').ok_or_else(|| format!("{name}: no `=` in `{line}`"))?;
                arguments.push((pair.0.to_owned(), pair.1.to_owned()));
                continue;
            }
            let content = line.get(1..).unwrap_or_default().strip_prefix(' ').unwrap_or_default().to_owned();
            match line.as_bytes()[0] {
                b'+' => edits.push(Edit::Add(content)),
                b'-' => edits.push(Edit::Remove(content)),
                _ => {}
            }
        }
        let mut message: Vec<&str> = lines.copied().collect();
        message.pop_if(|last| last.is_empty());
        let message = message.iter().map(|line| format!("{line}\n")).collect();
        Ok(Self { name: name.to_owned(), base: base.to_owned(), input, edits, arguments, message })
    }

    /// The scenario: `base` with the case's changes.
    ///
    /// # Errors
    /// If a line that the case takes away does not stand in it exactly once.
    pub(crate) fn text(&self, base: &str) -> Result<String, String> {
        let mut lines: Vec<&str> = base.lines().collect();
        let mut place = lines.len();
        if let Some(slot) = lines.iter().position(|line| *line == SLOT) {
            lines.remove(slot);
            place = slot;
        }
        for edit in &self.edits {
            match edit {
                Edit::Add(line) => {
                    lines.insert(place, line);
                    place += 1;
                }
                Edit::Remove(line) => {
                    let same: Vec<usize> = (0..lines.len()).filter(|&index| lines[index] == line).collect();
                    let [only] = same[..] else {
                        return Err(format!("{} lines of the base read `{line}`", same.len()));
                    };
                    place = only;
                    lines.remove(place);
                }
            }
        }
        Ok(lines.iter().map(|line| format!("{line}\n")).collect())
    }
}

/// The two texts line by line, what they share before and after the difference once.
pub(crate) fn difference(expected: &str, found: &str) -> String {
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), found.lines().collect());
    let shorter = expected.len().min(found.len());
    let before = (0..shorter).take_while(|&i| expected[i] == found[i]).count();
    let after = (1..=shorter - before)
        .take_while(|&i| expected[expected.len() - i] == found[found.len() - i])
        .count();
    let mark = |sign: char, lines: &[&str]| -> String {
        lines.iter().map(|line| format!("{sign} {line}\n")).collect()
    };
    mark(' ', &expected[..before])
        + &mark('-', &expected[before..expected.len() - after])
        + &mark('+', &found[before..found.len() - after])
        + &mark(' ', &expected[expected.len() - after..])
}
