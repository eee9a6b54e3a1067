//! Interactive applications: requests and responses, and frames with a deadline.

use super::sizes::MAX_TRANSFER_BYTES;
use crate::experiment::{App, FrameSize, Think};
use crate::quantity::{DataRate, Duration, Size};
use crate::remarks::Table;
use crate::schema::{self, TransferSize};

/// Checks the requests of a group; `keys` are those of `app`.
pub(super) fn requests(plan: &schema::Requests, keys: &Table<'_>) -> Option<App> {
    let request_bytes = size(plan.request, "request", "200 B", keys);
    let response_bytes = size(plan.response, "response", "20 kB", keys);
    if plan.rounds == Some(0) {
        keys.error("rounds", "the number of exchanges is 0", "write at least 1, or leave rounds out");
    }
    let think = think(plan.think, keys);
    Some(App::Requests {
        request_bytes: request_bytes?,
        response_bytes: response_bytes?,
        rounds: plan.rounds,
        think,
        barrier: plan.barrier,
    })
}

/// Checks the pages of a group; `keys` are those of `app`.
pub(super) fn pages(plan: &schema::Pages, keys: &Table<'_>) -> Option<App> {
    let request_bytes = size(plan.request, "request", "400 B", keys);
    let object_bytes = match &plan.object {
        TransferSize::Fixed(bytes) => size(*bytes, "object", "10 kB", keys),
        // Each object has a size of its own.
        TransferSize::Drawn(_) => Some(0),
        TransferSize::Listed => {
            keys.error(
                "object",
                "pages have no list of sizes",
                "write a size, or { distribution = \"web-search\" }",
            );
            None
        }
    };
    if plan.page == 0 {
        keys.error("page", "a page has no objects", "write at least 1");
    }
    if plan.connections == 0 {
        keys.error("connections", "a browser has no connections", "write at least 1");
    }
    if plan.rounds == Some(0) {
        keys.error("rounds", "the number of pages is 0", "write at least 1, or leave rounds out");
    }
    let think = think(plan.think, keys);
    Some(App::Page {
        objects: plan.page,
        request_bytes: request_bytes?,
        object_bytes: object_bytes?,
        connections: plan.connections.max(1),
        rounds: plan.rounds,
        think,
    })
}

/// Checks a think time.
fn think(plan: schema::Think, keys: &Table<'_>) -> Think {
    let at_random = matches!(plan, schema::Think::Exponential(_));
    if at_random && plan.mean().is_zero() {
        keys.error("think", "the mean of the random times is 0", "as in { exponential = \"10 ms\" }");
    }
    Think { mean: plan.mean().span(), at_random }
}

/// Checks the frames of a group; `keys` are those of `app`.
pub(super) fn frames(plan: &schema::Frames, keys: &Table<'_>) -> Option<App> {
    let size = match &plan.frame {
        schema::Frame::Constant(bytes) => size(*bytes, "frame", "20 kB", keys).map(FrameSize::constant),
        schema::Frame::Adaptive(encoder) => adaptive(encoder, plan.every, &keys.table("frame")),
    };
    let time = |value: Duration, key: &str, message: &str, example: &str| {
        if value.is_zero() {
            keys.error(key, message, format!("as in \"{example}\""));
        }
    };
    time(plan.every, "every", "the time between frames is 0: all frames would be written at once", "40 ms");
    time(plan.deadline, "deadline", "the deadline is 0: no frame could arrive in time", "100 ms");
    Some(App::Frames { size: size?, interval: plan.every.span(), deadline: plan.deadline.span() })
}

/// Checks an encoder whose frames come `every` so often; `keys` are those of `frame`.
fn adaptive(plan: &schema::Encoder, every: Duration, keys: &Table<'_>) -> Option<FrameSize> {
    let bytes = |rate: DataRate, key: &str| {
        let bps = u128::from(rate.rate().map_or(u64::MAX, |rate| rate.as_bps()));
        let bytes = u64::try_from(bps * u128::from(every.span().as_picos()) / 8_000_000_000_000).ok();
        let bytes = bytes.filter(|bytes| (1..=MAX_TRANSFER_BYTES).contains(bytes));
        if bytes.is_none() && !every.is_zero() {
            let message = format!("a frame of this rate is not from 1 to {MAX_TRANSFER_BYTES} B long");
            keys.error(key, message, "as in { min_rate = \"150 kbit/s\", max_rate = \"8 Mbit/s\" }");
        }
        bytes
    };
    let (least_bytes, most_bytes) = (bytes(plan.min_rate, "min_rate")?, bytes(plan.max_rate, "max_rate")?);
    if least_bytes >= most_bytes {
        let message = "max_rate is not above min_rate: all frames would have one size";
        keys.error("max_rate", message, "write a higher rate, or a size in place of the rates");
    }
    let budget = plan.budget.map_or(every.span() / 10 * 9, Duration::span);
    if plan.budget.is_some_and(Duration::is_zero) || budget > every.span() {
        keys.error("budget", "a frame has above 0 s and at most the time to the next one", "as in \"20 ms\"");
    }
    Some(FrameSize { least_bytes, most_bytes, budget })
}

/// A size between 1 B and the most that a run can deliver.
fn size(size: Size, key: &str, example: &str, keys: &Table<'_>) -> Option<u64> {
    let bytes = size.bytes().filter(|bytes| (1..=MAX_TRANSFER_BYTES).contains(bytes));
    if bytes.is_none() {
        let message = format!("a {key} has from 1 to {MAX_TRANSFER_BYTES} B");
        keys.error(key, message, format!("as in \"{example}\""));
    }
    bytes
}
