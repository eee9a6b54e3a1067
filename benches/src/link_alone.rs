//! A link alone, as other people's programs use it: packets a CPU second through `enqueue` and `next`.

use crate::usage::thread_seconds;
use shoal_bottleneck::{Bottleneck, Counters, Next};
use shoal_packet::Ecn;
use shoal_scenario::Document;
use shoal_units::{Span, Time};

const PACKETS: u64 = 10_000_000;

/// Name of the row, and the queue. Both have to mark and drop, as the load is 110 % of the line.
const QUEUES: [(&str, &str); 2] =
    [("step", r#"{ kind = "step", threshold = "20 packets" }"#), ("dualpi2", r#"{ kind = "dualpi2" }"#)];

/// Pushes ten million packets through each queue, three times in turns, and prints how many went through in a second of
/// the processor.
///
/// # Errors
/// If a link is refused.
pub(crate) fn measure() -> Result<String, String> {
    let mut seconds = QUEUES.map(|_| Vec::new());
    let mut counters = QUEUES.map(|_| Counters::default());
    for _ in 0..3 {
        for (place, (_, queue)) in QUEUES.iter().enumerate() {
            let (taken, bottleneck) = run(queue)?;
            seconds[place].push(taken);
            counters[place] = bottleneck.counters();
        }
    }
    let mut table = String::from(
        "| queue | packets a CPU second, best of three | worst | marked | dropped |\n|---|---:|---:|---:|---:|\n",
    );
    for (((name, _), all), seconds) in QUEUES.iter().zip(counters).zip(seconds) {
        let best = PACKETS as f64 / seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let worst = PACKETS as f64 / seconds.iter().copied().fold(0.0, f64::max);
        table
            .push_str(&format!("| {name} | {best:.2e} | {worst:.2e} | {} | {} |\n", all.marked, all.dropped));
    }
    Ok(table)
}

fn run(queue: &str) -> Result<(f64, Bottleneck), String> {
    let text = format!(
        "duration = \"1 s\"\nflows = [{{ cc = \"dctcp\", rtt = \"20 ms\" }}]\n[bottleneck]\nrate = \"100 Mbit/s\"\n\
         delay = \"5 ms\"\nbuffer = \"10000 packets\"\naqm = {queue}\n"
    );
    let document = Document::parse(&text, "link alone").map_err(|errors| errors.to_string())?;
    let experiment = document.resolve(None).map_err(|errors| errors.to_string())?;
    let link = experiment.link_config(None)?;
    let mut bottleneck = Bottleneck::new(&link, 1).map_err(|error| error.to_string())?;
    // 1500 B take 120 us.
    let gap = Span::from_micros(109);
    let mut now = Time::ZERO;
    let start = thread_seconds();
    for handle in 0..PACKETS {
        let ecn = if handle % 2 == 0 { Ecn::Ect1 } else { Ecn::Ect0 };
        let _ = bottleneck.enqueue(now, 1500, ecn, (handle % 8) as u32, handle);
        while let Next::Packet(_) | Next::Lost(_) = bottleneck.next(now) {}
        now += gap;
    }
    let end = thread_seconds();
    Ok((end - start, bottleneck))
}
