//! Our cases and those of a peer in turns, each run in a process of its own. A peer is another simulator, or another
//! build of this program: what answers `PEER --one CASE` with one [`Line`], or with exit code 3 if it does not have the
//! case.

use crate::line::Line;
use std::path::Path;
use std::process::Command;

/// Exit code of a program that does not have the case it was asked for.
pub(crate) const NO_SUCH_CASE: u8 = 3;

/// All runs of one case.
pub(crate) struct Race {
    case: &'static str,
    ours: Vec<Line>,
    /// Empty if the peer does not have the case.
    peers: Vec<Line>,
}

/// Runs each case `pairs` times here and at the peer.
pub(crate) fn run(cases: &[&'static str], peer: &str, pairs: u32) -> Result<Vec<Race>, String> {
    let here = std::env::current_exe().map_err(|e| format!("this program does not find itself: {e}"))?;
    // A path, where a plain name would be looked for among the commands.
    let peer = Path::new(peer).canonicalize().map_err(|e| format!("the peer {peer} was not found: {e}"))?;
    cases.iter().map(|case| race(case, &here, &peer, pairs)).collect()
}

fn race(case: &'static str, here: &Path, peer: &Path, pairs: u32) -> Result<Race, String> {
    let mut race = Race { case, ours: Vec::new(), peers: Vec::new() };
    for pair in 0..pairs {
        // Who goes first changes, so that neither always finds the caches and the clock as the other leaves them.
        let peer_first = pair % 2 == 0;
        for peer_runs in [peer_first, !peer_first] {
            match one(if peer_runs { peer } else { here }, case)? {
                Some(line) if peer_runs => race.peers.push(line),
                Some(line) => race.ours.push(line),
                None if peer_runs && pair == 0 => {
                    eprintln!("{case}: the peer does not have it");
                    return Ok(race);
                }
                None => return Err(format!("{case}: was there before, and is not any more")),
            }
        }
        let speed = |lines: &[Line]| lines.last().map_or(0.0, Line::million_per_s);
        eprintln!(
            "{case}, pair {} of {pairs}: {:.2} and {:.2} M packets/s",
            pair + 1,
            speed(&race.ours),
            speed(&race.peers)
        );
    }
    Ok(race)
}

/// One run of a case in a process, or `None` if the program does not have it.
fn one(program: &Path, case: &str) -> Result<Option<Line>, String> {
    let name = program.display();
    let output = Command::new(program)
        .args(["--one", case])
        .output()
        .map_err(|e| format!("{case}: {name} cannot be started: {e}"))?;
    let (said, complaint) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(NO_SUCH_CASE.into()) {
        return Ok(None);
    }
    if !output.status.success() {
        return Err(format!("{case}: {name} ended with {}\n{}", output.status, complaint.trim_end()));
    }
    let refused = |reason: String| format!("{case}: what {name} printed {reason}:\n{}", said.trim_end());
    let line: Line = said.parse().map_err(refused)?;
    if line.case != case {
        return Err(refused(format!("is about {}", line.case)));
    }
    Ok(Some(line))
}

/// The table as Markdown.
pub(crate) fn render(races: &[Race]) -> String {
    let mut text = String::from(
        "| case | packets, ours | peer | M packets/s, ours: best | median | peer: best | median | ratio of best | of \
         medians | MB, ours | peer |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for Race { case, ours, peers } in races {
        if peers.is_empty() {
            text += &format!("| {case} |{}\n", " - |".repeat(10));
            continue;
        }
        let ((best, median), (peer_best, peer_median)) = (best_and_median(ours), best_and_median(peers));
        text += &format!(
            "| {case} | {} | {} | {best:.2} | {median:.2} | {peer_best:.2} | {peer_median:.2} | {:.2} | {:.2} | {} | \
             {} |\n",
            ours[0].packets,
            peers[0].packets,
            best / peer_best,
            median / peer_median,
            megabytes(ours),
            megabytes(peers),
        );
    }
    text
}

/// Million packets a CPU second.
fn best_and_median(lines: &[Line]) -> (f64, f64) {
    let mut speeds: Vec<f64> = lines.iter().map(Line::million_per_s).collect();
    speeds.sort_by(f64::total_cmp);
    let middle = f64::midpoint(speeds[(speeds.len() - 1) / 2], speeds[speeds.len() / 2]);
    (speeds[speeds.len() - 1], middle)
}

/// The most that any run took.
fn megabytes(lines: &[Line]) -> String {
    let most = lines.iter().filter_map(|line| line.rss_kb).max();
    most.map_or("-".to_owned(), |kb| format!("{:.1}", kb as f64 / 1024.0))
}

#[cfg(test)]
mod tests {
    use super::{Line, Race, render};

    fn lines(packets: u64, seconds: &[f64], rss_kb: Option<u64>) -> Vec<Line> {
        let line =
            |&cpu_s| Line { case: "S4".to_owned(), packets, cpu_s, setup_s: 0.0, rss_kb, events: None };
        seconds.iter().map(line).collect()
    }
    fn row(race: Race) -> String {
        render(&[race]).lines().last().unwrap().to_owned()
    }

    #[test]
    fn ratios_are_ours_over_the_peers() {
        let ours = lines(8_000_000, &[4.0, 1.0, 2.0], Some(2048));
        let peers = lines(6_000_000, &[3.0, 2.0, 6.0], Some(512));
        let want = "| S4 | 8000000 | 6000000 | 8.00 | 4.00 | 3.00 | 2.00 | 2.67 | 2.00 | 2.0 | 0.5 |";
        assert_eq!(row(Race { case: "S4", ours, peers }), want);
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        let ours = lines(12_000_000, &[2.0, 3.0, 12.0, 1.0], None);
        let peers = lines(10_000_000, &[1.0], Some(1536));
        let want = "| S4 | 12000000 | 10000000 | 12.00 | 5.00 | 10.00 | 10.00 | 1.20 | 0.50 | - | 1.5 |";
        assert_eq!(row(Race { case: "S4", ours, peers }), want);
    }

    #[test]
    fn a_case_that_the_peer_does_not_have_has_as_many_columns() {
        let table = render(&[Race { case: "S4", ours: Vec::new(), peers: Vec::new() }]);
        let columns: Vec<usize> = table.lines().map(|line| line.matches('|').count()).collect();
        assert_eq!(columns, [12; 3]);
        assert!(table.ends_with("| S4 | - | - | - | - | - | - | - | - | - | - |\n"));
    }
}
