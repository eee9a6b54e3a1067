//! Interactive applications: requests and responses, and frames with a deadline.

use super::sizes::MAX_TRANSFER_BYTES;
use crate::experiment::{App, Think};
use crate::quantity::{Duration, Size};
use crate::remarks::Table;
use crate::schema;

/// Checks the requests of a group; `keys` are those of `app`.
pub(super) fn requests(plan: &schema::Requests, keys: &Table<'_>) -> Option<App> {
    let request_bytes = size(plan.request, "request", "200 B", keys);
    let response_bytes = size(plan.response, "response", "20 kB", keys);
    if plan.rounds == Some(0) {
        keys.error("rounds", "the number of exchanges is 0", "write at least 1, or leave rounds out");
    }
    let at_random = matches!(plan.think, schema::Think::Exponential(_));
    if at_random && plan.think.mean().is_zero() {
        keys.error("think", "the mean of the random times is 0", "as in { exponential = \"10 ms\" }");
    }
    Some(App::Requests {
        request_bytes: request_bytes?,
        response_bytes: response_bytes?,
        rounds: plan.rounds,
        think: Think { mean: plan.think.mean().span(), at_random },
        barrier: plan.barrier,
    })
}

/// Checks the frames of a group; `keys` are those of `app`.
pub(super) fn frames(plan: &schema::Frames, keys: &Table<'_>) -> Option<App> {
    let bytes = size(plan.frame, "frame", "20 kB", keys);
    let time = |value: Duration, key: &str, message: &str, example: &str| {
        if value.is_zero() {
            keys.error(key, message, format!("as in \"{example}\""));
        }
    };
    time(plan.every, "every", "the time between frames is 0: all frames would be written at once", "40 ms");
    time(plan.deadline, "deadline", "the deadline is 0: no frame could arrive in time", "100 ms");
    Some(App::Frames { bytes: bytes?, interval: plan.every.span(), deadline: plan.deadline.span() })
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
