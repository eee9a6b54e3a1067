//! Keys of queue protection ([RFC 9957](https://www.rfc-editor.org/rfc/rfc9957)), which every dual queue can have,
//! and of the ramp in it.

use shoal_aqm::{DelayRampConfig, ProtectionConfig};

use super::Place;
use crate::field::Section;
use crate::quantity::{Duration, Size};

/// Queue protection: flows that build the low-latency queue are sent to the classic one. `protection = {}` has the
/// RFC's parameters.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct Protection {
    /// Delay of the low-latency queue, in bytes at the line's rate with the arriving packet, up to which no score is
    /// too high but one at its ceiling.
    #[key(
        otherwise = "the end of the ramp: ramp_max, or later on slow links",
        source = "RFC 9957 section 4.1 CRITICALqL"
    )]
    pub critical_delay: Option<Duration>,
    /// Score that is too high at the critical delay; at twice that delay, half of it is.
    #[key(default = "4 ms", source = "RFC 9957 section 4.1 CRITICALqLSCORE")]
    pub critical_score: Duration,
    /// n: scores fade by 2^n bytes in 2^30 ns. A packet adds its bytes, weighted with the probability of the ramp, over
    /// this rate.
    #[key(default = 19, unit = "0 to 30", source = "RFC 9957 section 4.1 LG_AGING")]
    pub lg_aging: u16,
    /// A score does not grow beyond this; packets of a flow whose score is there are redirected at any delay.
    #[key(default = "5 s", source = "RFC 9957 section 4.1 qLSCORE_MAX")]
    pub score_ceiling: Duration,
    /// Bits of a flow's hash that name its bucket: with 5 there are 32 buckets, and one for flows that have none.
    #[key(default = 5, unit = "1 to 16", source = "RFC 9957 section 4.1 BI_SIZE")]
    pub bucket_bits: u16,
    /// Buckets in which a flow looks for one that is free, each by further bits of its hash of 32 bits.
    #[key(default = 2, unit = "1 to 32", source = "RFC 9957 section 4.1 ATTEMPTS")]
    pub attempts: u16,
    /// End of the ramp by which bytes count: the delay at which they count in full. It marks nothing by itself.
    #[key(otherwise = "docsis_max of the queue, else 1 ms", source = "RFC 9957 section 4.1 MAXTH")]
    pub ramp_max: Option<Duration>,
    /// Length of the ramp.
    #[key(
        otherwise = "docsis_range of the queue, else 524288 ns (2^19)",
        source = "RFC 9957 section 4.1 LG_RANGE"
    )]
    pub ramp_range: Option<Duration>,
    /// The ramp does not begin before the line needs the time of so many bytes; on slow links it then ends later, too.
    #[key(
        otherwise = "docsis_floor of the queue, else 4000 B",
        source = "RFC 9957 section 4.1 FLOOR (two frames of 2000 B)"
    )]
    pub ramp_floor: Option<Size>,
}

impl Protection {
    /// Fills in the ramp: that of the queue if it has one.
    pub(crate) fn fill(&mut self, max: Option<Duration>, range: Option<Duration>, floor: Option<Size>) {
        self.ramp_max = self.ramp_max.or(max).or_else(|| Duration::parse("1 ms").ok());
        self.ramp_range = self.ramp_range.or(range).or_else(|| Duration::parse("524288 ns").ok());
        self.ramp_floor = self.ramp_floor.or(floor).or_else(|| Size::parse("4000 B").ok());
    }
}

/// Bits of the hash of a flow.
const HASH_BITS: u16 = 32;

impl Place<'_> {
    /// Queue protection as written in the table `protection`.
    pub(super) fn protection(&self, keys: &Protection) -> Option<ProtectionConfig> {
        let table = self.table("protection");
        let whole = |value: u16, key: &str, least: u16, most: u16, example: u16| {
            if !(least..=most).contains(&value) {
                let hint = format!("write a whole number from {least} to {most}, as in {example}");
                table.keys.error(key, format!("{key} = {value} is out of range"), hint);
                return None;
            }
            u8::try_from(value).ok()
        };
        let lg_aging = whole(keys.lg_aging, "lg_aging", 0, 30, 19);
        let bucket_bits = whole(keys.bucket_bits, "bucket_bits", 1, 16, 5);
        let attempts = whole(keys.attempts, "attempts", 1, HASH_BITS, 2);
        if bucket_bits.is_some() && attempts.is_some() && keys.bucket_bits * keys.attempts > HASH_BITS {
            let most = HASH_BITS / keys.bucket_bits;
            let message = format!(
                "{} attempts of {} bits need more than the {HASH_BITS} bits of a hash",
                keys.attempts, keys.bucket_bits
            );
            let hint = format!("write at most {most}, or fewer bucket_bits");
            table.keys.error("attempts", message, hint);
        }
        let ramp =
            table.delay_ramp(["ramp_max", "ramp_range"], keys.ramp_max, keys.ramp_range, keys.ramp_floor);
        let ceiling = keys.score_ceiling.span();
        if ceiling.is_zero() {
            let hint = "as in \"5 s\"";
            table.keys.error("score_ceiling", "at a ceiling of 0 every packet is redirected", hint);
        }
        Some(ProtectionConfig {
            ramp: ramp?,
            critical_delay: keys.critical_delay.map(|delay| delay.span()),
            critical_score: keys.critical_score.span(),
            lg_aging: lg_aging?,
            ceiling,
            bucket_bits: bucket_bits?,
            attempts: attempts?,
        })
    }

    /// A ramp whose end and length are given by these keys.
    pub(super) fn delay_ramp(
        &self,
        [max_key, range_key]: [&str; 2],
        max: Option<Duration>,
        range: Option<Duration>,
        floor: Option<Size>,
    ) -> Option<DelayRampConfig> {
        let (max, range) = (max?, range?);
        if range.span() > max.span() {
            let is_written = self.port.remarks.is_written(&self.keys.at(range_key));
            let key = if is_written { range_key } else { max_key };
            let message = format!("a ramp of {range} that ends at {max} begins below an empty queue");
            self.keys.error(
                key,
                message,
                format!("write a {range_key} of at most {max}, or a later {max_key}"),
            );
        }
        let floor_bytes = floor?.bytes().and_then(|bytes| u32::try_from(bytes).ok());
        Some(DelayRampConfig {
            max: max.span(),
            range: range.span(),
            floor_bytes: floor_bytes.unwrap_or(u32::MAX),
        })
    }
}
