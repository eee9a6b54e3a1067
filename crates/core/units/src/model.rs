//! How a model describes itself: the one source of `shoal describe`, of the model pages and of their tables.

/// What a model is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelKind {
    /// A congestion controller.
    CongestionControl,
    /// A queue with its marking and dropping.
    Queue,
    /// A host stack profile.
    Stack,
    /// What writes, and what is measured of it.
    Application,
    /// What lies between TCP and the wire.
    Host,
}

/// One known difference between the model and what it follows.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// What differs and what that changes.
    pub text: &'static str,
    /// Name of the test that pins the behaviour.
    pub test: &'static str,
}

impl Difference {
    /// What differs, and the test that pins it.
    pub const fn new(text: &'static str, test: &'static str) -> Self {
        Self { text, test }
    }
}

/// The description of one model or preset.
#[derive(Clone, Copy, Debug)]
pub struct ModelDoc {
    /// Name in the scenario file.
    pub name: &'static str,
    /// What it is.
    pub kind: ModelKind,
    /// One sentence.
    pub summary: &'static str,
    /// The implementation or document it follows.
    pub follows: &'static str,
    /// All known differences.
    pub differences: &'static [Difference],
}
