//! Applications: who writes how much, when.

use shoal_scenario::App;
use shoal_tcp::{EndpointConfig, Output, Sender};
use shoal_units::Time;

/// State of an application.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppState {
    /// Transfers begun.
    begun: u32,
    /// Stream position whose acknowledgement ends the current transfer; 0 if none is under way.
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
            App::Unresponsive { .. } => unreachable!("has no connection"),
        }
    }

    /// Bytes of a transfer, if there are transfers, and how many began.
    pub(crate) fn transfers(&self, app: &App) -> (Option<u64>, u64) {
        match *app {
            App::Transfers { bytes, .. } => (Some(bytes), u64::from(self.begun)),
            _ => (None, 0),
        }
    }

    /// The flow's end has come: nothing more is written.
    pub(crate) fn stop(
        &mut self,
        config: &EndpointConfig,
        sender: &mut Sender,
        now: Time,
        out: &mut impl Output,
    ) {
        if !self.stopped {
            self.stopped = true;
            sender.set_greedy(config, false, now, out);
            sender.close(config, now, out);
        }
    }

    /// Stream position at which [`AppState::on_progress`] is interesting; [`u64::MAX`] if at none.
    pub(crate) fn milestone(&self, app: &App) -> u64 {
        match app {
            _ if self.stopped => 0,
            App::Transfers { .. } if self.completions.len() < self.begun as usize => self.target,
            _ => u64::MAX,
        }
    }

    /// The milestone was acknowledged. Returns when the next transfer begins, and whether the flow has finished.
    pub(crate) fn on_progress(&mut self, app: &App, sender: &Sender, now: Time) -> (Option<Time>, bool) {
        if let App::Transfers { rounds, interval, .. } = *app
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
}
