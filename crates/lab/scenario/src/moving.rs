//! Questions about a link that changes during the run.

use crate::experiment::{Link, OpportunitySchedule};
use shoal_units::{Rate, Span, Time};

/// A value of a link and the time for which it holds: from `from` to before `to`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece<V> {
    /// When it begins.
    pub from: Time,
    /// When the next value begins, or what was asked about ends.
    pub to: Time,
    /// The value.
    pub value: V,
}

impl Link {
    /// The rates of the link between two times, in order; zero while it is down. Empty for a pure delay. Of
    /// opportunities to send they are means over equal intervals.
    pub fn rates(&self, from: Time, to: Time) -> impl Iterator<Item = Piece<Rate>> {
        let changes = self.schedule.rate.iter().map(|change| (change.at, change.rate));
        let start =
            self.rate.filter(|_| self.schedule.opportunities.is_none()).map(|rate| (Time::ZERO, rate));
        let own = self.schedule.opportunities.as_ref();
        let means = own.into_iter().flat_map(move |own| own.means(from, to));
        pieces(start.into_iter().chain(changes.filter(move |_| start.is_some())).chain(means), from, to)
    }

    /// The propagation delays of the link between two times, in order.
    pub fn delays(&self, from: Time, to: Time) -> impl Iterator<Item = Piece<Span>> {
        let changes = self.schedule.delay.iter().map(|change| (change.at, change.delay));
        pieces(std::iter::once((Time::ZERO, self.delay)).chain(changes), from, to)
    }

    /// Mean rate between two times in bit/s, outages included as zero; `None` for a pure delay.
    pub fn mean_rate_bps(&self, from: Time, to: Time) -> Option<f64> {
        let rate = self.rate?;
        if let Some(own) = &self.schedule.opportunities {
            let bits = 8.0 * own.opportunities.bytes_between(from, to) as f64;
            return Some(bits / (to - from).as_secs_f64());
        }
        if self.schedule.rate.is_empty() {
            return Some(rate.as_bps() as f64);
        }
        let bits = |piece: Piece<Rate>| piece.value.as_bps() as f64 * (piece.to - piece.from).as_secs_f64();
        Some(self.rates(from, to).map(bits).sum::<f64>() / (to - from).as_secs_f64())
    }

    /// Time between two times in which the link is down. Between two opportunities to send it is not.
    pub fn down(&self, from: Time, to: Time) -> Span {
        if self.schedule.opportunities.is_some() {
            return Span::ZERO;
        }
        let down = self.rates(from, to).filter(|piece| piece.value.as_bps() == 0);
        down.fold(Span::ZERO, |sum, piece| sum + (piece.to - piece.from))
    }
}

impl OpportunitySchedule {
    /// Mean rates over the intervals of which some part lies between two times, and when they begin.
    fn means(&self, from: Time, to: Time) -> impl Iterator<Item = (Time, Rate)> {
        let width = self.mean_over.as_picos();
        let edge = move |number: u64| Time::from_picos(number.saturating_mul(width));
        let numbers = from.as_picos() / width..to.as_picos().div_ceil(width);
        numbers
            .map(move |number| (edge(number), self.opportunities.mean_rate(edge(number), edge(number + 1))))
    }

    /// Mean rate of the interval in which `at` lies.
    pub fn mean_rate_at(&self, at: Time) -> Rate {
        let (_, rate) =
            self.means(at, Time::from_picos(at.as_picos() + 1)).next().unwrap_or((at, Rate::from_bps(0)));
        rate
    }
}

/// Values that hold each from its time on, the first from zero on, between two times.
fn pieces<V: Copy>(
    values: impl Iterator<Item = (Time, V)>,
    from: Time,
    to: Time,
) -> impl Iterator<Item = Piece<V>> {
    let mut values = values.peekable();
    std::iter::from_fn(move || {
        loop {
            let (since, value) = values.next()?;
            let until = values.peek().map_or(to, |(next, _)| (*next).min(to));
            let piece = Piece { from: since.max(from), to: until, value };
            if piece.from < piece.to {
                return Some(piece);
            }
            if since >= to {
                return None;
            }
        }
    })
}
