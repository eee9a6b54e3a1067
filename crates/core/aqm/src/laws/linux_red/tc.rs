//! What `tc qdisc add ... red` computes from its arguments (iproute2 `tc/q_red.c`, `tc/tc_red.c`, `tc/tc_core.c`).

use crate::LinuxRedConfig;
use core::fmt;
use shoal_units::cast::{floor_u64, low_u32};

/// Entries of the idle table (`RED_STAB_SIZE`, Linux `include/net/red.h`).
const TABLE_LEN: usize = 256;
/// psched ticks a microsecond: 1000 / 64, from /proc/net/psched of every kernel since 2.6.31 (`PSCHED_SHIFT` 6).
const TICKS_PER_MICRO: f64 = 1000.0 / 64.0;
/// Bandwidth that tc assumes if none is given, bit/s
/// ([`q_red.c`](https://git.kernel.org/pub/scm/network/iproute2/iproute2.git/tree/tc/q_red.c?h=v6.12.0)).
const DEFAULT_BANDWIDTH_BPS: u64 = 10_000_000;

/// What tc hands to the kernel (`struct tc_red_qopt`, `TCA_RED_STAB`, `TCA_RED_MAX_P`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcRed {
    /// Hard limit of the child queue, bytes.
    pub limit_bytes: u32,
    /// Minimum threshold, bytes.
    pub min_bytes: u32,
    /// Maximum threshold, bytes.
    pub max_bytes: u32,
    /// The weight of the average is 2^-Wlog.
    pub wlog: u8,
    /// Probability at the maximum threshold, rounded to (max - min) / 2^Plog.
    pub plog: u8,
    /// The idle table has one entry for 2^Scell_log microseconds.
    pub scell_log: u8,
    /// Right shifts of the average after an idle time.
    pub stab: [u8; TABLE_LEN],
    /// Probability at the maximum threshold as a fraction of 2^32; 0 leaves it to Plog.
    pub max_p: u32,
}

/// Reasons why tc or the kernel refuses a configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcError {
    /// `limit` or `avpkt` is missing.
    Missing,
    /// tc counts bytes per second with 32 bits.
    Bandwidth,
    /// `burst` is below min/avpkt.
    Burst {
        /// The given burst, packets.
        given: u32,
        /// What tc recommends, packets.
        recommended: u32,
    },
    /// No weight passes a burst of this size.
    Weight,
    /// No power of two expresses the probability: max is below min, or the probability is too small.
    Probability,
    /// The kernel refuses thresholds that exceed 31 bits when scaled by the weight (`red_check_params`).
    Threshold,
    /// `nodrop` without `ecn` (`red_validate_flags`).
    NodropWithoutEcn,
    /// `adaptive` needs a kernel from 3.3 on.
    AdaptiveInLegacyKernel,
}

impl LinuxRedConfig {
    /// What tc makes of the configuration. As on its command line, 0 stands for "not given" where tc has a default:
    /// min, max, burst, bandwidth.
    ///
    /// # Errors
    /// If tc refuses the configuration.
    pub fn solve(&self) -> Result<TcRed, TcError> {
        let limit_bytes = self.limit_bytes;
        if limit_bytes == 0 || self.avpkt_bytes == 0 {
            return Err(TcError::Missing);
        }
        if self.nodrop && !self.ecn {
            return Err(TcError::NodropWithoutEcn);
        }
        if self.adaptive && self.legacy_probability {
            return Err(TcError::AdaptiveInLegacyKernel);
        }
        let (min_bytes, max_bytes) = default_thresholds(limit_bytes, self.min_bytes, self.max_bytes);
        let burst = match self.burst_packets {
            0 => default_burst(min_bytes, max_bytes, self.avpkt_bytes),
            given => given,
        };
        let wlog = weight_log(min_bytes, burst, self.avpkt_bytes)?;
        let plog = probability_log(min_bytes, max_bytes, self.probability)?;
        let (scell_log, stab) = idle_table(wlog, self.avpkt_bytes, self.bandwidth.as_bps())?;
        if [min_bytes, max_bytes].iter().any(|&bytes| bits(bytes) + u32::from(wlog) >= 32) {
            return Err(TcError::Threshold);
        }
        // The conversion of 2^32 to 32 bits, which C leaves open, gives 0 on x86-64: with probability 1 the kernel
        // falls back to Plog.
        let max_p = low_u32(floor_u64(self.probability * 4_294_967_296.0));
        Ok(TcRed { limit_bytes, min_bytes, max_bytes, wlog, plog, scell_log, stab, max_p })
    }
}

/// Thresholds that are not given (`red_parse_opt`): max = 3 min, or limit / 4 without min; min = max / 3.
fn default_thresholds(limit: u32, min: u32, max: u32) -> (u32, u32) {
    let max = match (max, min) {
        (0, 0) => limit / 4,
        (0, _) => min.wrapping_mul(3),
        _ => max,
    };
    (if min == 0 { max / 3 } else { min }, max)
}

/// Burst that is not given, packets (`red_parse_opt`).
fn default_burst(min: u32, max: u32, avpkt: u32) -> u32 {
    min.wrapping_mul(2).wrapping_add(max) / avpkt.wrapping_mul(3).max(1)
}

/// `tc_red_eval_ewma`: the smallest n with burst + 1 - min/avpkt <= (1 - (1-W)^burst) / W for W = 2^-n.
fn weight_log(min: u32, burst: u32, avpkt: u32) -> Result<u8, TcError> {
    let excess = f64::from(burst) + 1.0 - f64::from(min) / f64::from(avpkt);
    if excess < 1.0 {
        return Err(TcError::Burst { given: burst, recommended: 1 + min / avpkt });
    }
    (1..32u8)
        .find(|&n| {
            let weight = libm::ldexp(1.0, -i32::from(n));
            excess <= (1.0 - libm::pow(1.0 - weight, f64::from(burst))) / weight
        })
        .ok_or(TcError::Weight)
}

/// `tc_red_eval_P`: doublings of probability / (max - min) until it exceeds 1; 0 if min = max, where it has no meaning.
fn probability_log(min: u32, max: u32, probability: f64) -> Result<u8, TcError> {
    let zone = max.wrapping_sub(min).cast_signed();
    if zone <= 0 {
        return if zone == 0 { Ok(0) } else { Err(TcError::Probability) };
    }
    let scaled = probability / f64::from(zone);
    (0..32u8).find(|&n| libm::ldexp(scaled, i32::from(n)) > 1.0).ok_or(TcError::Probability)
}

/// `tc_red_eval_idle_damping`: entry i holds the whole part of -ln(1-W) (i << Scell_log) / xmit_time, at most 31.
///
/// Two mismatches between tc and the kernel are kept. The logarithm is natural although the kernel shifts by the entry,
/// and xmit_time counts psched ticks of 64 ns although the kernel looks entries up by microseconds (`ktime_us_delta`,
/// since 3.2). Where the table is not 0, an average therefore fades 15.625 / ln 2 = 22.5 times slower than (1-W)^m.
fn idle_table(wlog: u8, avpkt: u32, bandwidth_bps: u64) -> Result<(u8, [u8; TABLE_LEN]), TcError> {
    let bps = if bandwidth_bps == 0 { DEFAULT_BANDWIDTH_BPS } else { bandwidth_bps };
    let bytes_per_second = u32::try_from(bps / 8).map_err(|_| TcError::Bandwidth)?;
    // Up to tc 6.13 a time is cut to whole microseconds, then to whole ticks; later versions round up to ticks.
    let micros = libm::trunc(1e6 * (f64::from(avpkt) / f64::from(bytes_per_second)));
    let xmit_time = libm::trunc(micros * TICKS_PER_MICRO);
    let per_unit = -libm::log(1.0 - libm::ldexp(1.0, -i32::from(wlog))) / xmit_time;
    let fades_in = 31.0 / per_unit;
    // C computes 1 << 31 as a negative int, so the search always ends there.
    let scell_log = (0..31u8).find(|&n| fades_in / f64::from(1u32 << n) < 512.0).unwrap_or(31);
    let mut stab = [0; TABLE_LEN];
    for (i, entry) in (0..).zip(&mut stab).skip(1) {
        let steps: i32 = i32::wrapping_shl(i, scell_log.into());
        *entry = low_byte(f64::from(steps) * per_unit).min(31);
    }
    stab[TABLE_LEN - 1] = 31;
    Ok((scell_log, stab))
}

/// C leaves the conversion of a number beyond a byte open; on x86-64 it goes through 32 bits, and what does not fit
/// there has a low byte of 0. An infinite product means that a packet takes less than a microsecond.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what C does with it is the point"
)]
fn low_byte(value: f64) -> u8 {
    if value.abs() < 2_147_483_648.0 { value as i32 as u8 } else { 0 }
}

/// Position of the highest bit set, counted from 1 (`fls`).
const fn bits(value: u32) -> u32 {
    u32::BITS - value.leading_zeros()
}

impl fmt::Display for TcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("tc needs limit and avpkt"),
            Self::Bandwidth => {
                f.write_str("tc counts bandwidth in bytes per second with 32 bits: at most 34.3 Gbit/s")
            }
            Self::Burst { given, recommended } => {
                write!(f, "a burst of {given} packets is too small for min/avpkt: use at least {recommended}")
            }
            Self::Weight => f.write_str("tc finds no weight for this burst: it is too large"),
            Self::Probability => {
                f.write_str("tc finds no Plog: max must not be below min, and the probability not be tiny")
            }
            Self::Threshold => {
                f.write_str("the kernel refuses the thresholds: scaled by the weight they need 32 bits")
            }
            Self::NodropWithoutEcn => f.write_str("nodrop needs ecn"),
            Self::AdaptiveInLegacyKernel => f.write_str("adaptive needs a kernel from 3.3 on"),
        }
    }
}

impl core::error::Error for TcError {}
