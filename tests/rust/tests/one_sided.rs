use shoal_scenario::Document;
use shoal_sim::Outcome;
use shoal_tests::run;
const SENDER: &str = include_str!("../../../scenarios/one-sided-sender.toml");

fn outcome(text: &str, set: &[(&str, &str)]) -> Outcome {
    let set: Vec<_> = set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let document =
        Document::with_overrides(text, "test.toml", &set).unwrap_or_else(|errors| panic!("{errors}"));
    run(&document.resolve(None).unwrap())
}

#[test]
fn explore() {
    for stack in ["freebsd-2015"] {
    for cc in ["dctcp-freebsd", "dctcp-freebsd-14", "dctcp", "ecn-newreno"] {
        for fb in ["dctcp", "classic"] {
            for opts in [&[][..], &[("flows[0].cc_options.sends_cwr", "false")], &[("flows[0].cc_options.sends_cwr", "false"), ("flows[0].cc_options.grows_in_cwr", "false")],  &[("flows[0].cc_options.grows_in_cwr", "false")], &[("flows[0].cc_options.initial_alpha_q10", "1024")], &[("flows[0].receiver.delays_cwr_acks", "true")], &[("flows[0].receiver.delays_cwr_acks", "false")]] {
                if cc == "ecn-newreno" && opts.first().is_some_and(|o| o.0.contains("cc_opt")) { continue; }
                let mut set = vec![("flows[0].cc", cc), ("flows[0].receiver.feedback", fb), ("flows[0].stack", stack)];
                set.extend_from_slice(opts);
                let o = outcome(SENDER, &set);
                let f = &o.groups[0].flows[0];
                println!("{stack} {cc} {fb} {opts:?}: {:.1} Mbit/s cwnd {:?} alpha {:?} red {} to {} loss {} marks {}", f.goodput_bps.unwrap()/1e6, f.cwnd_packets.mean, f.alpha.mean, f.reductions, f.timeouts, f.losses, f.marks_seen);
            }
        }
    }
    }
}
