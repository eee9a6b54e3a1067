//! The words that a host exchanges with the law of a queue.

use crate::words::{NONE, Words, words};

/// Random draws that a call may use.
pub const DRAWS: usize = 4;

words! {
    /// A word of a queue's block.
    QueueWord, QUEUE_WORD_DOCS, QUEUE_ANSWERS: [timer_ps, probability, average_bytes, draws, reason] {
        /// When `on_timer` is to be called, once; NONE if it is not. Answer.
        timer_ps,
        /// The probability that controls the law as a double, for output; not a number if there is none. Answer.
        probability,
        /// The averaged queue in bytes as a double, for output; not a number if there is none. Answer.
        average_bytes,
        /// How many of the random draws the call used; 0 before it. Answer.
        draws,
        /// Why a packet is marked or dropped, for output: 0 buffer, 1 threshold, 2 early, 3 forced, 4 coupled, 5
        /// sojourn; 2 before each call. Answer.
        reason,
        /// Time of the call, in picoseconds.
        now_ps,
        /// Bytes of the packet with its headers.
        size,
        /// Its ECN field: 0 Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
        ecn,
        /// Number of its flow in the experiment.
        flow,
        /// How long it has waited, in picoseconds (`on_departure`).
        sojourn_ps,
        /// Packets that wait, without this one.
        waiting_packets,
        /// Bytes that wait, without this one.
        waiting_bytes,
        /// Packets among them that are ECN-capable.
        waiting_ect_packets,
        /// Bytes of these.
        waiting_ect_bytes,
        /// How long the oldest packet that waits has waited, in picoseconds, or NONE (`on_timer`).
        oldest_ps,
        /// Rate of the line behind the queue, in bits a second.
        line_bps,
        /// Packets that fit into the buffer, or NONE.
        limit_packets,
        /// Bytes that fit into it, or NONE.
        limit_bytes,
        /// Uniform random 64 bits, the first of four draws.
        random_0,
        /// The second.
        random_1,
        /// The third.
        random_2,
        /// The fourth.
        random_3,
    }
}

/// The words that carry a double; the others are whole numbers.
pub const QUEUE_DOUBLES: &[usize] = &[QueueWord::probability as usize, QueueWord::average_bytes as usize];

impl Words {
    /// The words of a queue before the first call: the rate of its line, and what fits into its buffer.
    pub fn of_queue(
        line_bps: u64,
        limit_packets: Option<u64>,
        limit_bytes: Option<u64>,
        values: impl Iterator<Item = f64>,
    ) -> Self {
        let mut words = Self::with_parameters(values);
        words.set(QueueWord::timer_ps, NONE);
        words.set(QueueWord::probability, f64::NAN);
        words.set(QueueWord::average_bytes, f64::NAN);
        words.set(QueueWord::line_bps, line_bps);
        words.set(QueueWord::limit_packets, limit_packets.unwrap_or(NONE));
        words.set(QueueWord::limit_bytes, limit_bytes.unwrap_or(NONE));
        words
    }

    /// The next of the random draws.
    ///
    /// # Panics
    /// If the call has used all [`DRAWS`].
    pub fn draw(&mut self) -> u64 {
        let used: u64 = self.get(QueueWord::draws);
        self.set(QueueWord::draws, used + 1);
        assert!(used < DRAWS as u64, "a call has {DRAWS} random draws");
        self.0[QueueWord::random_0 as usize + used as usize]
    }
}
