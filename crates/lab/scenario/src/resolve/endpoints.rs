//! The endpoint configuration of each flow group.

use shoal_cc::{CcConfig, CubicArithmetic, CubicConfig, EcnUse};
use shoal_tcp::{
    CwrAck, EcnFeedback, EcnSetting, EndpointConfig, Misbehaviour, Profile, ReceiverConfig, Tso,
};

use shoal_units::Span;

use super::Context;
use crate::experiment::Replacement;
use crate::quantity::Duration;
use crate::remarks::Table;
use crate::schema::{self, FlowGroup, Workload};

/// The largest window that TCP can express: 65,535 with a scale of 14 ([RFC 7323, section
/// 2.2](https://www.rfc-editor.org/rfc/rfc7323#section-2.2)).
const MAX_WINDOW_BYTES: u32 = 65_535 << 14;

/// The most ACKs that a misbehaving receiver sends for one, and packets that it acknowledges ahead.
const MOST_ACKS: u32 = 1000;
const MOST_PACKETS_AHEAD: u32 = 10_000;

/// IPv4 and TCP with the timestamp option, padded to 12 bytes ([RFC 7323, appendix
/// A](https://www.rfc-editor.org/rfc/rfc7323#appendix-A)).
const HEADER_BYTES_WITH_TIMESTAMPS: u16 = 52;

/// Bytes of unsent data in the socket of an endless stream.
const UNSENT_BYTES: u32 = 128 << 10;
/// Bytes of unsent data of an application that stops at a given time: they are sent even after that, so there must be
/// few. It writes the next packet when the last one has left.
const UNSENT_BYTES_OF_STOPPING: u32 = 1;

/// Endpoint configuration of group `index`.
pub(super) fn endpoint(index: usize, cx: &Context<'_>) -> Option<EndpointConfig> {
    let group = &cx.scenario.flows[index];
    let keys = cx.group(index);

    let cc = schema::cc_config(group, &keys);
    let ecn = group.ecn.unwrap_or(EcnSetting::Off);

    let stack = Profile::by_name(&group.stack);
    if let (Some(CcConfig::Cubic(CubicConfig { arithmetic: CubicArithmetic::Linux, .. })), Some(stack)) =
        (cc, stack)
        && stack.linux().is_none()
    {
        keys.error(
            "cc",
            format!("{} counts packets, but the windows of {} are bytes", group.cc, stack.name),
            "write cc = \"cubic-rfc9438\", or a linux stack",
        );
    }
    let is_sampled = cc.is_some_and(|cc| cc.needs_rate_samples());
    if is_sampled && stack.is_some_and(|stack| stack.linux().is_none_or(|rules| rules.tso != Tso::Linux6)) {
        keys.error(
            "cc",
            format!("{} needs rate samples and pacing, which {} does not have", group.cc, group.stack),
            "write stack = \"linux-6\"",
        );
    }
    if matches!(cc, Some(CcConfig::Ledbat(_))) && group.header_bytes < HEADER_BYTES_WITH_TIMESTAMPS {
        let message =
            format!("{} measures delays by timestamps, for which the headers have no room", group.cc);
        keys.error("header_bytes", message, "52 is IPv4 with timestamps");
    }
    let receiver = receiver(index, ecn, cx);
    let needs_accurate = cc.is_some_and(|cc| cc.ecn_use() == EcnUse::L4s) && ecn == EcnSetting::On;
    check_accurate(index, needs_accurate, cx);

    let mtu = checked_mtu(group, &keys);
    let initial_window = group.initial_window.and_then(|window| window.packets());
    if initial_window.is_none_or(|packets| packets == 0) {
        keys.error(
            "initial_window",
            "the initial window is not a number of packets above 0",
            "as in \"10 packets\"",
        );
    }
    let cwnd_clamp = group.cwnd_clamp.packets().unwrap_or(u32::MAX);
    if cwnd_clamp < 2 {
        keys.error("cwnd_clamp", "cwnd needs at least 2 packets", "as in \"100 packets\" or \"unlimited\"");
    }
    let receive_window = receive_window(group, mtu, &keys);
    let stops = matches!(group.app, Workload::OnOff(_)) || group.stop.is_some();

    Some(EndpointConfig {
        stack: stack?,
        receiver,
        cc: cc?,
        ecn,
        ecn_option: group.ecn_option.unwrap_or_default(),
        mtu_bytes: mtu?,
        header_bytes: group.header_bytes,
        sack: group.sack,
        delayed_ack: group.delayed_ack,
        initial_window,
        receive_window_bytes: receive_window?,
        cwnd_clamp_packets: cwnd_clamp,
        no_delay: true,
        unsent_bytes: if stops { UNSENT_BYTES_OF_STOPPING } else { UNSENT_BYTES },
        offload: None,
    })
}

/// The controller that takes the place of that of group `index` in a run of `duration`.
pub(super) fn replacement(index: usize, duration: Span, cx: &Context<'_>) -> Option<Replacement> {
    let group = &cx.scenario.flows[index];
    let replace = group.replace.as_ref()?;
    let keys = cx.group(index).table("replace");
    if let Workload::Unresponsive(_) | Workload::Requests(_) | Workload::Pages(_) = group.app {
        let hint = "remove replace, or write another app";
        keys.refuse("only flows whose data go one way, on a connection, can have another controller", hint);
        return None;
    }
    if Profile::by_name(&group.stack).is_some_and(|stack| stack.linux().is_none()) {
        let message = format!("on {} it is not modelled how a controller takes over", group.stack);
        keys.refuse(message, "write stack = \"linux-6\"");
        return None;
    }
    let after = replace.after.span();
    if after.is_zero() {
        let hint = "write it as cc of the flows, or a time above 0";
        keys.error("after", "the flows would begin with this controller", hint);
    } else if after >= duration && !duration.is_zero() {
        let hint = format!("the duration is {}", cx.scenario.duration);
        keys.warning("after", "no flow runs that long: its controller stays", hint);
    }
    let config = schema::known_preset(&replace.cc, &keys)?;
    if config.needs_rate_samples() {
        let message = format!("{} paces, and the host of these flows does not", replace.cc);
        keys.error("cc", message, "write it as cc of the flows, which another one may replace");
    }
    match config.ecn_use() {
        EcnUse::L4s => {
            let message = format!("{} needs accurate ECN, for which it asks with its SYN", replace.cc);
            keys.error("cc", message, "write it as cc of the flows, which another one may replace");
        }
        EcnUse::Dctcp if group.ecn != Some(EcnSetting::On) => {
            let message = format!("{} needs ECN, and the flows do not ask for it", replace.cc);
            keys.error("cc", message, "write ecn = \"on\" into the group");
        }
        EcnUse::Dctcp | EcnUse::Classic => {}
    }
    Some(Replacement { cc: replace.cc.clone(), config, after })
}

/// The stack of today, the first in which a model of accurate ECN is.
const STACK_WITH_ACCURATE: &str = "linux-6";

/// Refuses accurate ECN on hosts that do not have it; the controller `needs` it, or not.
fn check_accurate(index: usize, needs: bool, cx: &Context<'_>) {
    let group = &cx.scenario.flows[index];
    let receiver = group.receiver.as_ref();
    let feedback = receiver.and_then(|receiver| receiver.feedback);
    let keys = cx.group(index);
    let is_accurate = feedback.map_or(needs, |feedback| feedback == EcnFeedback::Accurate);
    if !is_accurate {
        if group.ecn_option.is_some() {
            let hint = "write receiver = { feedback = \"accurate\" } beside it, or leave it out";
            keys.warning("ecn_option", "without accurate ECN there is no option", hint);
        }
        return;
    }
    let hint = format!("write stack = \"{STACK_WITH_ACCURATE}\", or another feedback");
    let own = receiver.and_then(|receiver| receiver.stack.as_deref());
    for (table, stack) in [(&keys, Some(group.stack.as_str())), (&keys.table("receiver"), own)] {
        if let Some(stack) = stack.filter(|stack| *stack != STACK_WITH_ACCURATE) {
            table.error("stack", format!("{stack} has no accurate ECN"), hint.clone());
        }
    }
}

/// Size of the group's packets in bytes.
fn checked_mtu(group: &FlowGroup, keys: &Table<'_>) -> Option<u16> {
    let mtu = group.mtu.bytes().and_then(|bytes| u16::try_from(bytes).ok());
    match mtu {
        None => keys.error("mtu", "an IP packet has at most 65535 B", "as in mtu = \"1500 B\""),
        Some(mtu) if mtu <= group.header_bytes => {
            let hint = format!("write more than header_bytes = {}", group.header_bytes);
            keys.error("mtu", "the packets have no room for data", hint);
        }
        // IPv4 and TCP without any option: 20 + 20 bytes.
        Some(_) if group.header_bytes < 40 => {
            let hint = "52 is IPv4 with timestamps";
            keys.error("header_bytes", "IP and TCP headers have at least 40 bytes", hint);
        }
        Some(_) => {}
    }
    mtu
}

/// Receive window in bytes; it holds a packet of `mtu`.
fn receive_window(group: &FlowGroup, mtu: Option<u16>, keys: &Table<'_>) -> Option<u32> {
    let receive_window = match group.receive_window.bytes() {
        None => Some(MAX_WINDOW_BYTES),
        Some(bytes) => u32::try_from(bytes).ok().filter(|bytes| *bytes <= MAX_WINDOW_BYTES),
    };
    match (receive_window, mtu) {
        (None, _) => {
            let hint = format!("at most {MAX_WINDOW_BYTES} B, or \"unlimited\"");
            keys.error("receive_window", "TCP cannot express this window", hint);
        }
        (Some(bytes), Some(mtu)) if bytes < u32::from(mtu) => {
            let hint = "as in \"64 KiB\" or \"unlimited\"";
            keys.error("receive_window", "the window holds less than one packet", hint);
        }
        _ => {}
    }
    receive_window
}

/// Receiver configuration of group `index`.
fn receiver(index: usize, ecn: EcnSetting, cx: &Context<'_>) -> ReceiverConfig {
    let group = &cx.scenario.flows[index];
    let Some(receiver) = &group.receiver else { return ReceiverConfig::default() };
    let keys = cx.group(index).table("receiver");
    if let Workload::Requests(_) | Workload::Pages(_) = group.app {
        let hint = "remove receiver, or write another app";
        keys.refuse("requests go both ways: their ends must be alike", hint);
    }
    if ecn == EcnSetting::Off {
        for (key, written) in [
            ("feedback", receiver.feedback.is_some()),
            ("delays_cwr_acks", receiver.delays_cwr_acks.is_some()),
        ] {
            if written {
                let hint = "write ecn = \"on\" beside receiver";
                keys.warning(key, "without ECN there is no feedback", hint);
            }
        }
    }
    let stack = receiver.stack.as_deref().and_then(Profile::by_name);
    let cwr_rule = stack.or_else(|| Profile::by_name(&group.stack)).map(|stack| stack.cwr_ack);
    if receiver.delays_cwr_acks == Some(true)
        && receiver.feedback == Some(EcnFeedback::Classic)
        && cwr_rule != Some(CwrAck::AtOnce)
    {
        let hint = "it matters with feedback = \"dctcp\", which acknowledges changes at once";
        keys.warning("delays_cwr_acks", "classic feedback delays these acknowledgements in any case", hint);
    }
    // Without the delay the stack's other rule applies.
    let cwr_ack = receiver.delays_cwr_acks.map(|delays| match cwr_rule {
        _ if delays => CwrAck::Delayed,
        Some(CwrAck::AtOnce) => CwrAck::AtOnce,
        _ => CwrAck::AsUsual,
    });
    let misbehaviour = receiver.misbehaviour.as_ref().map(|given| misbehaviour(given, &keys));
    ReceiverConfig { stack, feedback: receiver.feedback, cwr_ack, misbehaviour }
}

fn misbehaviour(given: &schema::Misbehaviour, keys: &Table<'_>) -> Misbehaviour {
    let keys = keys.table("misbehaviour");
    for (key, value) in [("ack_pieces", given.ack_pieces), ("ack_copies", given.ack_copies)] {
        if value.is_some_and(|value| !(1..=MOST_ACKS).contains(&value)) {
            keys.error(key, format!("the number is from 1 to {MOST_ACKS}"), "leave it out for none");
        }
    }
    if given.packets_ahead.is_some_and(|packets| packets > MOST_PACKETS_AHEAD) {
        let hint = "senders ignore ACKs for what they have not sent";
        keys.error("packets_ahead", format!("at most {MOST_PACKETS_AHEAD} packets"), hint);
    }
    Misbehaviour {
        pieces: given.ack_pieces.unwrap_or(1),
        copies: given.ack_copies.unwrap_or(0),
        packets_ahead: given.packets_ahead,
        hides_marks: given.hides_marks,
        silent_from: given.silent_from.map(Duration::span),
    }
}
