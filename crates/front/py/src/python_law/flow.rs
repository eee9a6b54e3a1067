//! What a congestion control in Python sees of its flow.

use super::block::Block;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use shoal_law::cc::Window;
use shoal_law::{Word, Words};

/// A flow as its law sees it: the window that both share, and what the host knows at this call.
///
/// The words `cwnd`, `ssthresh`, `cwnd_cnt`, `pacing_bytes_per_s`, `pacing_burst_packets`, `timer_ps` and `alpha` are
/// the law's to set; all others are what the host says. Times are whole picoseconds. A word without a value is None.
#[pyclass(frozen, extends = Block, module = "shoal")]
pub(crate) struct Flow;

impl Flow {
    pub(super) fn new(py: Python<'_>) -> PyResult<Bound<'_, Self>> {
        Bound::new(py, PyClassInitializer::from(Block::new()).add_subclass(Self))
    }

    /// Lets `grow` change the window.
    fn grow<T>(slf: &Bound<'_, Self>, grow: impl FnOnce(&Words, &mut Window) -> T) -> PyResult<T> {
        let block = slf.as_super().get();
        let words = block.words();
        for (word, name) in [(Word::cwnd, "cwnd"), (Word::ssthresh, "ssthresh"), (Word::cwnd_cnt, "cwnd_cnt")]
        {
            let value: u64 = words.get(word);
            // The functions of hosts add to these in 32 bits.
            if value > u64::from(u32::MAX / 2) && !matches!(word, Word::ssthresh)
                || value > u64::from(u32::MAX)
            {
                return Err(PyValueError::new_err(format!("`{name}` = {value} is too large for a window")));
            }
        }
        let mut window = words.window();
        let answer = grow(&words, &mut window);
        block.set(Word::cwnd as usize, window.cwnd.into());
        block.set(Word::ssthresh as usize, window.ssthresh.into());
        block.set(Word::cwnd_cnt as usize, window.cwnd_cnt.into());
        Ok(answer)
    }
}

#[pymethods]
impl Flow {
    /// Whether the window is in slow start by the host's own test.
    #[getter]
    fn in_slow_start(slf: &Bound<'_, Self>) -> bool {
        let words = slf.as_super().get().words();
        words.rules().in_slow_start(&words.window())
    }

    /// What the ACK acknowledges: packets or, where windows count bytes, bytes.
    #[getter]
    fn acked(slf: &Bound<'_, Self>) -> u32 {
        let words = slf.as_super().get().words();
        words.rules().acked(&words.ack())
    }

    /// Let the window grow as Reno's: slow start, or else a packet more each window.
    fn reno(slf: &Bound<'_, Self>) -> PyResult<()> {
        Self::grow(slf, |words, window| words.rules().reno(window, &words.ack()))
    }

    /// Slow start by the host's rules for one ACK; what is left over for congestion avoidance.
    ///
    /// Parameters
    /// ----------
    /// acked
    ///     Packets or bytes that the ACK acknowledges, as `acked` says.
    fn slow_start(slf: &Bound<'_, Self>, acked: u32) -> PyResult<u32> {
        Self::grow(slf, |words, window| words.rules().slow_start(window, acked))
    }

    /// Grow by a packet for every so many ACKs, packets or bytes, by the host's rules.
    ///
    /// Parameters
    /// ----------
    /// every
    ///     How many make a packet more; the window makes it Reno's growth.
    /// acked
    ///     Packets or bytes that the ACK acknowledges, as `acked` says.
    fn linear(slf: &Bound<'_, Self>, every: u32, acked: u32) -> PyResult<()> {
        if acked > u32::MAX / 2 {
            return Err(PyValueError::new_err(format!("acked = {acked} is more than an ACK acknowledges")));
        }
        Self::grow(slf, |words, window| words.rules().linear(window, every, acked))
    }

    /// This part of the window in whole packets, but two at least.
    fn part(slf: &Bound<'_, Self>, numerator: u32, denominator: u32) -> PyResult<u64> {
        if denominator == 0 {
            return Err(PyValueError::new_err("a part of the window needs a denominator that is not 0"));
        }
        Self::grow(slf, |words, window| {
            let (cwnd, quantum): (u64, u64) = (words.get(Word::cwnd), window.quantum.into());
            (cwnd * u64::from(numerator) / u64::from(denominator) / quantum).max(2) * quantum
        })
    }
}
