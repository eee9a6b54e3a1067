//! Errors in scripts name the line and, where there is one, a remedy.

use shoal_conformance::{Fault, ScriptError, kernel, model, parse};

fn include(name: &str) -> Option<String> {
    (name == "./bad.sh").then(|| "sysctl -q net.ipv4.tcp_ecn=1\nreboot\n".to_string())
}

fn error(text: &str) -> ScriptError {
    match parse(text, &include) {
        Err(error) => error,
        Ok(script) => kernel::translate(&script).err().unwrap_or_else(|| panic!("accepted: {text}")),
    }
}

#[test]
fn each_fault_has_its_line_and_remedy() {
    let listening = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 listen(3, 1) = 0\n";
    // (script, kind, line, message, hint)
    let cases: &[(&str, Fault, u32, &str, &str)] = &[
        ("", Fault::Syntax, 1, "no events", ""),
        ("// nothing\n\n", Fault::Syntax, 3, "no events", ""),
        ("/* open", Fault::Syntax, 1, "comment has no end", "*/"),
        ("--tolerance_usecs=soon\n0 close(3) = 0", Fault::Syntax, 1, "cannot be `soon`", ""),
        (
            "--wire_server\n0 close(3) = 0",
            Fault::Refused,
            1,
            "`--wire_server` is not supported",
            "tolerance_usecs",
        ),
        ("`true`\n0 close(3) = 0", Fault::Refused, 1, "`true` is not supported", "sysctl"),
        ("\n`./none.sh`\n0 close(3) = 0", Fault::Syntax, 2, "no file `./none.sh`", ""),
        (
            "`./bad.sh`\n0 close(3) = 0",
            Fault::Refused,
            1,
            "`./bad.sh`, line 2: the command `reboot`",
            "sysctl",
        ),
        ("`sysctl -q net.ipv4.tcp_ecn`\n0 close(3) = 0", Fault::Syntax, 1, "sets nothing", "name=value"),
        (
            "`sysctl -q kernel.sysrq=1`\n0 close(3) = 0",
            Fault::Refused,
            1,
            "not a parameter of the network",
            "",
        ),
        ("0 close(3) = 0\n`tc qdisc`\n+0 close(4) = 0", Fault::Refused, 2, "`tc qdisc` is not supported", ""),
        ("0 close(3) = 0\n``\n+0 close(4) = 0", Fault::Syntax, 3, "needs a time", "+0"),
        ("soon close(3) = 0", Fault::Syntax, 1, "expected a time, found `soon`", "+.05"),
        ("0.1234567 close(3) = 0", Fault::Syntax, 1, "expected a time", "six places"),
        ("0...-1 close(3) = 0", Fault::Syntax, 1, "expected a time", ""),
        ("+.2~+.1 > . 1:1(0) ack 1", Fault::Syntax, 1, "second time is before the first", ""),
        ("1~+2 > . 1:1(0) ack 1", Fault::Syntax, 1, "second time is relative", ""),
        ("0...1 < . 1:1(0) ack 1 win 1", Fault::Syntax, 1, "calls that block", "~"),
        ("0~1 close(3) = 0", Fault::Syntax, 1, "only packets that leave", ""),
        ("0 < Q 0:0(0) win 1", Fault::Syntax, 1, "`Q` is not a set of TCP flags", "FSRP.EWAU"),
        ("0 < S5E 0:0(0) win 1", Fault::Syntax, 1, "ACE field is given twice", "digit"),
        ("0 < S 0:5(4) win 1", Fault::Syntax, 1, "0:5 are not 4 bytes", ""),
        ("0 < S 0:0(0)", Fault::Syntax, 1, "needs its window", "win N"),
        ("0 < . 1:65501(65500) ack 1 win 1", Fault::Syntax, 1, "do not fit an IP packet", ""),
        ("0 < S 0:0(0) win 1 <mss 1460,nop>", Fault::Syntax, 1, "take 5 bytes", "nop"),
        ("0 < S 0:0(0) win 1 <quickstart 1>", Fault::Syntax, 1, "`quickstart` is not known", "wscale"),
        ("0 < S 0:0(0) win 1 <TS 1 2>", Fault::Syntax, 1, "expected `val`", ""),
        ("0 < . 1:1(0) win 1 <ECN ceb 1>", Fault::Syntax, 1, "counters of the ECN option", "e0b ceb e1b"),
        ("0 < . 1:1(0) win 1 <FO abc,nop>", Fault::Syntax, 1, "`abc` is not a value", "hexadecimal"),
        ("0 < [ect2] . 1:1(0) win 1", Fault::Syntax, 1, "`ect2` is not known", "ect0"),
        ("0 < udp (10)", Fault::Refused, 1, "`udp` are not supported", "TCP"),
        (
            "0 < icmp echo_request [1:1(0)]",
            Fault::Refused,
            1,
            "`icmp echo_request` is not supported",
            "unreachable",
        ),
        ("0 %{ }%", Fault::Syntax, 1, "asserts nothing", "assert"),
        ("0 %{\nassert a ===\n}%", Fault::Syntax, 2, "`=` has no meaning here", "assertions may use"),
        ("--local_ip=192.168.0.2\n0 close(3) = 0", Fault::Refused, 1, "`--local_ip` is not supported", ""),
        (
            "`sysctl -q net.ipv4.tcp_ecn=1 | cat`\n0 close(3) = 0",
            Fault::Refused,
            1,
            "is not supported",
            "sysctl",
        ),
        (
            "0 close(3) = 0\n+0 `ip tcp_metrics flush all`",
            Fault::Refused,
            2,
            "emptied before a script only",
            "first lines",
        ),
        ("0 %{ import os }%", Fault::Refused, 1, "begins with `import`", "assert condition"),
        ("0 %{ assert 1", Fault::Syntax, 1, "`}%` is missing", ""),
        ("0 123(4) = 0", Fault::Syntax, 1, "expected an event", "packet"),
        ("0 close(3", Fault::Syntax, 1, "expected `,`", ""),
        ("0 close(3) -> 0", Fault::Syntax, 1, "expected `=`", ""),
        ("0 open(\"/tmp/x, O_RDWR) = 3", Fault::Syntax, 1, "the text has no end", ""),
        ("0 poll(3) = 0", Fault::Refused, 1, "the call `poll` is not supported", ""),
        ("0 close(3, 4) = 0", Fault::Syntax, 1, "`close` has 1 arguments, not 2", ""),
        ("0 fcntl(3, FIONREAD) = 0", Fault::Refused, 1, "the symbol `FIONREAD` is not supported", ""),
        ("0 write(4, \"data\", 4) = 4", Fault::Refused, 1, "payload is always zeros", "..."),
        ("0 write(4, ..., 99999999) = 4", Fault::Refused, 1, "too many for a call", "4 MiB"),
        ("0 > . 1:1(0) ack 1", Fault::Refused, 1, "no connection has this packet", "listens"),
        ("--ip_version=ipv6\n0 close(3) = 0", Fault::Refused, 1, "IPv4 only", ""),
    ];
    for (text, fault, line, message, hint) in cases {
        let error = error(text);
        assert_eq!((error.fault, error.line), (*fault, *line), "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(error.hint.unwrap_or("").contains(hint), "{text}: {error}");
    }
    let unchecked = format!("{listening}+0 < S 0:0(0) win 1\n+0 %{{ assert tcpi_rtt == 1 }}%\n");
    assert!(error(&unchecked).message.contains("no socket to check"), "{unchecked}");
}

/// A word that means nothing anywhere is an error of the script, on both planes; a refusal would count as if the script
/// were right.
#[test]
fn typing_errors_are_no_refusals() {
    let cases = [
        ("--tolerence_usecs=1\n0 close(3) = 0", 1, "`--tolerence_usecs` is not known"),
        ("0 frobnicate(3) = 0", 1, "the call `frobnicate` is not known"),
        ("\n0 clsoe(3) = 0", 2, "the call `clsoe` is not known"),
        ("0 fcntl(3, F_NEW) = 0", 1, "the symbol `F_NEW` is not known"),
        ("0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOK) = 0", 1, "the symbol `O_NONBLOK` is not known"),
        ("0 setsockopt(3, SOL_TCP, TCP_CONGESTOIN, \"dctcp\", 5) = 0", 1, "`TCP_CONGESTOIN` is not known"),
        ("0 read(3, ..., 9) = -1 EAGIAN (again)", 1, "`EAGIAN` is not known"),
        ("0 < S 0:0(0) win 1 <msss 1460>", 1, "the TCP option `msss` is not known"),
        ("0 < [ect2] S 0:0(0) win 1", 1, "`ect2` is not known"),
        ("0 < icmp unreachabel [1:1(0)]", 1, "`icmp unreachabel` is not known"),
        ("0 close(3) = 0\n+0 `sysclt -q net.ipv4.tcp_ecn=1`", 2, "is `sysctl` meant?"),
        ("0 close(3) = 0\n+0 `tc qdsic add dev tun0 root fq`", 2, "is `tc qdisc` meant?"),
        ("0 close(3) = 0\n+0 `tc qdisc add dev tun0 root fqq`", 2, "`fqq` is not known"),
        ("0 close(3) = 0\n+0 `ethtool -K tun0 tsoo on`", 2, "the offload `tsoo` is not known"),
        ("`sysctl -q nte.ipv4.tcp_ecn=1`\n0 close(3) = 0", 1, "`nte.ipv4.tcp_ecn` is not a parameter"),
        ("0 %{ asert tcpi_rtt == 1 }%", 1, "begins with `asert`"),
        ("0 %{ assert tcpi_rtt = 1 }%", 1, "`=` has no meaning here"),
        ("0 %{ assert tcpi_rrt == 1 }%", 1, "the state `tcpi_rrt` is not known"),
        (
            "\n`sysctl -q net.ipv4.tcp_nonsense=1`\n0 close(3) = 0",
            2,
            "the parameter `tcp_nonsense` is not known",
        ),
        (
            "`sysctl -q net.ipv4.tcp_ecn=1\n sysctl -q net.ipv4.tcp_congestion_control=dtcp`\n0 close(3) = 0",
            2,
            "the controller `dtcp` is not known",
        ),
    ];
    for (text, line, message) in cases {
        let error = match parse(text, &include) {
            Err(error) => error,
            Ok(script) => model::play(&script).err().unwrap_or_else(|| panic!("played: {text}")),
        };
        assert_eq!((error.fault, error.line), (Fault::Syntax, line), "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
}

/// What exists outside of this player is refused, since the script may be right.
#[test]
fn what_exists_elsewhere_is_refused() {
    for text in [
        "--wire_server\n0 close(3) = 0",
        "0 epoll_create(1) = 3",
        "0 fcntl(3, FIONREAD) = 0",
        "0 < icmp echo_request [1:1(0)]",
        "0 close(3) = 0\n+0 `tc qdisc add dev tun0 root fq_codel`",
        "0 close(3) = 0\n+0 `ethtool -K tun0 rx off`",
        "`sysctl -q kernel.sysrq=1`\n0 close(3) = 0",
        "0 %{ limit = 3 }%",
        "0 %{ assert f(a=1) }%",
        "0 %{ import os }%",
        "`sysctl -q net.ipv4.tcp_rto_max_ms=1000`\n0 close(3) = 0",
        "`sysctl -q net.ipv4.conf.all.rp_filter=1`\n0 close(3) = 0",
        "`sysctl -e net.ipv4.tcp_of_another_kernel=1`\n0 close(3) = 0",
        "`sysctl -q net.ipv4.tcp_congestion_control=vegas`\n0 close(3) = 0",
    ] {
        let planes = |script| [kernel::translate(&script).err(), model::play(&script).err()];
        let errors = parse(text, &include).map_or_else(|error| [Some(error), None], planes);
        let faults: Vec<Fault> = errors.iter().flatten().map(|error| error.fault).collect();
        assert!(faults.contains(&Fault::Refused), "{text}: {errors:?}");
        assert!(!faults.contains(&Fault::Syntax), "{text}: {errors:?}");
    }
}

#[test]
fn each_line_of_a_program_knows_its_line_of_the_script() {
    let text = "\n`sysctl -q net.ipv4.tcp_ecn=1\nsysctl -q net.ipv4.tcp_sack=0`\n\n0 close(3) = 0\n\
                +0 `sysctl -q net.ipv4.tcp_ecn=0`\n";
    let program = kernel::translate(&parse(text, &include).expect("a script")).expect("a program");
    let lines: Vec<(&str, u32)> = program.text.lines().zip(program.lines).collect();
    let of = |what: &str| lines.iter().find(|(text, _)| text.contains(what)).map(|(_, line)| *line);
    assert_eq!(of("tcp_ecn 1"), Some(2));
    assert_eq!(of("tcp_sack 0"), Some(3));
    assert_eq!(of("call 0"), Some(5));
    assert_eq!(of("tcp_ecn 0"), Some(6));
    assert_eq!((of("begin"), of("end")), (Some(0), Some(6)));
}

#[test]
fn what_models_lack_is_named() {
    let open = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
                +0 < S 0:0(0) win 9999 <mss 1000,sackOK,nop,nop>\n+0 > S. 0:0(0) ack 1 <...>\n\
                +.1 < . 1:1(0) ack 1 win 9999\n+0 accept(3, ..., ...) = 4\n";
    let cases = [
        ("+0 < R 1:1(0) win 0", "resets"),
        ("+0 < U. 1:1(0) ack 1 win 9 urg 1", "urgent data"),
        ("+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0", "TCP_NODELAY"),
        ("+0 %{ assert tcpi_pmtu == 1500 }%", "tcpi_pmtu"),
        ("+0 `sysctl -q net.ipv4.tcp_ecn=1`", "during a script"),
        ("+0 `sysctl -q net.ipv4.tcp_ecn_option=1`", "during a script"),
        ("+0 write(4, ..., 99999999) = 99999999", "write"),
        ("+0 < icmp unreachable [1:1(0)]", "ICMP"),
        (
            "+0 < . 1:1(0) ack 1 win 9 <ECN e1b 1 ceb 0 e0b 1,nop,nop,nop,sack 1001:2001 3001:4001>",
            "counters of accurate ECN",
        ),
    ];
    for (line, what) in cases {
        let script = parse(&format!("{open}{line}\n"), &include).expect(line);
        let error = model::play(&script).err().unwrap_or_else(|| panic!("played: {line}"));
        assert_eq!((error.fault, error.line), (Fault::Refused, 8), "{line}: {error}");
        assert!(error.message.contains(what), "{line}: {error}");
    }
    for (setting, what) in [
        ("net.ipv4.tcp_ecn=6", "tcp_ecn = 6"),
        ("net.ipv4.tcp_ecn_option=3", "tcp_ecn_option = 3"),
        (
            "net.ipv4.tcp_ecn_option=1\nsysctl -q net.ipv4.tcp_ecn_option_beacon=1",
            "tcp_ecn_option_beacon = 1",
        ),
        ("net.ipv4.tcp_congestion_control=vegas", "`vegas`"),
        ("net.ipv4.tcp_comp_sack_nr=0", "tcp_comp_sack_nr"),
    ] {
        let script = parse(&format!("`sysctl -q {setting}`\n{open}"), &include).expect(setting);
        let error = model::play(&script).err().unwrap_or_else(|| panic!("played: {setting}"));
        assert!(error.message.contains(what), "{setting}: {error}");
    }
}

#[test]
fn what_packetdrill_takes_is_taken() {
    let opened = "--local_ip=192.168.0.1\n--remote_ip=192.0.2.1\n`ip tcp_metrics flush all`\n\
                  0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 listen(3, 1) = 0\n+0 < S 0:0(0) win 1\n";
    for event in [
        "+0 %{ print(tcpi_rtt); assert 1 == 1, 'rtt %d of %d' % (tcpi_rtt, tcpi_rto) }%",
        "+0 %{ print(tcpi_snd_cwnd) }%",
        "+0 < icmp unreachable frag_needed mtu 800",
        // Options have up to 40 bytes: a value of up to 38.
        "+0 > S. 0:0(0) ack 1 <FO 0123456789abcdef0123456789abcdef0123>",
    ] {
        let script = parse(&format!("{opened}{event}"), &include);
        assert!(script.is_ok(), "{event}: {script:?}");
    }
}
