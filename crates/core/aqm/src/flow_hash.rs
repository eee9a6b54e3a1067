//! A hash of a flow, for queues that sort by it.

use shoal_packet::FlowId;
use shoal_units::Stream;

/// A hash whose key is drawn when the first packet arrives, as a kernel draws the key of its flow hash when it is first
/// needed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowHash {
    key: Option<u64>,
}

impl FlowHash {
    /// 32 bits for a flow.
    #[inline]
    pub(crate) fn of(&mut self, flow: FlowId, random: &mut Stream) -> u32 {
        let key = *self.key.get_or_insert_with(|| random.uniform_u64());
        (mixed(key ^ u64::from(flow.0)) >> 32) as u32
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): every bit of the input moves every bit of the output.
#[inline]
const fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
