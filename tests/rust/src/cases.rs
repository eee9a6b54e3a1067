//! How many random cases a property is tried with.

/// The number of cases of a property: `all` of them, or the part of them, in per cent, that `SHOAL_CASES` says.
///
/// Each commit is tried with a part, each night and each release with all of them; what fails prints its case.
///
/// # Panics
///
/// If `SHOAL_CASES` is no whole number.
pub fn cases(all: u32) -> u32 {
    let percent =
        std::env::var("SHOAL_CASES").map_or(100, |text| text.parse().expect("SHOAL_CASES in per cent"));
    (all * percent / 100).max(1)
}
