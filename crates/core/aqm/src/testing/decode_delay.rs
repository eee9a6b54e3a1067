//! Bytes to configurations of the laws that Linux has beside RED.

use super::Input;
use crate::{
    CeThresholdFor, CodelConfig, CodelParameters, FlowQueues, FqCodelConfig, GRED_QUEUES, GredConfig,
    GredQueueConfig, PieConfig,
};
use shoal_units::Span;

impl Input<'_> {
    pub(super) fn codel(&mut self) -> CodelConfig {
        CodelConfig { law: self.codel_law(), limit: self.extent() }
    }

    pub(super) fn fq_codel(&mut self) -> FqCodelConfig {
        FqCodelConfig {
            law: self.codel_law(),
            flows: match self.byte() % 4 {
                0 => FlowQueues::PerFlow,
                n => FlowQueues::Hashed([1, 3, 1024][usize::from(n - 1)]),
            },
            quantum_bytes: u32::from(self.short()),
            limit: self.extent(),
            memory_limit_bytes: if self.flag() { u64::MAX } else { u64::from(self.short()) << 3 },
            drop_batch: u32::from(self.byte() % 65),
        }
    }

    pub(super) fn pie(&mut self) -> PieConfig {
        PieConfig {
            target: self.delay(),
            tupdate: self.delay(),
            alpha: u32::from(self.byte()),
            beta: u32::from(self.byte()),
            ecn: self.flag(),
            bytemode: self.flag(),
            dq_rate_estimator: self.flag(),
            mtu_bytes: u32::from(self.short()),
            limit: self.extent(),
        }
    }

    pub(super) fn gred(&mut self) -> GredConfig {
        let mut queues = [None; GRED_QUEUES];
        let which = self.byte();
        for (n, queue) in queues.iter_mut().enumerate() {
            if which >> n & 1 == 0 {
                *queue = Some(GredQueueConfig { red: self.linux_red(), priority: self.byte() % 4 });
            }
        }
        GredConfig {
            limit_bytes: u32::from(self.short()) << (self.byte() % 8),
            grio: self.flag(),
            queues,
            queue_of: core::array::from_fn(|_| self.byte() % 5),
        }
    }

    fn codel_law(&mut self) -> CodelParameters {
        CodelParameters {
            target: self.delay(),
            interval: self.delay(),
            ecn: self.flag(),
            ce_threshold: if self.flag() { Some(self.delay()) } else { None },
            ce_threshold_for: if self.flag() { CeThresholdFor::Ect } else { CeThresholdFor::Ect1 },
            mtu_bytes: u32::from(self.short()),
        }
    }

    /// From nothing to 18 hours; often some milliseconds.
    fn delay(&mut self) -> Span {
        let micros = u64::from(self.short());
        Span::from_micros(micros << if self.flag() { 0 } else { self.byte() % 20 })
    }
}
