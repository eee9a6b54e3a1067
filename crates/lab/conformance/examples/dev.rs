//! dev
use std::path::Path;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let file = Path::new(&args[2]);
    let text = std::fs::read_to_string(file).unwrap();
    let dir = file.parent().unwrap().to_path_buf();
    let include = |name: &str| std::fs::read_to_string(dir.join(name)).ok();
    let script = match shoal_conformance::parse(&text, &include) {
        Ok(s) => s,
        Err(e) => { println!("REFUSED {:?} {e}", e.fault); return; }
    };
    if args[1] == "model" {
        let v = shoal_conformance::report::on_model(&text, &include);
        println!("{v}");
        return;
    }
    let program = match shoal_conformance::kernel::translate(&script) {
        Ok(s) => s,
        Err(e) => { println!("REFUSED {:?} {e}", e.fault); return; }
    };
    if args[1] == "program" { print!("{}", program.text); return; }
    let bytes = std::fs::read(&args[3]).unwrap();
    match shoal_conformance::kernel::read(&script, &program, &bytes) {
        Err(e) => println!("BROKEN {e}"),
        Ok(t) => match shoal_conformance::judge_kernel(&script, &t) {
            None => println!("PASS {}", t.notes.join("; ")),
            Some(f) => println!("FAIL line {}: {}\n    wanted {}\n    seen   {}", f.line, f.what, f.wanted, f.seen),
        },
    }
}
