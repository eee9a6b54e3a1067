//! The distributions behind a link's result, and their tables.

use crate::{Bucket, Histogram, WindowPart};
use shoal_packet::Class;
use shoal_trace::{
    BacklogBucketRow, BacklogWindowRow, DelayBucketRow, DelayWindowRow, LinkIndex, Names, QueueBucketRow,
    QueueClass, Series, Table,
};

/// Everything that a link's meter recorded as distributions.
#[derive(Clone, Debug)]
pub struct LinkDistributions {
    /// Waiting bytes, weighted by picoseconds.
    pub queue_bytes: Histogram,
    /// Waiting packets, weighted by picoseconds.
    pub queue_packets: Histogram,
    /// Waiting ECN-capable packets, weighted by picoseconds.
    pub ect_packets: Histogram,
    /// Waiting packets that are not ECN-capable, weighted by picoseconds.
    pub not_ect_packets: Histogram,
    /// Queueing delay of the ECN-capable packets in picoseconds, one value for each packet.
    pub ect_delay: Histogram,
    /// Queueing delay of the packets that are not ECN-capable in picoseconds, one value for each packet.
    pub not_ect_delay: Histogram,
    /// Waiting packets by window.
    pub backlog_windows: Vec<WindowPart>,
    /// Queueing delay by window.
    pub delay_windows: Vec<WindowPart>,
}

/// The tables of distributions of all links.
#[derive(Debug)]
pub struct DistributionTables {
    delay: Series<DelayBucketRow>,
    bytes: Series<QueueBucketRow>,
    packets: Series<BacklogBucketRow>,
    /// Tables of windows; `None` if there are no windows.
    windows: Option<(Series<BacklogWindowRow>, Series<DelayWindowRow>)>,
}

impl DistributionTables {
    /// Empty tables; those of windows only if requested.
    pub fn new(names: &Names, windows: bool) -> Self {
        Self {
            delay: Series::new(names),
            bytes: Series::new(names),
            packets: Series::new(names),
            windows: windows.then(|| (Series::new(names), Series::new(names))),
        }
    }

    /// Adds the rows of a link.
    pub fn push(&mut self, link: LinkIndex, of: &LinkDistributions) {
        for (class, delay) in [(Class::Ect, &of.ect_delay), (Class::NotEct, &of.not_ect_delay)] {
            for Bucket { low, high, weight } in delay.buckets() {
                let (low_s, high_s) = (seconds(low), seconds(high));
                self.delay.push(DelayBucketRow { link, class, low_s, high_s, packets: weight });
            }
        }
        for Bucket { low, high, weight } in of.queue_bytes.buckets() {
            let time_s = seconds(weight);
            self.bytes.push(QueueBucketRow { link, low_bytes: low, high_bytes: high, time_s });
        }
        for (class, packets) in [
            (QueueClass::All, &of.queue_packets),
            (QueueClass::Ect, &of.ect_packets),
            (QueueClass::NotEct, &of.not_ect_packets),
        ] {
            for Bucket { low, high, weight } in packets.buckets() {
                let time_s = seconds(weight);
                self.packets.push(BacklogBucketRow {
                    link,
                    class,
                    low_packets: low,
                    high_packets: high,
                    time_s,
                });
            }
        }
        let Some((backlogs, delays)) = &mut self.windows else { return };
        for part in &of.backlog_windows {
            for &Bucket { low, high, weight } in &part.buckets {
                backlogs.push(BacklogWindowRow {
                    start_s: part.start.as_secs_f64(),
                    end_s: part.end.as_secs_f64(),
                    link,
                    class: part.class,
                    low_packets: low,
                    high_packets: high,
                    time_s: seconds(weight),
                });
            }
        }
        for part in &of.delay_windows {
            for &Bucket { low, high, weight } in &part.buckets {
                delays.push(DelayWindowRow {
                    start_s: part.start.as_secs_f64(),
                    end_s: part.end.as_secs_f64(),
                    link,
                    class: part.class,
                    low_s: seconds(low),
                    high_s: seconds(high),
                    packets: weight,
                });
            }
        }
    }

    /// The finished tables.
    pub fn into_tables(self) -> Vec<Table> {
        let mut tables = vec![self.delay.into_table(), self.bytes.into_table(), self.packets.into_table()];
        if let Some((backlogs, delays)) = self.windows {
            tables.extend([backlogs.into_table(), delays.into_table()]);
        }
        tables
    }
}

fn seconds(picos: u64) -> f64 {
    picos as f64 / 1e12
}
