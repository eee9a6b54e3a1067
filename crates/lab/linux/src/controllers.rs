//! Congestion controllers at both ends of a connection on the kernel, for each preset.
//!
//! A listener's controller determines how it echoes marks (controllers with `TCP_CONG_NEEDS_ECN` echo as
//! DCTCP does), and a sender's controller how it responds to them. Linux sets ECT on the SYN of a sender
//! whose controller needs ECN, and a listener by [RFC 3168](https://www.rfc-editor.org/rfc/rfc3168) refuses
//! ECN to such a SYN (`tcp_ecn_create_request`). A sender whose peer is classic therefore connects with Reno,
//! and switches to its own controller when the connection is established.

use crate::kernel::Kernel;
use crate::refusal::Refusals;
use shoal_cc::{
    AckCounting, AlphaAfter, AlphaResolution, AlphaUpdate, CcConfig, CounterOnCut, CutStyle, DctcpConfig,
    EcnUse, Gain, MarkCounting, SsthreshAfterCut,
};
use shoal_scenario::{Group, Replacement};
use shoal_tcp::{CwrAck, EcnFeedback, EcnSetting, EndpointConfig, Profile};

/// The stack profile that stands for the kernel's own TCP, whatever its version.
const CURRENT_STACK: &str = "linux-6";

/// The controllers of both ends of a group's flows (`TCP_CONGESTION`), and the modules that must be loaded
/// for them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Control<'a> {
    /// Controller of the sender.
    pub sender: &'a str,
    /// Controller of the sender during the handshake.
    pub connects_as: &'a str,
    /// Controller of the listener, and thereby of the receiver.
    pub listener: &'a str,
    /// Controller that takes the sender's place while a flow runs.
    pub successor: Option<&'a str>,
    pub modules: Vec<Module>,
    /// Where the kernel differs from what the scenario asks for.
    pub notes: Vec<String>,
}

/// One of this project's modules (linux/modules), with the parameters that differ from its defaults.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Module {
    pub file: &'static str,
    /// Parameters in the syntax of modprobe; `None` if any parameters are suitable.
    pub parameters: Option<String>,
}

const IKR: &str = "tcp_dctcp_ikr.ko";
const ONE_SIDED: &str = "tcp_dctcp_onesided.ko";
const PRAGUE: &str = "tcp_prague_shoal.ko";

/// The sender's controller before its peer is considered.
struct Law<'a> {
    name: &'a str,
    needs_ecn: bool,
    module: Option<Module>,
    notes: Vec<String>,
}

/// Translates the controller of a group; refuses controllers that no kernel has.
pub(crate) fn control<'a>(
    group: &'a Group,
    endpoint: &EndpointConfig,
    place: &str,
    kernel: &Kernel,
    refusals: &mut Refusals,
) -> Option<Control<'a>> {
    let preset = group.cc.as_str();
    let law = law(preset, endpoint, place, refusals)?;
    if endpoint.cc.ecn_use() == EcnUse::L4s && !can_be_l4s(endpoint, place, kernel, refusals) {
        return None;
    }
    let listener = listener(&law, endpoint, place, refusals)?;
    let successor = match &group.replacement {
        None => None,
        Some(Replacement { cc, config, .. }) => {
            let endpoint = EndpointConfig { cc: *config, ..*endpoint };
            Some(self::law(cc, &endpoint, &format!("{place}: replace"), refusals)?)
        }
    };
    let mut modules: Vec<Module> = law.module.into_iter().collect();
    modules.extend(successor.iter().filter_map(|successor| successor.module.clone()));
    if listener == RECEIVER_THAT_DELAYS && !modules.iter().any(|module| module.file == ONE_SIDED) {
        modules.push(Module { file: ONE_SIDED, parameters: None });
    }
    for name in [law.name, listener].into_iter().chain(successor.iter().map(|successor| successor.name)) {
        if !kernel.has_controller(name) {
            let hint = if matches!(endpoint.cc, CcConfig::External(_)) {
                "give the law a kernel module: laws.NAME.kernel = \"FILE.c\", or --module FILE.c"
            } else {
                "add it to linux/kernel/uml.config and run `shoal linux build`"
            };
            let reason = format!("Linux {} has no congestion control `{name}`", kernel.release);
            refusals.add(place, reason, hint);
            return None;
        }
    }
    // The listener would refuse ECN to DCTCP's SYN, and both ends would silently run Reno.
    let peer_is_classic = law.needs_ecn && listener == CLASSIC && !endpoint.is_accurate();
    let mut notes = stack_notes(preset, endpoint, &law.notes, kernel);
    if endpoint.is_accurate() {
        notes.push("reductions are those that samples show: accurate ECN has no CWR on the line".to_owned());
    }
    if peer_is_classic {
        notes.push(format!(
            "connects as reno and becomes {} when connected: a classic listener refuses ECN to the SYN of {0}",
            law.name
        ));
    }
    notes.extend(successor.iter().flat_map(|successor| successor.notes.clone()));
    Some(Control {
        successor: successor.map(|successor| successor.name),
        sender: law.name,
        connects_as: if peer_is_classic { CLASSIC } else { law.name },
        listener,
        modules,
        notes,
    })
}

/// Controller of a listener that echoes marks as RFC 3168 requires.
const CLASSIC: &str = "reno";
/// Controller of a listener that echoes as DCTCP does and delays the ACK of data with CWR (Kato et al. 2015,
/// section 3.2).
const RECEIVER_THAT_DELAYS: &str = "dctcp_1sided_rx";

fn law<'a>(
    preset: &'a str,
    endpoint: &EndpointConfig,
    place: &str,
    refusals: &mut Refusals,
) -> Option<Law<'a>> {
    let counts_acks = endpoint.stack.growth.counting == AckCounting::PerAck;
    let is_preset = CcConfig::preset(preset) == Some(endpoint.cc);
    let plain = |name, needs_ecn| Some(Law { name, needs_ecn, module: None, notes: Vec::new() });
    let law = match (preset, endpoint.cc) {
        ("reno" | "ecn-reno" | "ecn-newreno", _) if is_preset && counts_acks => {
            let module = Module { file: "tcp_reno_acks.ko", parameters: None };
            let notes = vec!["Reno counts ACKs (tcp_reno_acks), in slow start too".to_owned()];
            Some(Law { name: "reno_acks", needs_ecn: false, module: Some(module), notes })
        }
        ("reno" | "ecn-reno" | "ecn-newreno", _) if is_preset => plain("reno", false),
        ("cubic", _) if is_preset => plain("cubic", false),
        ("dctcp", _) if is_preset => plain("dctcp", true),
        ("bbr", _) if is_preset => plain("bbr", false),
        ("dctcp-ikr", CcConfig::Dctcp(config)) => ikr(config, counts_acks),
        ("dctcp-freebsd", CcConfig::Dctcp(config)) => one_sided(config),
        (name, CcConfig::External(_)) => Some(Law {
            name,
            needs_ecn: endpoint.cc.ecn_use() == EcnUse::Dctcp,
            module: None,
            notes: Vec::new(),
        }),
        (name, CcConfig::Prague(_)) => prague(name).filter(|_| is_preset),
        ("reno" | "ecn-reno" | "cubic" | "dctcp" | "bbr", _) => None,
        _ => {
            refusals.add(
                place,
                format!("no kernel has the congestion control `{preset}`"),
                "on Linux: reno, ecn-reno, cubic, dctcp, dctcp-ikr, dctcp-freebsd, bbr, prague-0.7 and its older \
                 versions",
            );
            return None;
        }
    };
    if law.is_none() {
        refusals.add(
            place,
            format!("cc_options change `{preset}` in a way that the kernel's has no parameter for"),
            "remove cc_options, or run this on the simulator",
        );
    }
    law
}

/// Parameters of `tcp_dctcp_ikr` that give this configuration, if they exist.
fn ikr(config: DctcpConfig, counts_acks: bool) -> Option<Law<'static>> {
    let Some(CcConfig::Dctcp(default)) = CcConfig::preset("dctcp-ikr") else { return None };
    let (shift, per_window) = match config.gain {
        Gain::Shift(shift) => (shift, false),
        Gain::PerWindowInFlight(shift) => (shift, true),
    };
    let expressed = DctcpConfig {
        alpha_resolution: config.alpha_resolution,
        alpha_update: config.alpha_update,
        counting: config.counting,
        gain: config.gain,
        initial_alpha_q10: config.initial_alpha_q10,
        cut: config.cut,
        ssthresh_after_cut: config.ssthresh_after_cut,
        grows_in_cwr: config.grows_in_cwr,
        counter_on_cut: config.counter_on_cut,
        cuts_again_on_loss_in_cwr: config.cuts_again_on_loss_in_cwr,
        ..default
    };
    let known = matches!(config.alpha_resolution, AlphaResolution::Bits10 | AlphaResolution::Bits20)
        && matches!(config.counting, MarkCounting::Packets | MarkCounting::Acks)
        && matches!(config.cut, CutStyle::Progressive | CutStyle::OnceAtOnce)
        && matches!(config.counter_on_cut, CounterOnCut::Clear | CounterOnCut::KeepUnlessCut);
    if config != expressed || !known {
        return None;
    }
    let bits10 = config.alpha_resolution == AlphaResolution::Bits10;
    let mut given = Parameters::default();
    given.number("alpha_bits", bits10, if bits10 { 10 } else { 20 });
    given.number("alpha_on_init", config.initial_alpha_q10 != 0, config.initial_alpha_q10.into());
    given.switch("alpha_per_ack", config.alpha_update == AlphaUpdate::PerAck, true);
    given.switch("alpha_counting", config.counting == MarkCounting::Acks, true);
    given.number("gain_shift", shift != 8, shift.into());
    given.switch("gain_per_window", per_window, false);
    given.switch("progressive", config.cut == CutStyle::Progressive, true);
    given.switch("grow_in_cwr", config.grows_in_cwr, true);
    given.switch("ssthresh_minus_one", config.ssthresh_after_cut == SsthreshAfterCut::CwndMinusOne, true);
    given.switch("keep_counter", config.counter_on_cut == CounterOnCut::KeepUnlessCut, true);
    given.switch("cut_on_loss_in_cwr", config.cuts_again_on_loss_in_cwr, false);
    given.switch("ack_counting", counts_acks, false);
    let notes =
        if counts_acks { vec!["dctcp_ikr grows by ACKs (ack_counting=1)".to_owned()] } else { Vec::new() };
    let module = Module { file: IKR, parameters: Some(given.0) };
    Some(Law { name: "dctcp_ikr", needs_ecn: true, module: Some(module), notes })
}

/// Parameters of `tcp_dctcp_onesided` that give this configuration, if they exist.
fn one_sided(config: DctcpConfig) -> Option<Law<'static>> {
    let Some(CcConfig::Dctcp(default)) = CcConfig::preset("dctcp-freebsd") else { return None };
    let Gain::Shift(shift) = config.gain else { return None };
    let renews = |after| matches!(after, AlphaAfter::Reinitialise | AlphaAfter::Keep);
    let updates = |after| matches!(after, AlphaAfter::Update | AlphaAfter::Keep);
    let expressed = DctcpConfig {
        gain: config.gain,
        initial_alpha_q10: config.initial_alpha_q10,
        alpha_after_idle: config.alpha_after_idle,
        alpha_on_timeout: config.alpha_on_timeout,
        alpha_on_loss: config.alpha_on_loss,
        grows_in_cwr: config.grows_in_cwr,
        cuts_again_on_loss_in_cwr: config.cuts_again_on_loss_in_cwr,
        ..default
    };
    let known =
        renews(config.alpha_after_idle) && updates(config.alpha_on_timeout) && updates(config.alpha_on_loss);
    if config != expressed || !known {
        return None;
    }
    let mut given = Parameters::default();
    given.number("alpha_on_init", config.initial_alpha_q10 != 0, config.initial_alpha_q10.into());
    given.number("gain_shift", shift != 4, shift.into());
    given.switch("grow_in_cwr", config.grows_in_cwr, true);
    given.switch("alpha_reset_after_idle", config.alpha_after_idle == AlphaAfter::Reinitialise, true);
    given.switch("alpha_update_on_timeout", config.alpha_on_timeout == AlphaAfter::Update, true);
    given.switch("alpha_update_on_loss", config.alpha_on_loss == AlphaAfter::Update, true);
    given.switch("cut_on_loss_in_cwr", config.cuts_again_on_loss_in_cwr, true);
    let module = Module { file: ONE_SIDED, parameters: Some(given.0) };
    let notes = vec!["Kato et al.'s DCTCP by tcp_dctcp_onesided: it counts packets, not bytes".to_owned()];
    Some(Law { name: "dctcp_onesided", needs_ecn: false, module: Some(module), notes })
}

/// Each version of Prague is a controller of `tcp_prague_shoal`.
fn prague(preset: &str) -> Option<Law<'static>> {
    let name = match preset {
        "prague-0.7" => "prague_0_7",
        "prague-0.7-early" => "prague_0_7early",
        "prague-0.6" => "prague_0_6",
        "prague-2020" => "prague_0_5",
        _ => return None,
    };
    let notes = vec![format!(
        "Prague by tcp_prague_shoal ({name}), a module of this project; it writes ECT(1) itself, where Linux writes \
         ECT(0) over accurate ECN"
    )];
    let module = Module { file: PRAGUE, parameters: Some(String::new()) };
    Some(Law { name, needs_ecn: false, module: Some(module), notes })
}

/// Whether this kernel and both ends have accurate ECN, without which Prague is Reno.
fn can_be_l4s(endpoint: &EndpointConfig, at: &str, kernel: &Kernel, refusals: &mut Refusals) -> bool {
    if !kernel.has_accurate_ecn() {
        refusals.add(
            at,
            format!(
                "Linux {} does not let a congestion control ask for accurate ECN, which Prague needs",
                kernel.release
            ),
            "use Linux 7.0 or newer, or run this on the simulator",
        );
        return false;
    }
    if !endpoint.is_accurate() {
        refusals.add(
            at,
            "without accurate ECN at both ends Prague is Reno",
            "leave `ecn` and receiver.feedback out, or write cc = \"ecn-reno\"",
        );
        return false;
    }
    true
}

/// `name=value` words for the parameters that differ from the module's defaults.
#[derive(Default)]
struct Parameters(String);

impl Parameters {
    fn number(&mut self, name: &str, differs: bool, value: u32) {
        if differs {
            let gap = if self.0.is_empty() { "" } else { " " };
            self.0 += &format!("{gap}{name}={value}");
        }
    }
    fn switch(&mut self, name: &str, on: bool, default: bool) {
        self.number(name, on != default, on.into());
    }
}

/// Controller of the listener that gives the feedback of the scenario.
fn listener<'a>(
    law: &Law<'a>,
    endpoint: &EndpointConfig,
    place: &str,
    refusals: &mut Refusals,
) -> Option<&'a str> {
    let receiver = endpoint.receiver;
    let feedback = endpoint.feedback();
    if receiver.stack.is_some_and(|stack| !is_linux(&stack)) {
        refusals.add(
            format!("{place}: receiver.stack"),
            "the receiver's stack is not Linux's",
            "leave it out, or run this on the simulator",
        );
        return None;
    }
    if receiver.misbehaviour.is_some() {
        refusals.add(
            format!("{place}: receiver.misbehaviour"),
            "the kernel's receiver does nothing wrong",
            "leave it out, or run this on the simulator",
        );
        return None;
    }
    // A kernel has one rule for data with CWR (`tcp_ecn_accept_cwr`: acknowledge at once), whatever the
    // profile of an older kernel says.
    match (feedback, receiver.cwr_ack) {
        (EcnFeedback::Classic, None | Some(CwrAck::AtOnce)) => {
            let echoes_by_itself = endpoint.cc.ecn_use() == EcnUse::Dctcp;
            // What a law of the user's own would do at a receiver is unknown.
            let is_own = matches!(endpoint.cc, CcConfig::External(_));
            Some(if echoes_by_itself || is_own { CLASSIC } else { law.name })
        }
        // Who gives accurate feedback has no part in which law the sender has; DCTCP would echo besides.
        (EcnFeedback::Accurate, None | Some(CwrAck::AtOnce)) => Some(CLASSIC),
        (EcnFeedback::Dctcp, None | Some(CwrAck::AtOnce)) => {
            let own = law.needs_ecn || endpoint.ecn == EcnSetting::Off;
            Some(if own { law.name } else { "dctcp" })
        }
        (EcnFeedback::Dctcp, Some(CwrAck::Delayed)) => Some(RECEIVER_THAT_DELAYS),
        _ => {
            refusals.add(
                format!("{place}: receiver.delays_cwr_acks"),
                "the kernel acknowledges data with CWR at once; only our one-sided module delays that, and it echoes \
                 as DCTCP does",
                "leave delays_cwr_acks out, or write feedback = \"dctcp\" with it",
            );
            None
        }
    }
}

pub(crate) fn is_linux(stack: &Profile) -> bool {
    stack.linux().is_some()
}

fn stack_notes(preset: &str, endpoint: &EndpointConfig, of_law: &[String], kernel: &Kernel) -> Vec<String> {
    let mut notes = Vec::new();
    if endpoint.stack.name != CURRENT_STACK {
        notes.push(format!("the stack is that of Linux {}, not `{}`", kernel.release, endpoint.stack.name));
        if endpoint.stack.growth.counting == AckCounting::PerAck && ["cubic", "dctcp"].contains(&preset) {
            notes.push(format!("{preset} grows by packets, not by ACKs as that stack does"));
        }
    }
    notes.extend(of_law.iter().cloned());
    notes
}

/// Modules of all groups in one list, since a module has one set of parameters.
pub(crate) fn modules_of(controls: &[Option<Control>], refusals: &mut Refusals) -> Vec<Module> {
    let mut modules: Vec<Module> = Vec::new();
    for module in controls.iter().flatten().flat_map(|control| &control.modules) {
        match modules.iter_mut().find(|other| other.file == module.file) {
            Some(_) if module.parameters.is_none() => {}
            Some(other) if other.parameters.is_none() || other.parameters == module.parameters => {
                other.parameters.clone_from(&module.parameters);
            }
            Some(_) => refusals.add(
                "flows: cc_options",
                format!("two groups want different parameters of the module {}", module.file),
                "give both the same cc_options and stack, or run them one by one",
            ),
            None => modules.push(module.clone()),
        }
    }
    modules
}
