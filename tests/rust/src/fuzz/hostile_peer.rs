//! The two endpoints against a peer that violates the protocol.

/// Drives the harness of `shoal_tcp::testing`; its checks are there.
///
/// # Panics
/// If an invariant of an endpoint does not hold.
pub fn hostile_peer(input: &[u8]) {
    shoal_tcp::testing::drive_hostile(input);
}
