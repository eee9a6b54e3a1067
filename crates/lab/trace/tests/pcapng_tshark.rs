//! Captures as tshark reads them. Without tshark the tests are reported as ignored, with the reason.

mod capture;

use libtest_mimic::{Arguments, Failed, Trial};
use shoal_trace::pcapng::{Capture, Endpoints};
use std::io::Write;
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    let missing =
        Command::new("tshark").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err();
    let test = |name: &str, run: fn() -> Result<(), Failed>| {
        let kind = if missing { "tshark is not installed" } else { "" };
        Trial::test(name, run).with_kind(kind).with_ignored_flag(missing)
    };
    let tests = vec![
        test("fields_are_shown_as_written", fields_are_shown_as_written),
        test("code_points_are_shown_in_both_directions", code_points_are_shown_in_both_directions),
        test("whole_packets_raise_no_complaint", || no_complaint(Capture::Whole)),
        test("shortened_packets_raise_no_complaint", || no_complaint(Capture::Headers)),
        test("wrong_checksum_would_be_noticed", wrong_checksum_would_be_noticed),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}

/// Output of tshark for the file, which it reads from its standard input.
fn tshark(file: &[u8], arguments: &[&str]) -> Result<String, Failed> {
    let mut child = Command::new("tshark")
        .args(["-n", "-r", "-", "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    child.stdin.take().ok_or("no standard input")?.write_all(file)?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("tshark ended with {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn fields_are_shown_as_written() -> Result<(), Failed> {
    let fields = [
        "frame.interface_name",
        "frame.time_epoch",
        "ip.dsfield.ecn",
        "tcp.flags",
        "tcp.seq",
        "tcp.ack",
        "tcp.len",
        "tcp.window_size",
        "tcp.options.sack_le",
        "tcp.options.sack_re",
        "tcp.options.timestamp.tsval",
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        "frame.comment",
    ];
    let arguments: Vec<&str> = ["-T", "fields", "-E", "separator=|"]
        .into_iter()
        .chain(fields.iter().flat_map(|f| ["-e", f]))
        .collect();
    let shown = tshark(&capture::file(Capture::Whole), &arguments)?;
    // Sequence numbers are shown relative to the initial ones; windows scaled by 2^7 forward and 2^9 backward.
    // Flags: 0x80 is CWR, 0x40 ECE.
    let expected = "\
uplink|0.000000000|0|0x00c2|0|0|0|14600|||0|1460|7|
downlink|0.012500000|0|0x0052|0|1|0|14480|||12|1460|9|
uplink|0.025000000|2|0x0010|1|1|1448|65536|||25|||
uplink|0.026200000|3|0x0010|1449|1|1448|65536|||26|||marked: threshold
uplink|0.027400000|0|0x0010|2897|1|1448|65536|||27|||dropped: buffer
uplink|0.028600000|1|0x0010|4345|1|1448|65536|||28|||
downlink|0.051200000|0|0x0050|1|2897|0|32768|||51|||
downlink|0.053600000|0|0x0050|1|2897|0|32768|4345|5793|53|||
uplink|0.076300000|2|0x0098|2897|1|1448|65536|||76|||
downlink|0.077000000|0|0x0010|1|4345|0|32768|13033,10137,7241|14481,11585,8689|77|||
uplink|5000.000000000|2|0x0011|14481|1|1448|65536|||5000000|||
";
    if shown == expected { Ok(()) } else { Err(format!("expected\n{expected}\nshown\n{shown}").into()) }
}

fn code_points_are_shown_in_both_directions() -> Result<(), Failed> {
    // 46 is expedited forwarding ([RFC 3246, section 2.7](https://www.rfc-editor.org/rfc/rfc3246#section-2.7)).
    let file = capture::file_of(Capture::Whole, &Endpoints { code_point: 46, ..capture::ENDPOINTS });
    let fields = ["ip.dsfield.dscp", "ip.checksum.status"].into_iter().flat_map(|field| ["-e", field]);
    let shown = tshark(&file, &["-T", "fields"].into_iter().chain(fields).collect::<Vec<_>>())?;
    let expected = "46\t1\n".repeat(capture::script().len());
    if shown == expected { Ok(()) } else { Err(format!("shown\n{shown}").into()) }
}

fn no_complaint(capture: Capture) -> Result<(), Failed> {
    let file = capture::file(capture);
    // 0 is bad, 1 good, 2 unverified: without the whole payload a checksum cannot be verified.
    let statuses = tshark(&file, &["-T", "fields", "-e", "ip.checksum.status", "-e", "tcp.checksum.status"])?;
    let lines: Vec<&str> = statuses.lines().collect();
    let whole = match capture {
        Capture::Whole => "1\t1",
        Capture::Headers => "1\t2",
    };
    // Packets without a payload are whole in both.
    if lines.len() != capture::script().len() || lines.iter().any(|&line| line != "1\t1" && line != whole) {
        return Err(format!("checksum states: {lines:?}").into());
    }
    let complaints = tshark(&file, &["-Y", COMPLAINTS])?;
    if complaints.is_empty() { Ok(()) } else { Err(complaints.into()) }
}

/// Malformed packets and what tshark rates as an error. Its warnings concern the losses in the script.
const COMPLAINTS: &str = "_ws.malformed || _ws.unreassembled || _ws.expert.severity >= 8388608";

fn wrong_checksum_would_be_noticed() -> Result<(), Failed> {
    let mut file = capture::file(Capture::Whole);
    // The last byte of the file's last packet is its payload's, before the block's length.
    let last = file.len() - 5;
    file[last] ^= 1;
    let complaints = tshark(&file, &["-Y", COMPLAINTS])?;
    if complaints.lines().count() == 1 { Ok(()) } else { Err(format!("noticed: {complaints}").into()) }
}
