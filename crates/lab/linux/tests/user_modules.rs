//! Kernel modules of the user in plans: what is loaded, with which parameters and options, and what is refused.

mod common;

use common::{experiment, kernel_with, lines};
use shoal_linux::{Kernel, Plan, Refusal};

/// A kernel with a module `sch_short` that registers the discipline `short` and has the parameter `limit`.
fn kernel() -> Kernel {
    let module = r#"{
        "name": "sch_short", "source": "sch_short.c", "source_sha256": "01", "includes": {}, "module_sha256": "02",
        "compiler": "gcc 12", "kernel": "7.3.4-shoal", "controllers": [], "disciplines": ["short"],
        "parameters": { "limit": "uint" }
    }"#;
    Kernel {
        user_modules: vec![serde_json::from_str(module).unwrap()],
        ..kernel_with("cubic reno", "pfifo netem")
    }
}

fn plan(aqm: &str, kernel: &Kernel) -> Result<Plan, Vec<Refusal>> {
    let text = format!(
        r#"
duration = "20 s"
bottleneck = {{ rate = "40 Mbit/s", buffer = "1000 packets", aqm = {{ kind = "module", {aqm} }} }}
flows = [{{ cc = "reno", rtt = "10 ms" }}]
"#
    );
    Plan::new(&experiment(&text), kernel, false)
}

/// Attributes of netlink: length 8 and number 1 with 20 in 32 bits; length 5 and number 2 with 7, padded; text.
#[test]
fn a_module_is_loaded_first_and_its_queue_has_its_options() {
    let options = "[{ attribute = 1, u32 = 20 }, { attribute = 2, u8 = 7 }, { attribute = 3, text = 'ab' }]";
    let aqm = format!("name = 'short', parameters = {{ limit = 30 }}, options = {options}");
    let plan = plan(&aqm, &kernel()).unwrap();
    assert_eq!(lines(&plan, "load"), ["load sch_short limit=30"]);
    let config: Vec<&str> = plan.config.lines().collect();
    assert_eq!(
        config[1..4],
        ["module /backtrace.ko", "write init kernel/printk 7", "load sch_short limit=30"]
    );
    let queue = config.iter().find(|line| line.contains(" short ")).unwrap();
    let bytes = ["08000100", "14000000", "05000200", "07000000", "07000300", "61620000"].concat();
    assert!(queue.ends_with(&format!(" short {bytes}")), "{queue}");
    let rule = plan.rules.iter().find(|rule| rule.place == "module `sch_short`").unwrap();
    assert!(rule.text.contains("queue discipline `short`"), "{}", rule.text);
}

#[test]
fn what_the_module_does_not_have_is_refused_with_what_it_has() {
    let refused = |aqm: &str, kernel: &Kernel| {
        let mut refusals = plan(aqm, kernel).unwrap_err();
        assert_eq!(refusals.len(), 1, "{refusals:#?}");
        refusals.remove(0)
    };
    let parameter = refused("name = 'short', parameters = { limits = 30 }", &kernel());
    assert_eq!(parameter.reason, "the module sch_short.c has no parameter `limits`");
    assert_eq!(parameter.hint, "it has: limit");
    let name = refused("name = 'sort'", &kernel());
    assert!(name.reason.ends_with("they register short (sch_short.c)"), "{}", name.reason);
    assert_eq!(name.hint, "write name = \"short\"");
    let none = refused("name = 'short'", &kernel_with("reno", "pfifo netem"));
    assert!(none.hint.contains("--module FILE"), "{}", none.hint);
}

#[test]
fn a_kernel_without_modules_of_the_user_loads_nothing_of_theirs() {
    let text = r#"
duration = "20 s"
bottleneck = { rate = "40 Mbit/s", buffer = "1000 packets" }
flows = [{ cc = "reno", rtt = "10 ms" }]
"#;
    let plan = Plan::new(&experiment(text), &kernel_with("reno", "pfifo netem"), false).unwrap();
    assert!(!plan.config.contains("backtrace"));
    assert!(!plan.config.contains("printk"));
}
