//! Where instructions go: what Callgrind counts in each source file, added up by the parts of the program.

use std::collections::BTreeMap;

/// The parts, in the order of the table, each with what the paths of its files contain. A file is of the first part
/// that fits: code that is inlined counts where it was written.
const PARTS: &[(&str, &[&str])] = &[
    ("receiver", &["/tcp/src/receiver"]),
    ("sender", &["/tcp/src/"]),
    ("controller", &["/cc/src/"]),
    ("meters", &["/measure/src/", "/sim/src/recorder"]),
    ("port, wire", &["/bottleneck/src/", "/sim/src/port", "/sim/src/card", "/sim/src/pool"]),
    ("queue law, store", &["/aqm/src/"]),
    ("network, routes", &["/sim/src/network"]),
    ("event queue", &["/sim/src/events", "/binary_heap"]),
    ("rings", &["/packet/src/ring"]),
    ("main loop", &["/sim/src/"]),
    (REST, &[""]),
];

const REST: &str = "standard library, units";

/// Instructions by part.
pub(crate) type Parts = BTreeMap<&'static str, u64>;

/// Adds up what a file that Callgrind has written counts, whose events begin with instructions
/// (<https://valgrind.org/docs/manual/cl-format.html>).
pub(crate) fn parts(profile: &str) -> Parts {
    let mut names = BTreeMap::new();
    let mut parts = Parts::new();
    let mut part = REST;
    // The line behind `calls=` has what the called function took, which is counted there.
    let mut is_call = false;
    for line in profile.lines() {
        if let Some((kind, file)) = line.split_once('=')
            && ["fl", "fi", "fe", "cfl", "cfi"].contains(&kind)
        {
            let of_file = part_of(&mut names, file);
            if !kind.starts_with('c') {
                part = of_file;
            }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let instructions = line.split(' ').nth(1).and_then(|count| count.parse::<u64>().ok());
            if !std::mem::take(&mut is_call) {
                *parts.entry(part).or_default() += instructions.unwrap_or(0);
            }
        }
    }
    parts
}

/// The part of a file: `(7) /path/of/it` where it is named first, and `(7)` from then on.
fn part_of<'a>(names: &mut BTreeMap<&'a str, &'static str>, file: &'a str) -> &'static str {
    let Some((number, path)) = file.split_once(' ') else {
        return names.get(file).copied().unwrap_or(REST);
    };
    let fits = |marks: &[&str]| marks.iter().any(|mark| path.contains(mark));
    let part = PARTS.iter().find(|(_, marks)| fits(marks)).map_or(REST, |(part, _)| part);
    names.insert(number, part);
    part
}

/// The table: a row for each part, and a column for each case with its instructions a packet.
pub(crate) fn table(cases: &[(&str, BTreeMap<&'static str, f64>)]) -> String {
    let row = |first: &str, cells: Vec<String>| format!("| {first} | {} |\n", cells.join(" | "));
    let mut text = row("part", cases.iter().map(|(case, _)| (*case).to_owned()).collect());
    text += &row("---", vec!["---:".to_owned(); cases.len()]);
    for (part, _) in PARTS {
        let of_part = |costs: &BTreeMap<_, f64>| format!("{:.0}", costs.get(part).unwrap_or(&0.0));
        text += &row(part, cases.iter().map(|(_, costs)| of_part(costs)).collect());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inlined_code_counts_where_it_was_written_and_calls_where_they_go() {
        let profile = "events: Ir Bc\n\nfl=(1) /s/crates/lab/sim/src/engine.rs\nfn=(1) run\n10 5 1\n\
            fi=(2) /s/crates/core/packet/src/ring.rs\n+3 40\nfe=(1)\n-3 2\n\
            cfi=(3) /s/crates/core/tcp/src/receiver.rs\ncfn=(2) on_packet\ncalls=7 1\n* 700 3\n* 3\n\
            fl=(3)\nfn=(2)\n1 700\nfl=(4) /rustc/library/core/src/cmp.rs\n9 1\n";
        let expected = Parts::from([("main loop", 10), ("rings", 40), ("receiver", 700), (REST, 1)]);
        assert_eq!(parts(profile), expected);
    }

    #[test]
    fn a_table_has_a_row_for_each_part() {
        let costs = BTreeMap::from([("rings", 4.6)]);
        let text = table(&[("S1", costs)]);
        assert!(text.starts_with("| part | S1 |\n| --- | ---: |\n| receiver | 0 |\n"), "{text}");
        assert!(text.contains("| rings | 5 |\n") && text.lines().count() == 2 + PARTS.len(), "{text}");
    }
}
