//! Scenarios and messages.

use shoal_bottleneck::Bottleneck;
use shoal_scenario::Document;

/// The link of a scenario, or what is wrong with it.
pub(crate) fn bottleneck(scenario: &[u8], link: Option<&[u8]>, seed: u64) -> Result<Bottleneck, String> {
    let utf8 = |bytes| std::str::from_utf8(bytes).map_err(|error| format!("the text is not UTF-8: {error}"));
    let (text, link) = (utf8(scenario)?, link.map(utf8).transpose()?);
    let document = Document::parse(text, "scenario").map_err(|errors| errors.to_string())?;
    let experiment = document.resolve(Some(seed)).map_err(|errors| errors.to_string())?;
    Bottleneck::new(&experiment.link_config(link)?, experiment.seed).map_err(|error| error.to_string())
}

/// Writes as much of the message as fits, whole characters, and a final zero.
pub(crate) fn write_text(place: &mut [u8], message: &str) {
    let Some(room) = place.len().checked_sub(1) else { return };
    let end = message.floor_char_boundary(room);
    place[..end].copy_from_slice(&message.as_bytes()[..end]);
    place[end] = 0;
}
