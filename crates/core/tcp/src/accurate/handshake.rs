//! What the flags AE, CWR and ECE mean in a handshake (RFC 9768 section 3.1, table 2,
//! <https://www.rfc-editor.org/rfc/rfc9768#section-3.1>).

use shoal_packet::{Ecn, Flags};

const ALL: Flags = Flags::AE.with(Flags::CWR).with(Flags::ECE);

/// The three flags as a number: AE is 4, CWR 2, ECE 1.
#[inline]
pub(crate) const fn ace(flags: Flags) -> u8 {
    ((flags.has(Flags::AE) as u8) << 2) | ((flags.has(Flags::CWR) as u8) << 1) | flags.has(Flags::ECE) as u8
}

/// `flags` with the three flags that stand for the low bits of `number`.
#[inline]
pub(crate) const fn with_ace(flags: Flags, number: u8) -> Flags {
    let mut flags = flags.without(ALL);
    if number & 4 != 0 {
        flags = flags.with(Flags::AE);
    }
    if number & 2 != 0 {
        flags = flags.with(Flags::CWR);
    }
    if number & 1 != 0 {
        flags = flags.with(Flags::ECE);
    }
    flags
}

/// How the codepoint is fed back with which a SYN or SYN/ACK arrived.
pub(crate) const fn reflect(codepoint: Ecn) -> u8 {
    match codepoint {
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
        _ => 0b010,
    }
}

/// The codepoint that [`reflect`] stands for, and Linux' reading of what stands for none
/// (`tcp_accecn_extract_syn_ect`).
pub(crate) const fn reflected(ace: u8) -> Ecn {
    match ace & 7 {
        0b010 => Ecn::NotEct,
        0b000 | 0b100 => Ecn::Ect0,
        0b110 => Ecn::Ce,
        _ => Ecn::Ect1,
    }
}

/// What a SYN/ACK grants to a SYN that asked for accurate ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// No ECN: the peer has none, or repeats the flags that it was sent.
    Nothing,
    /// Classic ECN ([RFC 3168](https://www.rfc-editor.org/rfc/rfc3168)).
    Classic,
    /// Accurate ECN; with the codepoint with which the SYN arrived, if the flags tell one.
    Accurate(Option<Ecn>),
}

impl Answer {
    pub(crate) const fn of(flags: Flags) -> Self {
        match ace(flags) {
            0b000 | 0b111 => Self::Nothing,
            0b001 => Self::Classic,
            0b101 => Self::Accurate(None),
            known => Self::Accurate(Some(reflected(known))),
        }
    }
}

/// Whether a SYN asks for accurate ECN: with any flags but none of them, and but those of RFC 3168.
pub(crate) const fn asks(flags: Flags) -> bool {
    !matches!(ace(flags), 0b000 | 0b011)
}

/// Whether a packet that was sent with `sent` may arrive with `arrived`: only ECT may become another, or CE (Linux
/// `tcp_ect_transition_valid`).
pub(crate) fn may_become(sent: Ecn, arrived: Ecn) -> bool {
    sent == arrived || (sent.is_capable() && arrived.is_capable() && !sent.is_ce())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_a_number() {
        for number in 0..8 {
            let flags = with_ace(Flags::ACK.with(ALL), number);
            assert_eq!(ace(flags), number);
            assert!(flags.has(Flags::ACK));
        }
    }

    /// RFC 9768, table 2, and Linux' reading of its reserved row.
    #[test]
    fn every_row_of_the_table_of_answers() {
        for (number, answer) in [
            (0b000, Answer::Nothing),
            (0b001, Answer::Classic),
            (0b010, Answer::Accurate(Some(Ecn::NotEct))),
            (0b011, Answer::Accurate(Some(Ecn::Ect1))),
            (0b100, Answer::Accurate(Some(Ecn::Ect0))),
            (0b101, Answer::Accurate(None)),
            (0b110, Answer::Accurate(Some(Ecn::Ce))),
            (0b111, Answer::Nothing),
        ] {
            assert_eq!(Answer::of(with_ace(Flags::SYN, number)), answer, "{number:03b}");
            assert_eq!(asks(with_ace(Flags::SYN, number)), number != 0 && number != 3, "{number:03b}");
        }
        for codepoint in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            assert_eq!(reflected(reflect(codepoint)), codepoint);
        }
    }

    #[test]
    fn only_ect_may_change_on_the_way() {
        let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        for sent in all {
            for arrived in all {
                let expected =
                    sent == arrived || (matches!(sent, Ecn::Ect0 | Ecn::Ect1) && arrived != Ecn::NotEct);
                assert_eq!(may_become(sent, arrived), expected, "{sent:?} {arrived:?}");
            }
        }
    }
}
