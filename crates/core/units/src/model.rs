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

/// One parameter of a model, as the scenario file names it.
#[derive(Clone, Copy, Debug)]
pub struct ParameterDoc {
    /// Key in the scenario file, e.g. `reno.min`.
    pub name: &'static str,
    /// Unit or type as written in the scenario file, e.g. `bytes | packets | time | BDP`.
    pub unit: &'static str,
    /// Default as written in the scenario file; empty if the parameter is required.
    pub default: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// RFC section, paper equation or kernel file.
    pub source: &'static str,
}

impl ParameterDoc {
    /// Name, unit, default, sentence and source in this order, for lists of many.
    pub const fn new(
        name: &'static str,
        unit: &'static str,
        default: &'static str,
        doc: &'static str,
        source: &'static str,
    ) -> Self {
        Self { name, unit, default, doc, source }
    }
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
    /// All parameters.
    pub parameters: &'static [ParameterDoc],
    /// All known differences.
    pub differences: &'static [Difference],
}
