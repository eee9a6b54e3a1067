//! CoDel, alone and behind fair queueing.

use shoal_aqm::{
    CeThresholdFor, CodelConfig, CodelParameters, Extent, FlowQueues, FqCodelConfig, QueueConfig,
};
use shoal_units::Span;

use super::{Context, Law};
use crate::quantity::Duration;
use crate::schema::{Codel, FlowClassifier, FqCodel};

/// `fq_codel_change` raises a smaller quantum to this; here it is refused.
const LEAST_QUANTUM: u64 = 256;

impl Law<'_> {
    pub(super) fn codel(&self, codel: &Codel, limit: Extent, cx: &mut Context<'_>) -> Option<QueueConfig> {
        let Codel { target, interval, ecn, ce_threshold, .. } = *codel;
        let law = self.codel_law((target, interval), ecn, (ce_threshold, CeThresholdFor::Ect), cx);
        let limit = self.limit(codel.limit, limit, cx);
        Some(QueueConfig::Codel(CodelConfig { law: law?, limit: limit? }))
    }

    pub(super) fn fq_codel(&self, fq: &FqCodel, limit: Extent, cx: &mut Context<'_>) -> Option<QueueConfig> {
        let FqCodel { target, interval, ecn, ce_threshold, ce_threshold_for, .. } = *fq;
        let law = self.codel_law((target, interval), ecn, (ce_threshold, ce_threshold_for), cx);
        let limit = self.limit(fq.limit, limit, cx);
        let (flows, quantum) = (self.flow_queues(fq, cx), self.quantum(fq, cx));
        let memory = fq.memory_limit.bytes().unwrap_or(u64::MAX);
        if memory < self.port.mtu.into() {
            let hint = format!("write at least \"{} B\"", self.port.mtu);
            cx.error(
                &self.at("memory_limit"),
                format!("the memory does not hold one packet of {} B", self.port.mtu),
                hint,
            );
        }
        let batch = fq.drop_batch.packets().filter(|&packets| packets > 0);
        if batch.is_none() {
            let hint = "as in \"64 packets\"";
            cx.error(&self.at("drop_batch"), "a cut needs a number of packets above 0", hint);
        }
        Some(QueueConfig::FqCodel(FqCodelConfig {
            law: law?,
            flows: flows?,
            quantum_bytes: quantum?,
            limit: limit?,
            memory_limit_bytes: memory,
            drop_batch: batch?,
        }))
    }

    fn codel_law(
        &self,
        (target, interval): (Duration, Duration),
        ecn: bool,
        (ce_threshold, ce_threshold_for): (Option<Duration>, CeThresholdFor),
        cx: &mut Context<'_>,
    ) -> Option<CodelParameters> {
        let target = self.tc_time(target, "target", cx);
        let interval = self.tc_time(interval, "interval", cx);
        if interval.is_some_and(Span::is_zero) {
            cx.error(&self.at("interval"), "without an interval every packet is late", "as in \"100 ms\"");
        } else if let (Some(target), Some(interval)) = (target, interval)
            && target > interval
        {
            let hint = "RFC 8289 recommends 5 % to 10 % of the interval";
            cx.warning(&self.at("target"), "the target is longer than the interval", hint);
        }
        let ce_threshold = match ce_threshold {
            None => None,
            Some(threshold) => Some(self.tc_time(threshold, "ce_threshold", cx)?),
        };
        Some(CodelParameters {
            target: target?,
            interval: interval?,
            ecn,
            ce_threshold,
            ce_threshold_for,
            mtu_bytes: self.port.mtu,
        })
    }

    fn flow_queues(&self, fq: &FqCodel, cx: &mut Context<'_>) -> Option<FlowQueues> {
        match (fq.classifier, fq.flows) {
            (FlowClassifier::Flow, None) => Some(FlowQueues::PerFlow),
            (FlowClassifier::Flow, Some(_)) => {
                let hint = "remove flows, or write classifier = \"hash\"";
                cx.error(&self.at("flows"), "a queue for each flow has no number of queues", hint);
                None
            }
            (FlowClassifier::Hash, flows) => {
                let queues = flows.unwrap_or(1024);
                if !(1..=65_536).contains(&queues) {
                    let hint = "write a number from 1 to 65536, as in 1024";
                    cx.error(&self.at("flows"), format!("{queues} queues"), hint);
                }
                Some(FlowQueues::Hashed(queues))
            }
        }
    }

    fn quantum(&self, fq: &FqCodel, cx: &mut Context<'_>) -> Option<u32> {
        let Some(quantum) = fq.quantum else {
            return Some(self.port.mtu.max(LEAST_QUANTUM as u32));
        };
        let bytes = quantum
            .bytes()
            .filter(|bytes| *bytes >= LEAST_QUANTUM)
            .and_then(|bytes| u32::try_from(bytes).ok());
        if bytes.is_none() {
            let hint = "write at least \"256 B\", as in \"1514 B\"";
            cx.error(&self.at("quantum"), format!("a quantum of {quantum}"), hint);
        }
        bytes
    }
}
