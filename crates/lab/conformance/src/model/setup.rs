//! Derives the configuration of a model, and the side under test, from the sysctls and the handshake of a
//! script.

use super::{End, Laws};
use crate::ScriptError;
use crate::shell::Command;
use crate::syntax::ast::{Action, Body, Call, Event, Packet, Script, Segment, TcpOption, Value};
use crate::vocabulary;
use shoal_cc::{CcConfig, Preset};
use shoal_tcp::{EcnFeedback, EcnOption, EcnSetting, EndpointConfig, Profile, ReceiverConfig, TailProbe};

/// Stack profile of the models: that of the newest kernels, with which the scripts come.
pub(super) const STACK: &str = "linux-6";

/// MSS of the side under test: Ethernet's 1500 bytes less 40 bytes of headers.
const OWN_MSS: u16 = 1460;
/// MSS of a peer that announces none ([RFC 9293, section
/// 3.7.1](https://www.rfc-editor.org/rfc/rfc9293#section-3.7.1)).
const DEFAULT_MSS: u16 = 536;
/// Smallest supported MSS: Linux accepts 48 and above, of which timestamps take 12.
const SMALLEST_MSS: u16 = 64;
/// Bytes of IPv4 and TCP headers without options.
const HEADERS: u16 = 40;
const TIMESTAMPS: u16 = 12;

/// Parameters of a model, known before the first event.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) config: EndpointConfig,
    pub(super) end: End,
    /// Whether the side under test connects.
    pub(super) active: bool,
    /// Window scale of the peer.
    pub(super) peer_scale: u8,
}

/// Kernel parameters that the models follow.
struct Sysctls {
    /// With the line that sets it.
    congestion_control: (String, u32),
    /// With the line that sets it.
    ecn: (i64, u32),
    ecn_option: EcnOption,
    ecn_fallback: bool,
    sack: bool,
    timestamps: bool,
    restart_after_idle: bool,
    probes_tail: bool,
}

pub(super) fn of(script: &Script, laws: Laws<'_>) -> Result<Setup, ScriptError> {
    let sysctls = sysctls(&script.setup)?;
    let active = script
        .events
        .iter()
        .any(|event| matches!(&event.action, Action::Call(call) if call.name == "connect"));
    // From 3 on, accurate ECN is for those who ask this end for it, and with 3 this end asks for it, too.
    let is_accurate = sysctls.ecn.0 == 3 || (sysctls.ecn.0 > 3 && !active);
    let end = if sysctls.ecn.0 >= 3 { End::Both } else { end(&script.events, active) };
    let syn = first_syn(&script.events);
    let peer = syn.and_then(|segment| segment.options.as_deref()).unwrap_or_default();
    let mut mss = DEFAULT_MSS;
    let (mut sack, mut timestamps, mut scale) = (false, false, 0);
    for option in peer {
        match option {
            TcpOption::Mss(bytes) => mss = *bytes,
            TcpOption::SackPermitted => sack = sysctls.sack,
            TcpOption::Timestamp(..) => timestamps = sysctls.timestamps,
            TcpOption::WindowScale(shift) => scale = (*shift).min(14),
            _ => {}
        }
    }
    if mss < SMALLEST_MSS {
        return Err(refused(1, &format!("segments of {mss} bytes")));
    }
    let header_bytes = HEADERS + if timestamps { TIMESTAMPS } else { 0 };
    let (name, line) = &sysctls.congestion_control;
    let (cc, uses_ecn) = match (Preset::by_name(name), laws(name)) {
        (Some(preset), _) => (preset.config, preset.ecn),
        (None, Some(law)) => {
            let law =
                law.map_err(|why| ScriptError::syntax(*line, format!("`{name}` is no controller: {why}")))?;
            (CcConfig::External(law), law.law().ecn_use().is_scalable())
        }
        (None, None) if vocabulary::is_controller(name) => {
            let error = ScriptError::refused(*line, format!("no model of the controller `{name}`"));
            return Err(error.hint("reno, cubic and dctcp"));
        }
        (None, None) => {
            let error = ScriptError::syntax(*line, format!("the controller `{name}` is not known"));
            return Err(error.hint("reno, cubic, dctcp, and file:NAME.wasm for a law of one's own"));
        }
    };
    let ecn = uses_ecn
        || match sysctls.ecn.0 {
            1 | 3 | 4 => true,
            2 | 5 => !active,
            _ => false,
        };
    let mut stack = Profile::by_name(STACK).unwrap_or(Profile::LINUX_6);
    if let Some(rules) = stack.linux_mut() {
        rules.slow_start_after_idle = sysctls.restart_after_idle;
        rules.ecn_fallback = sysctls.ecn_fallback;
        if !sysctls.probes_tail {
            rules.tail_probe = TailProbe::Off;
        }
    }
    let config = EndpointConfig {
        stack,
        receiver: ReceiverConfig {
            feedback: is_accurate.then_some(EcnFeedback::Accurate),
            ..ReceiverConfig::default()
        },
        cc,
        ecn_option: sysctls.ecn_option,
        ecn: if ecn { EcnSetting::On } else { EcnSetting::Off },
        mtu_bytes: HEADERS + mss.min(OWN_MSS),
        header_bytes,
        sack,
        delayed_ack: true,
        initial_window: None,
        // A model has one window for both sides, scaled like the windows of the side that announces them.
        receive_window_bytes: match end {
            End::Sender | End::Both => u32::from(u16::MAX) << scale,
            End::Receiver => u32::from(u16::MAX),
        },
        cwnd_clamp_packets: u32::MAX,
        no_delay: false,
        unsent_bytes: 128 << 10,
        offload: None,
    };
    Ok(Setup { config, end, active, peer_scale: scale })
}

fn sysctls(commands: &[Command]) -> Result<Sysctls, ScriptError> {
    // The kernel's defaults.
    let mut found = Sysctls {
        congestion_control: ("cubic".to_string(), 1),
        ecn: (2, 1),
        ecn_option: EcnOption::Full,
        ecn_fallback: true,
        sack: true,
        timestamps: true,
        restart_after_idle: true,
        probes_tail: true,
    };
    let mut other_beacon = None;
    for command in commands {
        let (path, value, optional, line) = match command {
            Command::Sysctl { path, value, optional, line } => (path, value.trim(), *optional, *line),
            Command::Qdisc(crate::Qdisc::Fq) => return Err(refused(1, "pacing by the queue discipline fq")),
            Command::Qdisc(crate::Qdisc::Pfifo { limit: Some(_) }) => {
                return Err(refused(1, "a queue that drops"));
            }
            Command::Recount | Command::Counter { .. } => return Err(refused(1, "counters of the network")),
            Command::Qdisc(_)
            | Command::Offload { .. }
            // A model remembers nothing of earlier connections.
            | Command::ForgetMetrics => continue,
            Command::Mtu(_) => return Err(refused(1, "an MTU other than that of Ethernet")),
        };
        if let Some(option) = option_setting(command) {
            found.ecn_option = option;
            continue;
        }
        let number = value.parse::<i64>().unwrap_or(-1);
        match path.trim_start_matches("net/ipv4/") {
            "tcp_congestion_control" => found.congestion_control = (value.to_string(), line),
            "tcp_ecn" => found.ecn = (number, line),
            "tcp_sack" => found.sack = number != 0,
            "tcp_timestamps" => found.timestamps = number != 0,
            "tcp_slow_start_after_idle" => found.restart_after_idle = number != 0,
            // Parameters that the profile fulfils, and those that do not concern any model.
            "tcp_frto" if number != 0 => {}
            "tcp_recovery" if number == 1 => {}
            "tcp_early_retrans" if number >= 3 => {}
            "tcp_early_retrans" if number == 0 => found.probes_tail = false,
            "tcp_dsack" | "tcp_reordering" if number != 0 => {}
            "tcp_ecn_fallback" => found.ecn_fallback = number != 0,
            "tcp_rmem"
            | "tcp_wmem"
            | "tcp_syn_retries"
            | "tcp_synack_retries"
            | "tcp_fack"
            | "tcp_tso_win_divisor"
            | "tcp_pacing_ss_ratio"
            | "tcp_pacing_ca_ratio"
            | "tcp_notsent_lowat"
            | "tcp_fastopen"
            | "tcp_fastopen_key"
            | "tcp_syncookies"
            | "tcp_min_tso_segs"
            | "tcp_invalid_ratelimit" => {}
            // Beacons are for those who do not send the option with every segment.
            "tcp_ecn_option_beacon" => other_beacon = (number != 3).then_some((number, line)),
            other => {
                // Linux is asked for an optional one as well, and goes on without it.
                let exists = optional || vocabulary::may_be_parameter(path);
                return Err(if exists {
                    refused(line, &format!("the parameter {other} = {value}"))
                } else {
                    ScriptError::syntax(line, format!("the parameter `{other}` is not known"))
                });
            }
        }
    }
    if let (number @ (..0 | 6..), line) = found.ecn {
        return Err(refused(line, &format!("the parameter tcp_ecn = {number}")));
    }
    if let (EcnOption::Minimum, Some((number, line))) = (found.ecn_option, other_beacon) {
        return Err(refused(line, &format!("the parameter tcp_ecn_option_beacon = {number}")));
    }
    Ok(found)
}

/// When a command has the option of accurate ECN sent, if it sets that. Linux looks at it for every segment.
pub(super) fn option_setting(command: &Command) -> Option<EcnOption> {
    match command {
        Command::Sysctl { path, value, .. } if path == "net/ipv4/tcp_ecn_option" => match value.trim() {
            "0" => Some(EcnOption::Off),
            "1" => Some(EcnOption::Minimum),
            "2" => Some(EcnOption::Full),
            _ => None,
        },
        _ => None,
    }
}

fn refused(line: u32, what: &str) -> ScriptError {
    ScriptError::refused(line, format!("the models do not have {what}"))
}

/// Which side is under test, sender or receiver: the first data decides, since a model's connection carries
/// data in one direction.
fn end(events: &[Event], active: bool) -> End {
    let first = events.iter().find_map(|event| match &event.action {
        Action::Call(call) if writes(call) => Some(End::Sender),
        Action::Arrives(Packet { body: Body::Tcp(segment), .. }) if segment.payload > 0 => {
            Some(End::Receiver)
        }
        _ => None,
    });
    first.unwrap_or(if active { End::Sender } else { End::Receiver })
}

/// Whether a call sends data.
pub(super) fn writes(call: &Call) -> bool {
    matches!(call.name.as_str(), "write" | "send" | "sendto" | "sendmsg" | "sendfile")
        && matches!(call.result, Value::Int(bytes) if bytes > 0)
}

/// The SYN or SYN/ACK of the peer.
fn first_syn(events: &[Event]) -> Option<&Segment> {
    events.iter().find_map(|event| match &event.action {
        Action::Arrives(Packet { body: Body::Tcp(segment), .. }) if segment.flags.has(2) => Some(segment),
        _ => None,
    })
}
