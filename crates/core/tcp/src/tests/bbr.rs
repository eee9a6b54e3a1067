//! The test cases of the appendix of draft-ietf-ccwg-bbr
//! (<https://datatracker.ietf.org/doc/html/draft-ietf-ccwg-bbr>, 4ce5e87d), numbered in its order, on a connection
//! through a bottleneck. They take any controller with the states of version 3. What the document leaves open, the path
//! and the times, was chosen before any run.

mod changes;
mod estimates;
mod losses;
mod probe;
mod rtt;
mod startup;

use crate::testing::{Bottleneck, config};
use crate::{EndpointConfig, Offload, Sender};
use shoal_cc::{PathModel, PathState};
use shoal_units::{Rate, Span};

/// Controllers with the states of version 3.
const CONTROLLERS: [&str; 1] = ["bbr3"];

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

fn paced(cc: &str) -> EndpointConfig {
    EndpointConfig { offload: Some(Offload::PACED), ..config(cc, "linux-6") }
}

/// A path of `kbps` with an RTT and a buffer of so many bandwidth-delay products in percent; the sender has not begun.
fn path(cc: &str, kbps: u64, rtt: Span, buffer_percent: u64) -> Bottleneck {
    let rate = Rate::from_bps(kbps * 1000);
    let product = rate.bytes_in(rtt) * buffer_percent / 100 / 1500;
    let mut path = Bottleneck::new(paced(cc), rate, rtt, usize::try_from(product.max(10)).unwrap());
    path.with_sender(Sender::connect);
    path
}

/// The base path, 20 Mbit/s and 40 ms, with a bulk sender.
fn base(cc: &str, buffer_percent: u64) -> Bottleneck {
    let mut path = path(cc, 20_000, ms(40), buffer_percent);
    greedy(&mut path, true);
    path
}

/// Bandwidth-delay product of the base path in packets: 20 Mbit/s x 40 ms are 100,000 B, 66.7 packets.
const PRODUCT: u32 = 67;

fn greedy(path: &mut Bottleneck, on: bool) {
    path.with_sender(|s, config, now, out| s.set_greedy(config, on, now, out));
}

fn model(path: &Bottleneck) -> PathModel {
    path.sender.path_model().expect("a controller with a model")
}

fn state(path: &Bottleneck) -> PathState {
    model(path).state
}

/// Runs until the controller is in `wanted`.
#[track_caller]
fn until(path: &mut Bottleneck, wanted: PathState, longest_ms: u64) {
    let is_there = path.run_until(ms(longest_ms), |path| state(path) == wanted);
    assert!(is_there, "not in {wanted:?} at {:?}, but in {:?}", path.now, model(path));
}

/// Runs until the controller is in another state than now, and returns it.
#[track_caller]
fn next(path: &mut Bottleneck, longest_ms: u64) -> PathState {
    let before = state(path);
    assert!(path.run_until(ms(longest_ms), |path| state(path) != before), "{before:?} at {:?}", path.now);
    state(path)
}

/// Payload that a link of `kbps` carries in full packets, bytes per second.
fn payload_per_s(kbps: u64) -> f64 {
    kbps as f64 * 125.0 * 1448.0 / 1500.0
}

/// The estimate of the bandwidth over the link's payload rate.
fn estimate(path: &Bottleneck, kbps: u64) -> f64 {
    model(path).bandwidth_bytes_per_s as f64 / payload_per_s(kbps)
}

/// The pacing rate over the estimated bandwidth, less the margin of one percent.
fn pacing_gain(path: &Bottleneck) -> f64 {
    model(path).pacing_bytes_per_s as f64 / model(path).bandwidth_bytes_per_s as f64 / 0.99
}

/// Drops one data packet in `n` for `span` from now on, evenly.
fn drop_one_in(path: &mut Bottleneck, n: u64, span: Span) {
    let (mut count, end) = (0, path.now + span);
    path.hook = Box::new(move |_, now| {
        count += 1;
        (now > end || count % n != 0).then_some(Span::ZERO)
    });
}
