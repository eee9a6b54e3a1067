//! Replays the vectors of DCTCP's law (`linux/modules/tests/build/vectors/dctcp.tsv`) in the kernel, row by row.
//!
//! `replay_vectors law_vectors.bpf.o dctcp.tsv`, as root.

use std::error::Error;

use libbpf_rs::{ObjectBuilder, ProgramInput};

/// Numbers of `struct operation` in linux/bpf/tests/law_vectors.bpf.c: letter, fields, alpha, cwnd, ssthresh, counter,
/// undo.
const NUMBERS: usize = 22;
const FIELDS: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    let [object, vectors]: [String; 2] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "usage: replay_vectors OBJECT VECTORS")?;
    let loaded = ObjectBuilder::default().open_file(object)?.load()?;
    let program =
        loaded.progs_mut().find(|program| program.name() == "carry_out").ok_or("no program `carry_out`")?;
    let (mut operations, mut configurations) = (0, 0);
    for (at, line) in
        std::fs::read_to_string(&vectors)?.lines().enumerate().filter(|(_, line)| !line.starts_with('#'))
    {
        let wrong = |what: &str| format!("{vectors}:{}: {what}", at + 1);
        let mut words = line.split('\t');
        let letter =
            words.next().and_then(|word| word.bytes().next()).ok_or_else(|| wrong("an empty row"))?;
        let numbers = words
            .map(|word| word.parse::<u64>().map(|number| number as u32))
            .collect::<Result<Vec<_>, _>>()?;
        // The rest of the row is the state after it: alpha, cwnd, ssthresh, counter; before it comes what undo gave.
        let arguments = match letter {
            b'c' => numbers.len(),
            _ => numbers.len().checked_sub(4).ok_or_else(|| wrong("too few fields"))?,
        };
        let mut operation = [0u32; NUMBERS];
        operation[0] = u32::from(letter);
        operation[1..][..arguments.min(FIELDS)].copy_from_slice(&numbers[..arguments.min(FIELDS)]);
        let mut bytes: Vec<u8> = operation.iter().flat_map(|number| number.to_le_bytes()).collect();
        let done =
            program.test_run(ProgramInput { context_in: Some(&mut bytes), ..ProgramInput::default() })?;
        if done.return_value != 0 {
            return Err(wrong("unknown operation").into());
        }
        let after: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|part| u32::from_le_bytes([part[0], part[1], part[2], part[3]]))
            .collect();
        if letter == b'c' {
            configurations += 1;
            continue;
        }
        operations += 1;
        let state = &after[1 + FIELDS..][..4];
        if state != &numbers[arguments..] || (letter == b'u' && after[NUMBERS - 1] != numbers[0]) {
            return Err(
                wrong(&format!("the model says {:?}, the kernel {state:?}", &numbers[arguments..])).into()
            );
        }
    }
    if operations == 0 {
        return Err(format!("{vectors}: no rows").into());
    }
    println!("the law in the kernel: {operations} operations in {configurations} configurations agree");
    Ok(())
}
