//! Applications: how much data they write, and when.

use crate::datagrams::Datagrams;
use crate::exchanges::Exchanges;
use shoal_measure::{AppMeter, FrameMeter};
use shoal_scenario::{App, Experiment, Flow};
use shoal_tcp::{EndpointConfig, Output, Sender};
use shoal_units::Time;

/// Application of a flow, with the state and the meter that its kind needs beside a [`Writer`].
pub(crate) enum Application {
    /// A stream of bytes: bulk data, transfers, a constant rate, on and off.
    Stream,
    /// Frames with deadlines; the meter belongs to the receiver.
    Frames(Box<FrameMeter>),
    /// A client that sends requests, and a server that answers them.
    Exchanges(Box<Exchanges>),
    /// Unresponsive datagrams, which need no connection.
    Datagrams(Box<Datagrams>),
    /// What carries the requests of the client of the flow in this slot.
    Asking(usize),
}

impl Application {
    /// Application of flow `number`; a client's requests take the next of the slots `requests`.
    pub(crate) fn of(
        experiment: &Experiment,
        number: u32,
        flow: &Flow,
        requests: &mut impl Iterator<Item = usize>,
    ) -> Self {
        let frames = || match flow.app {
            App::Frames { size, interval, deadline } => {
                let (is_adaptive, window_start) = (size.is_adaptive(), Time::ZERO + experiment.warmup);
                Some(Self::Frames(Box::new(FrameMeter::new(is_adaptive, interval, deadline, window_start))))
            }
            _ => None,
        };
        let exchanges = Exchanges::of(experiment, number, flow, requests).map(Self::Exchanges);
        let datagrams = || Datagrams::of(experiment, number, flow).map(Self::Datagrams);
        exchanges.or_else(datagrams).or_else(frames).unwrap_or(Self::Stream)
    }

    /// Meter of the application.
    pub(crate) fn meter(&self) -> AppMeter<'_> {
        match self {
            Self::Stream | Self::Asking(_) => AppMeter::None,
            Self::Frames(frames) => AppMeter::Frames(frames),
            Self::Exchanges(exchanges) => AppMeter::Exchanges(&exchanges.meter),
            Self::Datagrams(datagrams) => AppMeter::Datagrams(&datagrams.meter),
        }
    }
}

/// What an application writes to its connection, and when.
#[derive(Clone, Debug, Default)]
pub(crate) struct Writer {
    /// Number of transfers that have begun.
    begun: u32,
    /// Stream position whose acknowledgement (at a barrier: delivery) ends the current transfer; 0 before the
    /// first transfer.
    target: u64,
    began_at: Time,
    first_at: Time,
    on: bool,
    stopped: bool,
    /// Completion times of finished transfers.
    pub(crate) completions: Vec<shoal_units::Span>,
}

impl Writer {
    /// Starts the application; returns when it is to be called again.
    pub(crate) fn start(
        &mut self,
        app: &App,
        config: &EndpointConfig,
        sender: &mut Sender,
        now: Time,
        out: &mut impl Output,
    ) -> Option<Time> {
        self.first_at = now;
        sender.connect(config, now, out);
        self.wake(app, config, sender, now, out)
    }

    /// Called at the requested time; returns the next one.
    pub(crate) fn wake(
        &mut self,
        app: &App,
        config: &EndpointConfig,
        sender: &mut Sender,
        now: Time,
        out: &mut impl Output,
    ) -> Option<Time> {
        if self.stopped {
            return None;
        }
        match *app {
            App::Bulk => {
                sender.set_greedy(config, true, now, out);
                None
            }
            App::Transfers { bytes, rounds, .. } => {
                self.begun += 1;
                self.began_at = now;
                self.target = self.target.max(1) + bytes;
                if self.begun == rounds {
                    sender.write_last(config, bytes, now, out);
                } else {
                    sender.write(config, bytes, now, out);
                }
                None
            }
            App::ConstantRate { chunk_bytes, interval } => {
                sender.write(config, u64::from(chunk_bytes), now, out);
                Some(now + interval)
            }
            App::OnOff { on, off } => {
                self.on = !self.on;
                sender.set_greedy(config, self.on, now, out);
                Some(now + if self.on { on } else { off })
            }
            App::Frames { size, interval, .. } => {
                let bytes = if size.is_adaptive() {
                    size.bytes(sender.bytes_per_s(config), sender.unsent_bytes())
                } else {
                    size.least_bytes
                };
                sender.write(config, bytes, now, out);
                Some(now + interval)
            }
            // A server writes when it is asked, and datagrams have no connection.
            App::Requests { .. } | App::Page { .. } | App::Unresponsive { .. } => None,
        }
    }

    /// Whether the application will write no more.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Number of transfers that have begun.
    pub(crate) fn transfers_begun(&self) -> u64 {
        self.begun.into()
    }

    /// Ends the writing at the stop time of the flow.
    pub(crate) fn stop(
        &mut self,
        app: &App,
        config: &EndpointConfig,
        sender: &mut Sender,
        now: Time,
        out: &mut impl Output,
    ) {
        if !self.stopped {
            self.stopped = true;
            // Waiting frames and the last response are still sent, because the receiver waits for them.
            if !matches!(app, App::Frames { .. } | App::Requests { .. } | App::Page { .. }) {
                sender.set_greedy(config, false, now, out);
            }
            sender.close(config, now, out);
        }
    }

    /// Stream position whose acknowledgement is to be reported to [`Writer::on_progress`]; [`u64::MAX`] if
    /// there is none.
    pub(crate) fn milestone(&self, app: &App) -> u64 {
        match app {
            _ if self.stopped => 0,
            // All transfers but the last end when they are delivered.
            App::Transfers { barrier: true, rounds, .. } if self.begun < *rounds => u64::MAX,
            App::Transfers { barrier: true, .. } => self.target,
            App::Transfers { .. } if self.completions.len() < self.begun as usize => self.target,
            _ => u64::MAX,
        }
    }

    /// Called when the milestone was acknowledged. Returns when the next transfer begins, and whether the
    /// flow has finished.
    pub(crate) fn on_progress(&mut self, app: &App, sender: &Sender, now: Time) -> (Option<Time>, bool) {
        if let App::Transfers { rounds, barrier: true, .. } = *app
            && self.begun == rounds
            && sender.snd_una() >= self.target
        {
            return (None, true);
        }
        if let App::Transfers { rounds, interval, barrier: false, .. } = *app
            && self.completions.len() < self.begun as usize
            && sender.snd_una() >= self.target
        {
            self.completions.push(now.since(self.began_at));
            if self.begun < rounds && !self.stopped {
                let due = self.first_at.saturating_add(interval.saturating_mul(u64::from(self.begun)));
                return (Some(due.max(now)), false);
            }
            return (None, self.begun == rounds || self.stopped);
        }
        (None, self.stopped && sender.is_drained())
    }

    /// Bytes whose delivery in order ends the current transfer of a round with a barrier.
    pub(crate) fn awaited_bytes(&self, app: &App) -> u64 {
        let waits = matches!(app, App::Transfers { barrier: true, .. })
            && self.completions.len() < self.begun as usize;
        // The stream begins at position 1.
        if waits { self.target - 1 } else { u64::MAX }
    }

    /// Called when these bytes have been delivered.
    pub(crate) fn on_delivered(&mut self, now: Time) {
        self.completions.push(now.since(self.began_at));
    }
}
