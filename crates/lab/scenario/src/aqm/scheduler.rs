//! Schedulers of dual queues.

use shoal_aqm::SchedulerConfig;

use super::Place;
use crate::field::choices;
use crate::quantity::Duration;

/// Schedulers of dual queues by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchedulerName {
    /// Strict priority of the low-latency queue.
    Priority,
    /// Weighted round robin.
    Weighted,
    /// Time-shifted FIFO.
    TimeShifted,
}

choices!(SchedulerName {
    "priority" => Self::Priority,
    "weighted" => Self::Weighted,
    "time-shifted" => Self::TimeShifted,
});

impl Place<'_> {
    pub(super) fn scheduler(
        &self,
        name: SchedulerName,
        classic_percent: Option<u16>,
        shift: Option<Duration>,
    ) -> Option<SchedulerConfig> {
        let foreign = [
            ("classic_percent", classic_percent.is_some(), SchedulerName::Weighted, "weighted"),
            ("shift", shift.is_some(), SchedulerName::TimeShifted, "time-shifted"),
        ];
        for (key, given, owner, owner_name) in foreign {
            if given && name != owner {
                let message = format!("{key} needs scheduler = \"{owner_name}\"");
                self.keys.error(key, message, "remove it, or change the scheduler");
            }
        }
        match name {
            SchedulerName::Priority => Some(SchedulerConfig::StrictPriority),
            SchedulerName::TimeShifted => Some(SchedulerConfig::TimeShifted { shift: shift?.span() }),
            SchedulerName::Weighted => {
                let percent = classic_percent?;
                if percent > 100 {
                    let hint = "write a whole number from 0 to 100, as in 10";
                    self.keys.error("classic_percent", format!("a share of {percent} %"), hint);
                    return None;
                }
                Some(SchedulerConfig::Weighted { classic_percent: u8::try_from(percent).ok()? })
            }
        }
    }
}
