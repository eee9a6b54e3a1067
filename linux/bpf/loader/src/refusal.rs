//! What went wrong, and what to do.

/// An error in words for the user.
#[derive(Debug)]
pub struct Refusal {
    pub what: String,
    pub hint: String,
}

pub type Outcome<T> = Result<T, Refusal>;

impl Refusal {
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }
}
