//! Descriptions of models: the source of `shoal describe`, of the model pages and of their tables.

/// The kinds of models.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelKind {
    /// A congestion controller.
    CongestionControl,
    /// A queue with its law of marking and dropping.
    Queue,
    /// A host stack profile.
    Stack,
    /// An application, with what is measured of it.
    Application,
    /// A kind of end host: what happens between TCP and the network card.
    Host,
    /// What a link does to packets behind its transmitter.
    Path,
}

/// One known difference between a model and what it follows.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// The difference and its effect.
    pub text: &'static str,
    /// Name of the test that pins the behaviour.
    pub test: &'static str,
}

impl Difference {
    /// A difference, described by `text` and pinned by the test called `test`.
    pub const fn new(text: &'static str, test: &'static str) -> Self {
        Self { text, test }
    }
}

/// The description of one model or preset.
#[derive(Clone, Copy, Debug)]
pub struct ModelDoc {
    /// Name in the scenario file.
    pub name: &'static str,
    /// Kind of the model.
    pub kind: ModelKind,
    /// Summary in one sentence.
    pub summary: &'static str,
    /// The implementation or document that the model follows.
    pub follows: &'static str,
    /// All known differences from what it follows.
    pub differences: &'static [Difference],
}
