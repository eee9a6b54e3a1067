//! Questions about a link that changes during the run.

use crate::experiment::Link;
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
    /// The rates of the link between two times, in order; zero while it is down. Empty for a pure delay.
    pub fn rates(&self, from: Time, to: Time) -> impl Iterator<Item = Piece<Rate>> {
        let changes = self.schedule.rate.iter().map(|change| (change.at, change.rate));
        let start = self.rate.map(|rate| (Time::ZERO, rate));
        pieces(start.into_iter().chain(changes.filter(move |_| start.is_some())), from, to)
    }

    /// The propagation delays of the link between two times, in order.
    pub fn delays(&self, from: Time, to: Time) -> impl Iterator<Item = Piece<Span>> {
        let changes = self.schedule.delay.iter().map(|change| (change.at, change.delay));
        pieces(std::iter::once((Time::ZERO, self.delay)).chain(changes), from, to)
    }

    /// Mean rate between two times in bit/s, outages included as zero; `None` for a pure delay.
    pub fn mean_rate_bps(&self, from: Time, to: Time) -> Option<f64> {
        let rate = self.rate?;
        if self.schedule.rate.is_empty() {
            return Some(rate.as_bps() as f64);
        }
        let bits = |piece: Piece<Rate>| piece.value.as_bps() as f64 * (piece.to - piece.from).as_secs_f64();
        Some(self.rates(from, to).map(bits).sum::<f64>() / (to - from).as_secs_f64())
    }

    /// Time between two times in which the link is down.
    pub fn down(&self, from: Time, to: Time) -> Span {
        let down = self.rates(from, to).filter(|piece| piece.value.as_bps() == 0);
        down.fold(Span::ZERO, |sum, piece| sum + (piece.to - piece.from))
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
