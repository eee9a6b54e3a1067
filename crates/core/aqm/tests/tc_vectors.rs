//! The solver against the parameters that a real tc sends to the kernel (`tests/tc/record.py` records them).

use shoal_aqm::{LinuxRedConfig, TcError, TcRed};
use shoal_units::Rate;

#[test]
fn solver_agrees_with_recorded_tc() {
    let mut compared = 0;
    for line in include_str!("tc/vectors.tsv").lines().filter(|line| !line.starts_with('#')) {
        let mut fields = line.split('\t');
        let (arguments, numbers) = (fields.next().unwrap(), fields.next().unwrap());
        let solved = parse(arguments).solve();
        if let Some(error) = numbers.strip_prefix("refused: ") {
            let expected = match error {
                "RED: failed to calculate EWMA constant." => matches!(solved, Err(TcError::Burst { .. })),
                "RED: failed to calculate probability." => solved == Err(TcError::Probability),
                other => panic!("unknown refusal {other}"),
            };
            assert!(expected, "{arguments}: {solved:?}");
        } else if solved == Err(TcError::Threshold) {
            // tc sends it and the kernel refuses it (red_check_params): fls(min or max) + Wlog >= 32.
            let numbers: Vec<u32> = numbers.split(' ').map(|n| n.parse().unwrap()).collect();
            assert!(numbers[2].ilog2() + 1 + numbers[3] >= 32, "{arguments}");
        } else {
            assert_eq!(
                text(&solved.unwrap()),
                (numbers.to_owned(), fields.next().unwrap().to_owned()),
                "{arguments}"
            );
        }
        compared += 1;
    }
    assert!(compared > 25, "{compared}");
}

fn text(tc: &TcRed) -> (String, String) {
    let TcRed { limit_bytes, min_bytes, max_bytes, wlog, plog, scell_log, stab, max_p } = tc;
    let numbers = format!("{limit_bytes} {min_bytes} {max_bytes} {wlog} {plog} {scell_log} {max_p}");
    (numbers, stab.iter().map(|entry| format!("{entry:02x}")).collect())
}

/// tc's command line, as far as the vectors use it.
fn parse(arguments: &str) -> LinuxRedConfig {
    let words: Vec<&str> = arguments.split(' ').collect();
    let has = |name: &str| words.contains(&name);
    let value = |name: &str| words.iter().position(|word| *word == name).map(|at| words[at + 1]);
    let scaled = |text: &str, units: &[(&str, u64)]| {
        let (unit, factor) = units.iter().find(|(unit, _)| text.ends_with(unit)).unwrap_or(&("", 1));
        text[..text.len() - unit.len()].parse::<u64>().unwrap() * factor
    };
    let bytes = |name: &str| value(name).map_or(0, |text| scaled(text, &[("KB", 1024)]) as u32);
    let rate =
        value("bandwidth").map_or(0, |text| scaled(text, &[("Mbit", 1_000_000), ("Gbit", 1_000_000_000)]));
    LinuxRedConfig {
        limit_bytes: bytes("limit"),
        min_bytes: bytes("min"),
        max_bytes: bytes("max"),
        avpkt_bytes: bytes("avpkt"),
        burst_packets: bytes("burst"),
        probability: value("probability").map_or(0.02, |text| text.parse().unwrap()),
        bandwidth: Rate::from_bps(rate),
        ecn: has("ecn"),
        harddrop: false,
        nodrop: false,
        adaptive: has("adaptive"),
        legacy_probability: false,
    }
}
