//! Scripts on the models: a correct script passes, and each deviation is reported at its line.

use serde_json::Value;
use shoal_conformance::report::on_model;

/// Ten segments, of which the first is lost; lines are numbered from 1.
const RIGHT: &str = "`sysctl -q net.ipv4.tcp_congestion_control=dctcp`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < [ect0] SEW 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > [ect0] SE. 0:0(0) ack 1 <...>
+.01 < [ect0] . 1:1(0) ack 1 win 320
+0 accept(3, ..., ...) = 4
+0 write(4, ..., 10000) = 10000
+0 > [ect0] P. 1:10001(10000) ack 1
+.01 < [ect0] . 1:1(0) ack 1 win 320 <sack 1001:2001,nop,nop>
+0 < [ect0] . 1:1(0) ack 1 win 320 <sack 1001:3001,nop,nop>
+0 < [ect0] . 1:1(0) ack 1 win 320 <sack 1001:4001,nop,nop>
+0 > [ect0] . 1:1001(1000) ack 1
+0 %{ assert tcpi_ca_state == TCP_CA_Recovery
assert tcpi_snd_ssthresh == 5 and tcpi_lost == 1, 'message' }%
+.01 < [ect0] . 1:1(0) ack 10001 win 320
+0 close(4) = 0
+0~+.01 > [ect0] F. 10001:10001(0) ack 1
";

/// A server with accurate ECN that answers a marked request; its SYN/ACK has to be repeated.
const ACCURATE: &str = "`sysctl -q net.ipv4.tcp_ecn=3`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < [noecn] SEWA 0:0(0) win 32792 <mss 1012,nop,nop,sackOK,nop,wscale 8>
+0 > [noecn] SW. 0:0(0) ack 1 <mss 1460,ECN e1b 1 ceb 0 e0b 1,nop,nop,nop,sackOK,nop,wscale 8>
+1 > [noecn] SW. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
+.01 < [ect0] W. 1:1(0) ack 1 win 264 <ECN e0b 1 ceb 0 e1b 1,nop>
+0 accept(3, ..., ...) = 4
+.01 < [ce] P.5 1:1001(1000) ack 1 win 264 <ECN e0b 1 ceb 0 e1b 1,nop>
+0 > [ect0] .6 1:1(0) ack 1001 <ECN e1b 1 ceb 1000 e0b 1,nop>
+0 read(4, ..., 1000) = 1000
+0 write(4, ..., 2000) = 2000
+0 > [ect0] P.6 1:2001(2000) ack 1001 <ECN e1b 1 ceb 1000 e0b 1,nop>
+.01 < [ect0] .6 1001:1001(0) ack 2001 win 264 <ECN e1b 1 ceb 1000 e0b 1001,nop>
+0 %{ assert tcpi_delivered_ce == 1
assert tcpi_delivered_ce_bytes == 1000 and tcpi_delivered_e0_bytes == 1000 }%
+0 `sysctl -q net.ipv4.tcp_ecn_option=0`
+0 write(4, ..., 1000) = 1000
+0 > [ect0] P.6 2001:3001(1000) ack 1001
+.01 < [noecn] R. 1001:1001(0) ack 3001 win 264
";

fn play(text: &str) -> Value {
    on_model(text, &|_| None, &|_| None)
}

#[test]
fn what_is_right_passes() {
    let found = play(RIGHT);
    assert_eq!(found["verdict"], "pass", "{found}");
    assert_eq!(found["until"], Value::Null);
    assert_eq!(found["notes"][0], "the handshake is turned round");
}

/// Each line with one thing changed: (line, its text, the replacement, the reported difference).
fn check_deviations(script: &str, cases: &[(usize, &str, &str, &str)]) {
    for &(number, old, new, what) in cases {
        let lines: Vec<String> = script
            .lines()
            .enumerate()
            .map(|(n, line)| {
                if n + 1 != number {
                    return line.to_string();
                }
                assert!(line.contains(old), "line {number}: {line}");
                line.replacen(old, new, 1)
            })
            .collect();
        let verdict = play(&(lines.join("\n") + "\n"));
        assert_eq!(verdict["verdict"], "fail", "line {number}, {new}: {verdict}");
        assert_eq!(verdict["line"], number, "{new}: {verdict}");
        assert_eq!(
            verdict["reason"].as_str().map(|reason| reason.contains(what)),
            Some(true),
            "{new}: {verdict}"
        );
    }
}

#[test]
fn each_thing_that_is_wrong_is_found() {
    let cases = [
        (6, "SE.", "S.", "flags"),
        (6, "[ect0]", "[noecn]", "ECN bits"),
        (10, "P. 1:10001", "PW. 1:10001", "flags"),
        (10, "ack 1", "ack 2", "acknowledgement number"),
        (10, "+0 >", "+.02 >", "wrong time"),
        (10, "+0 >", "+.02~+.03 >", "wrong time"),
        (14, "1:1001(1000)", "1001:2001(1000)", "sequence number"),
        (14, "ack 1", "ack 1 <sack 1:2,nop,nop>", "TCP options"),
        (9, "= 10000", "= 9999", "`write` returned something else"),
        (15, "Recovery", "Open", "an assertion does not hold"),
        (16, "== 5", "== 6", "an assertion does not hold"),
        (19, "F. 10001:10001(0)", ". 10001:11001(1000)", "no packet"),
    ];
    check_deviations(RIGHT, &cases);
}

#[test]
fn accurate_ecn_plays_both_halves_of_an_end() {
    let verdict = play(ACCURATE);
    assert_eq!((&verdict["verdict"], &verdict["until"]), (&"pass".into(), &Value::Null), "{verdict}");
    let cases = [
        (6, "SW.", "SA.", "flags"),
        (6, "ceb 0", "ceb 1", "TCP options"),
        (7, "SW.", "S.", "flags"),
        (7, "<mss 1460,", "<mss 1460,ECN e1b 1 ceb 0 e0b 1,nop,", "TCP options"),
        (7, "+1 ", "+2 ", "wrong time"),
        (11, ".6", ".5", "flags"),
        (11, "[ect0]", "[ect1]", "ECN bits"),
        (11, "ceb 1000", "ceb 999", "TCP options"),
        (11, "ECN e1b 1 ceb 1000 e0b 1", "ECN e0b 1 ceb 1000 e1b 1", "TCP options"),
        (11, "ECN e1b 1 ceb 1000 e0b 1,nop", "ECN e1b 1 ceb 1000", "TCP options"),
        (12, "= 1000", "= 999", "`read` returned something else"),
        (14, "ack 1001", "ack 1", "acknowledgement number"),
        (14, "P.6", "P.5", "flags"),
        (16, "== 1", "== 2", "an assertion does not hold"),
        (17, "e0_bytes == 1000", "e0_bytes == 999", "an assertion does not hold"),
        (20, "ack 1001", "ack 1001 <ECN e1b 1 ceb 1000 e0b 1,nop>", "TCP options"),
    ];
    check_deviations(ACCURATE, &cases);
}

#[test]
fn an_end_accepts_only_what_is_open() {
    let lines: Vec<&str> = ACCURATE.lines().collect();
    let early = [&lines[..6], &["+0 accept(3, ..., ...) = 4", "+1 > SW. 0:0(0) ack 1 <...>"]].concat();
    let verdict = play(&(early.join("\n") + "\n"));
    assert_eq!(
        (&verdict["reason"], &verdict["line"]),
        (&"`accept` did not return".into(), &7.into()),
        "{verdict}"
    );
}

#[test]
fn a_packet_that_never_comes_is_told_from_a_late_one() {
    // The tail-loss probe comes two RTTs after the last data: 20 ms.
    let begin: Vec<&str> = RIGHT.lines().take(10).collect();
    let late = play(&format!("{}\n+.01 > [ect0] P. 9001:10001(1000) ack 1\n", begin.join("\n")));
    assert_eq!(late["reason"], "wrong time", "{late}");
    assert!(late["seen"].as_str().is_some_and(|seen| seen.starts_with("at 0.03")), "{late}");
    let never =
        play(&format!("{}\n+0 < [ect0] . 1:1(0) ack 10001 win 320\n+0 > . 1:1(0) ack 1\n", begin.join("\n")));
    assert_eq!(never["reason"], "no packet", "{never}");
    assert_eq!(never["wanted"], ". 1:1(0) ack 1");
}

#[test]
fn what_comes_after_something_unknown_is_not_played() {
    let text = RIGHT.replace("+0 close(4) = 0", "+0 < [ect0] F. 1:1(0) ack 10001 win 320\n+0 close(4) = 0");
    let found = play(&text);
    assert_eq!(found["verdict"], "pass", "{found}");
    assert_eq!(found["until"]["line"], 18, "{found}");
}

#[test]
fn the_same_script_gives_the_same_words() {
    assert_eq!(play(RIGHT).to_string(), play(RIGHT).to_string());
    let wrong = RIGHT.replace("== 5", "== 6");
    assert_eq!(play(&wrong).to_string(), play(&wrong).to_string());
}
