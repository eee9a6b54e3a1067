//! Scripts on the models of TCP endpoints. A model offers less than a kernel: data in one direction and no closing by
//! the peer, unless accurate ECN is on, and no options but SACK and that of accurate ECN. A script that needs more is
//! refused before it runs; see [`play`].

mod endpoint;
mod player;
mod refusals;
mod segments;
mod setup;

use crate::ScriptError;
use crate::syntax::ast::Script;
use crate::transcript::Transcript;
use shoal_cc::ExternalConfig;

/// The side of a connection that a model plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It sends data.
    Sender,
    /// It receives data.
    Receiver,
    /// Either direction: the whole end, which accurate ECN needs, since each direction carries feedback of the other.
    Both,
}

/// Gives a law of one's own by the name that a script has for it, or why it is none; nothing for other names.
pub type Laws<'a> = &'a dyn Fn(&str) -> Option<Result<ExternalConfig, String>>;

/// Result of playing a script on a model.
#[derive(Clone, PartialEq, Debug)]
pub struct Played {
    /// The part of the script that was played.
    pub script: Script,
    /// What happened.
    pub transcript: Transcript,
    /// Where the model stopped before the end of the script, and why.
    pub until: Option<ScriptError>,
}

/// Plays a script on the sender or the receiver of the current Linux profile, or with accurate ECN on a whole end, up
/// to the first event that the model does not support.
///
/// In a model of one direction the sending side connects. If the script has it the other way round, the handshake is
/// reversed: the model's SYN is shown as a SYN/ACK, and the model's SYN/ACK as a SYN.
///
/// # Errors
/// The script uses something that the models do not support, before anything about data can be played.
pub fn play(script: &Script) -> Result<Played, ScriptError> {
    play_with(script, &|_| None)
}

/// [`play`] where a script may name laws of one's own.
///
/// # Errors
/// As those of [`play`], and why a file that it names is no law.
pub fn play_with(script: &Script, laws: Laws<'_>) -> Result<Played, ScriptError> {
    let setup = setup::of(script, laws)?;
    let mut script = script.clone();
    let mut until = None;
    if let Some((n, reason)) = refusals::first(&script, &setup)? {
        script.events.truncate(n);
        if !refusals::worth_playing(&script.events, &setup) {
            return Err(reason);
        }
        until = Some(reason);
    }
    let transcript = player::Player::new(setup, &script).play(&script);
    Ok(Played { script, transcript, until })
}
