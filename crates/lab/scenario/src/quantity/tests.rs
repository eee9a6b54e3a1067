use super::*;
use shoal_units::{Rate, Span};

#[test]
fn values_are_exact() {
    assert_eq!(Duration::parse("25 ms").unwrap().span(), Span::from_millis(25));
    assert_eq!(Duration::parse("0.1 s").unwrap().span(), Span::from_millis(100));
    assert_eq!(Duration::parse("1.001 ns").unwrap().span(), Span::from_picos(1001));
    assert_eq!(DataRate::parse("0.3 Mbit/s").unwrap().rate(), Some(Rate::from_bps(300_000)));
    assert_eq!(DataRate::parse("2.5 Gbit/s").unwrap().rate(), Some(Rate::from_bps(2_500_000_000)));
    assert_eq!(DataRate::parse("unlimited").unwrap().rate(), None);
    assert_eq!(Size::parse("1.5 KiB").unwrap().bytes(), Some(1536));
    assert_eq!(Size::parse("800 kB").unwrap().bytes(), Some(800_000));
    assert_eq!(PacketCount::parse("1 packet").unwrap(), PacketCount::of(1));
}

#[test]
fn fractions_are_not_rounded() {
    let of_bdp = |text| Amount::parse(text).unwrap().value().unwrap().times(Ratio::whole(31_250)).unwrap();
    let bytes = of_bdp("0.67 BDP");
    assert_eq!((bytes.floor(), bytes.as_f64(), bytes.exact()), (20_937, 20_937.5, None));
    assert_eq!((bytes.ceil(), Ratio::whole(3).ceil()), (20_938, 3));
    // In binary floating point 2.01 * 31250 is 62812.49999999999.
    assert_eq!(of_bdp("2.01 BDP").as_f64(), 62_812.5);
    assert!(bytes.exceeds(Ratio::whole(20_937)) && !bytes.exceeds(Ratio::whole(20_938)));
}

#[test]
fn spelling_is_normalised() {
    for (written, shown) in
        [("0.50 BDP", "0.5 BDP"), ("007 s", "7 s"), ("10.0 ms", "10 ms"), ("1 packets", "1 packet")]
    {
        assert_eq!(Amount::parse(written).unwrap().to_string(), shown);
    }
}

#[test]
fn errors_say_what_would_be_right() {
    let rate = |text| {
        DataRate::parse(text).map_or_else(|e| format!("{} | {}", e.message, e.hint), |_| String::new())
    };
    let list = "units here: bit/s, kbit/s, Mbit/s, Gbit/s, or \"unlimited\"; as in \"10 Mbit/s\"";
    assert_eq!(rate("10mbps"), "`10mbps` is not written as a quantity | write \"10 Mbit/s\"");
    assert_eq!(rate("10Mbit/s"), "`10Mbit/s` is not written as a quantity | write \"10 Mbit/s\"");
    assert_eq!(rate("10  Mbit/s"), "`10  Mbit/s` is not written as a quantity | write \"10 Mbit/s\"");
    assert_eq!(rate("1,5 Gbps"), "`1,5 Gbps` is not written as a quantity | write \"1.5 Gbit/s\"");
    assert_eq!(rate("10"), format!("`10` has no unit | {list}"));
    assert_eq!(rate("-1 Mbit/s"), "`-1 Mbit/s` is negative | a rate is never negative");
    assert_eq!(rate("25 ms"), format!("`25 ms` is a time, not a rate | {list}"));
    assert_eq!(rate("10 furlongs"), format!("unknown unit `furlongs` in `10 furlongs` | {list}"));
    assert_eq!(rate("0.5 bit/s"), "`0.5 bit/s` is not a whole number of bit/s | for example \"10 Mbit/s\"");
    assert_eq!(
        rate("1e6 bit/s"),
        "`1e6 bit/s` has an exponent | write the number out, or use a larger or smaller unit"
    );
    for text in ["1 EB", "1e bit/s", "1 exabit/s"] {
        assert!(rate(text).starts_with("unknown unit"), "{}", rate(text));
    }
    assert!(rate("1E-3 Mbit/s").contains("has an exponent"));
    assert_eq!(rate("nan"), "`nan` is not a rate | write a number, a space and a unit, as in \"10 Mbit/s\"");
    assert_eq!(
        rate("99999999999999999999 bit/s"),
        "`99999999999999999999 bit/s` has too many digits | at most 18 digits, 15 of them after the point"
    );
    assert_eq!(rate(""), "the quantity is empty | write a number, a space and a unit, as in \"10 Mbit/s\"");
    let time = Duration::parse("unlimited").unwrap_err();
    assert_eq!(
        (time.message.as_str(), time.hint.as_str()),
        ("a time cannot be unlimited", "write a number and a unit, as in \"25 ms\"")
    );
}

proptest::proptest! {
    #[test]
    fn written_and_read_back(digits in 0u64..1_000_000, scale in 0usize..9) {
        let text = format!("{digits:010}");
        let (whole, fraction) = text.split_at(text.len() - scale);
        let number = if scale == 0 { text.clone() } else { format!("{whole}.{fraction}") };
        let value = Duration::parse(&format!("{number} s")).unwrap();
        proptest::prop_assert_eq!(Duration::parse(&value.to_string()).unwrap(), value);
        // The expected picoseconds are computed from the digits, independently of the decimal code.
        let picos = u128::from(digits) * 10u128.pow(12 - scale as u32);
        proptest::prop_assert_eq!(u128::from(value.span().as_picos()), picos);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,40}") {
        let _ = (Duration::parse(&text), DataRate::parse(&text), Size::parse(&text));
        let _ = (Amount::parse(&text), PacketCount::parse(&text));
    }
}
