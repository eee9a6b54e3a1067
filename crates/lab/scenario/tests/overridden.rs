//! A document with further `--set` arguments is the one that its text with all arguments gives, in what it says too.

use shoal_scenario::{Document, Laws};

const TEXT: &str = r#"
duration = "20 s"
bottleneck = { rate = "10 Mbit/s", aqm = { kind = "step", threshold = "20 packets" } }
flows = [{ cc = "dctcp", rtt = "25 ms" }, { cc = "reno", count = 2, rtt = "25 ms" }]
"#;

fn argument(text: &str) -> (String, String) {
    let (key, value) = text.split_once('=').expect("key=value");
    (key.trim().to_owned(), value.trim().to_owned())
}

#[test]
fn further_arguments_give_what_the_text_with_all_of_them_gives() {
    let first = [argument("bottleneck.rate = 20 Mbit/s"), argument("seed = 7")];
    let base = Document::with_overrides(TEXT, "base.toml", &first).expect("valid");
    let further = [
        "bottleneck.rate = 40 Mbit/s",
        "bottleneck.aqm.threshold = 3 packets",
        "flows[1].count = 5",
        "flows.*.rtt = 10 ms",
        "warmup = 1 s",
        // Refused, each for another reason and at another place.
        "bottleneck.rate = 40 Mbit/q",
        "bottleneck.aqm.treshold = 3 packets",
        "flows[2].count = 5",
        "flows.cubic.rtt = 10 ms",
        "warmup = 30 s",
        "rate",
    ];
    let (mut accepted, mut refused) = (0, 0);
    for text in further {
        let last = text.split_once('=').map_or_else(|| (text.to_owned(), String::new()), |_| argument(text));
        let all = [first[0].clone(), first[1].clone(), last.clone()];
        match (base.overridden(&[last], Laws::new()), Document::with_overrides(TEXT, "base.toml", &all)) {
            (Ok(changed), Ok(read)) => {
                assert_eq!(changed.to_toml(), read.to_toml(), "{text}");
                assert_eq!(changed.warnings(), read.warnings(), "{text}");
                assert_eq!(changed.notes(), read.notes(), "{text}");
                accepted += 1;
            }
            (Err(changed), Err(read)) => {
                assert_eq!(changed.to_string(), read.to_string(), "{text}");
                refused += 1;
            }
            (changed, read) => panic!("{text}: {changed:?}\n{read:?}"),
        }
    }
    assert_eq!((accepted, refused), (5, 6));
}
