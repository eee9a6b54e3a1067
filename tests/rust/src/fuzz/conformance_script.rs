//! Conformance scripts: never panics; what is read can be translated and played, and plays the same twice.

use shoal_conformance::{judge_kernel, judge_model, kernel, model, parse};

/// Input: a script, and the records of a guest that played it.
///
/// # Panics
/// If one of these properties does not hold.
pub fn conformance_script(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let include = |name: &str| (name == "./defaults.sh").then(|| "sysctl -q net.ipv4.tcp_ecn=0".to_string());
    let Ok(script) = parse(&text, &include) else { return };
    if let Ok(program) = kernel::translate(&script) {
        assert!(!program.text.contains('\r') && program.text.lines().all(|line| !line.is_empty()));
        if let Ok(transcript) = kernel::read(&script, &program, input) {
            judge_kernel(&script, &transcript);
        }
    }
    if let Ok(played) = model::play(&script) {
        assert!(played.script.events.len() <= script.events.len());
        assert_eq!(model::play(&script).as_ref(), Ok(&played));
        judge_model(&played.script, &played.transcript);
    }
}
