use super::*;

fn notice(kind: &str, groups: &[&str], mechanisms: &[&str]) -> Notice {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let (groups, mechanisms) = (owned(groups), owned(mechanisms));
    Notice {
        kind: kind.to_owned(),
        text: "text".to_owned(),
        groups,
        links: vec!["core".to_owned()],
        mechanisms,
    }
}

#[test]
fn the_first_mechanism_is_the_cause_and_a_note_is_its_own() {
    let notices = [
        notice("link-not-full", &[], &["buffer-below-bdp", "still-growing"]),
        notice("runs-as-reno", &["a", "b"], &[]),
        notice("starved", &["a", "b", "c", "d", "e"], &[]),
        notice("stalls-left-out", &["a"], &[]),
    ];
    let raised = explanations(&notices);
    let words: Vec<_> = raised.iter().map(|each| (each.question.as_str(), each.cause)).collect();
    assert_eq!(
        words,
        [
            ("Why is core not full?", Some("buffer-below-bdp")),
            ("Why does a and b behave like Reno?", Some("runs-as-reno")),
            ("Why does a and b and c and others get so little?", None),
        ]
    );
    assert_eq!(raised[0].change, Some("a larger buffer"));
    assert!(raised[1].change.is_some_and(|change| change.contains("tcp_ecn")));
    assert_eq!(raised[2].change, None);
}
