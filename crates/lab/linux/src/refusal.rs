//! Refusals: what Linux cannot do.

use shoal_scenario::Refusal;

/// Collects refusals, so that the user sees all of them at once.
#[derive(Debug, Default)]
pub(crate) struct Refusals(pub Vec<Refusal>);

impl Refusals {
    pub(crate) fn add(
        &mut self,
        place: impl Into<String>,
        reason: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(Refusal { place: place.into(), reason: reason.into(), hint: hint.into() });
    }

    /// Replaces the prefix `from` by `to` in the places of the refusals from `first` on.
    pub(crate) fn rename(&mut self, first: usize, from: &str, to: &str) {
        for refusal in &mut self.0[first..] {
            if let Some(rest) = refusal.place.strip_prefix(from) {
                refusal.place = format!("{to}{rest}");
            }
        }
    }
}
