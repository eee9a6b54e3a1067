//! Hand-made records of a guest, with the scenario and the kernel to which they belong.
#![allow(dead_code, reason = "every test binary uses a part")]

use shoal_linux::{Kernel, Plan};
use shoal_scenario::{Document, Experiment};

/// A scenario of one DCTCP flow at 12 Mbit/s, where a packet takes 1 ms; `series` is the bin of the time
/// series.
pub(crate) fn scenario(series: &str) -> String {
    format!(
        r#"
duration = "1 s"
warmup = "0.5 s"
bottleneck = {{ rate = "12 Mbit/s", buffer = "2 packets", aqm = {{ kind = "step", threshold = "2 packets" }} }}
flows = [{{ cc = "dctcp", rtt = "10 ms" }}]
trace = {{ series = "{series}" }}
"#
    )
}

/// The experiment of a scenario.
pub(crate) fn experiment(text: &str) -> Experiment {
    Document::parse(text, "test.toml").unwrap().resolve(None).unwrap()
}

/// A kernel with these controllers and queue disciplines, separated by spaces.
pub(crate) fn kernel_with(controllers: &str, disciplines: &str) -> Kernel {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    Kernel {
        release: "7.3.4-shoal".to_owned(),
        controllers: words(controllers),
        disciplines: words(disciplines),
        build: String::new(),
        modules: String::new(),
        generator: None,
        user_modules: Vec::new(),
        mode: "seccomp".to_owned(),
    }
}

/// A kernel that can run [`scenario`].
pub(crate) fn kernel() -> Kernel {
    Kernel { mode: "ptrace".to_owned(), ..kernel_with("dctcp", "pfifo red") }
}

/// The instructions of a plan that begin with `verb`.
pub(crate) fn lines<'a>(plan: &'a Plan, verb: &str) -> Vec<&'a str> {
    plan.config.lines().filter(|line| line.split(' ').next() == Some(verb)).collect()
}

pub(crate) const QUEUED: u8 = 0;
pub(crate) const OVERFLOW: u8 = 2;
pub(crate) const STARTED: u8 = 3;
pub(crate) const ECT: u8 = 2;
pub(crate) const CE: u8 = 3;

/// Builds a record of `sch_line.h`: a packet of 1500 B of flow 0 with its ECN field before and after the
/// event.
pub(crate) fn line(
    time_us: i64,
    queued_us: i64,
    event: u8,
    (before, after): (u8, u8),
    waiting: u32,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((time_us * 1000).to_ne_bytes());
    bytes.extend((queued_us * 1000).to_ne_bytes());
    bytes.extend((0x2710_u32 << 16 | 0x2710).to_ne_bytes());
    bytes.extend(7u32.to_ne_bytes());
    bytes.extend((waiting * 1500).to_ne_bytes());
    bytes.extend(waiting.to_ne_bytes());
    bytes.extend(1500u16.to_ne_bytes());
    bytes.extend(1448u16.to_ne_bytes());
    bytes.extend([event, after | before << 4, 0, 0]);
    assert_eq!(bytes.len(), 40);
    bytes
}

/// A sample of flow 0; fields that are not listed have usual values.
pub(crate) struct Sample {
    pub time_ms: u64,
    pub cwnd: u32,
    pub ssthresh: u32,
    pub retransmissions: u32,
    /// Bytes at the receiver.
    pub received: u64,
}

impl Default for Sample {
    fn default() -> Self {
        Self { time_ms: 0, cwnd: 10, ssthresh: 20, retransmissions: 3, received: 0 }
    }
}

impl Sample {
    /// Builds the record of `guest.h`: an RTT of 10 ms, an alpha of 0.5, an arrival for every 500 bytes, an
    /// ACK for every 2000.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        const SAMPLE: u8 = 1;
        let (packets, acks) = ((self.received / 500) as u32, (self.received / 2000) as u32);
        let numbers = [self.cwnd, self.ssthresh, 10_000, 512, self.retransmissions, 0, packets, acks];
        record(self.time_ms, SAMPLE, numbers, self.received)
    }
}

/// The last record of a run.
pub(crate) fn end() -> Vec<u8> {
    const END: u8 = 5;
    record(1000, END, [0; 8], 0)
}

fn record(time_ms: u64, kind: u8, numbers: [u32; 8], received: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend((time_ms * 1_000_000).to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    bytes.extend([kind, 0, 1, 1]);
    for number in numbers {
        bytes.extend(number.to_ne_bytes());
    }
    bytes.extend(received.to_ne_bytes());
    bytes.extend(0u64.to_ne_bytes());
    assert_eq!(bytes.len(), 64);
    bytes
}
