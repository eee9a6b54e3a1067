//! Scripts on our models of TCP endpoints. A model has less than a kernel: one direction of data, no closing by the other
//! side, no options but SACK. What a script needs beyond that is refused before it runs; see [`play`].

mod player;
mod refusals;
mod segments;
mod setup;

use crate::ScriptError;
use crate::syntax::ast::Script;
use crate::transcript::Transcript;

/// The side of a connection that a model plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// It sends data.
    Sender,
    /// It receives data.
    Receiver,
}

/// What a model did with a script.
#[derive(Clone, PartialEq, Debug)]
pub struct Played {
    /// The part of the script that was played.
    pub script: Script,
    /// What happened.
    pub transcript: Transcript,
    /// Where it ended before the script did, and why.
    pub until: Option<ScriptError>,
}

/// Plays a script against the sender or the receiver of the current Linux profile, up to the first event that it does not
/// have.
///
/// Where the script has the side that connects the other way round than our models (they connect to send), the handshake is
/// turned: the model's SYN is shown as SYN/ACK, and the reverse.
///
/// # Errors
/// What the models cannot do, if nothing about data can be played.
pub fn play(script: &Script) -> Result<Played, ScriptError> {
    let setup = setup::of(script)?;
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
