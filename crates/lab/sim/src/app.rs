//! Applications: who writes how much, when.

use shoal_scenario::App;
use shoal_tcp::{EndpointConfig, Output, Sender};
use shoal_units::Time;

/// State of an application.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppState {
    /// Transfers begun.
    begun: u32,
    /// Stream position after the current transfer, whose acknowledgement (at a barrier: delivery) ends it; 0 before the first.
    target: u64,
    began_at: Time,
    first_at: Time,
    on: bool,
    stopped: bool,
    /// Completion times of finished transfers.
    pub(crate) completions: Vec<shoal_units::Span>,
}

impl AppState {
    /// The flow begins; returns when the application wants to be called again.
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

    /// A time it asked for has come; returns the next one.
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
            App::Frames { bytes, interval, .. } => {
                sender.write(config, bytes, now, out);
                Some(now + interval)
            }
            App::Requests { .. } => unreachable!("writes when it is asked"),
            App::Unresponsive { .. } => unreachable!("has no connection"),
        }
    }

    /// Nothing more will be written.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Transfers that began.
    pub(crate) fn transfers_begun(&self) -> u64 {
        self.begun.into()
    }

    /// The flow's end has come: nothing more is written.
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
            // Frames that wait and the last response still have somebody who waits for them.
            if !matches!(app, App::Frames { .. } | App::Requests { .. }) {
                sender.set_greedy(config, false, now, out);
            }
            sender.close(config, now, out);
        }
    }

    /// Stream position at which [`AppState::on_progress`] is interesting; [`u64::MAX`] if at none.
    pub(crate) fn milestone(&self, app: &App) -> u64 {
        match app {
            _ if self.stopped => 0,
            // All but the last are over when they are delivered.
            App::Transfers { barrier: true, rounds, .. } if self.begun < *rounds => u64::MAX,
            App::Transfers { barrier: true, .. } => self.target,
            App::Transfers { .. } if self.completions.len() < self.begun as usize => self.target,
            _ => u64::MAX,
        }
    }

    /// The milestone was acknowledged. Returns when the next transfer begins, and whether the flow has finished.
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

    /// Bytes whose delivery in order ends the current transfer of a round that waits for all flows.
    pub(crate) fn awaited_bytes(&self, app: &App) -> u64 {
        let waits = matches!(app, App::Transfers { barrier: true, .. })
            && self.completions.len() < self.begun as usize;
        // The stream begins at position 1.
        if waits { self.target - 1 } else { u64::MAX }
    }

    /// Those have been delivered.
    pub(crate) fn on_delivered(&mut self, now: Time) {
        self.completions.push(now.since(self.began_at));
    }
}
