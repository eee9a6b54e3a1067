//! A position in the text of a script, which skips blanks and comments and counts lines.

use crate::ScriptError;

#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, line: u32) -> Self {
        Self { text, at: 0, line }
    }
    pub(super) fn line(&self) -> u32 {
        self.line
    }
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }
    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// Advances by `bytes` bytes, which must end at a character.
    fn advance(&mut self, bytes: usize) -> &'a str {
        let passed = &self.text[self.at..self.at + bytes];
        self.line += passed.matches('\n').count() as u32;
        self.at += bytes;
        passed
    }
    pub(super) fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        self.advance(rest.find(|c| !keep(c)).unwrap_or(rest.len()))
    }
    /// Skips blanks, line ends and comments (`//` to the end of the line, `/* */`).
    pub(super) fn skip_blank(&mut self) -> Result<(), ScriptError> {
        loop {
            self.take_while(char::is_whitespace);
            if self.rest().starts_with("//") {
                self.take_while(|c| c != '\n');
            } else if self.rest().starts_with("/*") {
                let Some(end) = self.rest().find("*/") else {
                    return Err(self.error("the comment has no end").hint("close it with `*/`"));
                };
                self.advance(end + 2);
            } else {
                return Ok(());
            }
        }
    }
    /// Skips blanks and then `mark`, if it comes next; returns whether it does.
    pub(super) fn eat(&mut self, mark: &str) -> Result<bool, ScriptError> {
        self.skip_blank()?;
        let there = self.rest().starts_with(mark);
        if there {
            self.advance(mark.len());
        }
        Ok(there)
    }
    /// Skips `mark` if it comes next without blanks before it; returns whether it does.
    pub(super) fn eat_here(&mut self, mark: &str) -> bool {
        let there = self.rest().starts_with(mark);
        if there {
            self.advance(mark.len());
        }
        there
    }
    pub(super) fn expect(&mut self, mark: &str, after: &str) -> Result<(), ScriptError> {
        if self.eat(mark)? {
            return Ok(());
        }
        Err(self.error(format!("expected `{mark}` {after}, found {}", self.found())))
    }
    /// Reads a name of letters, digits and `_`; empty if there is none.
    pub(super) fn name(&mut self) -> Result<&'a str, ScriptError> {
        self.skip_blank()?;
        Ok(self.take_while(|c| c.is_ascii_alphanumeric() || c == '_'))
    }
    /// Skips `word` if it comes next as a whole word; returns whether it does.
    pub(super) fn eat_name(&mut self, word: &str) -> Result<bool, ScriptError> {
        let before = self.clone();
        let there = self.name()? == word;
        if !there {
            *self = before;
        }
        Ok(there)
    }
    /// Reads everything up to `end`, and skips `end`.
    pub(super) fn until(&mut self, end: &str, what: &str) -> Result<&'a str, ScriptError> {
        let Some(size) = self.rest().find(end) else {
            return Err(self.error(format!("{what} has no end: `{end}` is missing")));
        };
        let inside = self.advance(size);
        self.advance(end.len());
        Ok(inside)
    }
    /// Reads a decimal or hexadecimal number that fits `T`.
    pub(super) fn number<T: TryFrom<i64>>(&mut self, what: &str) -> Result<T, ScriptError> {
        self.skip_blank()?;
        let before = self.clone();
        let sign = if self.eat_here("-") { -1 } else { 1 };
        let word = self.take_while(|c| c.is_ascii_alphanumeric());
        let value = match word.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16),
            None => word.parse(),
        };
        match value.ok().and_then(|value| T::try_from(sign * value).ok()) {
            Some(value) => Ok(value),
            None => {
                *self = before;
                Err(self.error(format!("expected {what}, found {}", self.found())))
            }
        }
    }
    /// What comes next in the text, for messages.
    pub(super) fn found(&self) -> String {
        let rest = self.rest().trim_start();
        let word: String = rest.chars().take_while(|c| !c.is_whitespace()).take(20).collect();
        if word.is_empty() { "the end of the script".to_string() } else { format!("`{word}`") }
    }
    pub(super) fn error(&self, message: impl Into<String>) -> ScriptError {
        ScriptError::syntax(self.line, message)
    }
    pub(super) fn refused(&self, message: impl Into<String>) -> ScriptError {
        ScriptError::refused(self.line, message)
    }
}
