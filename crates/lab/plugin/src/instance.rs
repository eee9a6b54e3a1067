//! A module that runs: calls with a limit of instructions, and in words what stopped one.

use crate::body::{Body, Call, Source};
use shoal_law::{BYTES, Words};
use std::sync::OnceLock;
use wasmi::{
    CompilationMode, Config, EnforcedLimits, Engine, Error, Extern, Linker, Memory, Module, Store,
    StoreLimits, StoreLimitsBuilder, TrapCode, TypedFunc,
};

/// Instructions that one call may take: some hundredth of a second. CUBIC's longest takes some hundred.
const FUEL: u64 = 5_000_000;
/// Memory that one instance may have.
const MEMORY_BYTES: usize = 16 << 20;
/// Longest description that is read, and longest sentence.
const TEXT_BYTES: usize = 1 << 16;
/// Largest module that is read.
pub(crate) const MODULE_BYTES: usize = 4 << 20;

/// An export of a law that host calls: takes nothing, and answers a number.
type Export = TypedFunc<(), i32>;

/// A module that has been read.
#[derive(Debug)]
pub(crate) struct Compiled(Module);

/// One instance of a law's module with the place of its block.
#[derive(Debug)]
pub(crate) struct Instance {
    store: Store<StoreLimits>,
    instance: wasmi::Instance,
    memory: Memory,
    block: usize,
    /// Functions that have been asked for, by their number.
    functions: Vec<Export>,
}

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        let mut config = Config::default();
        config
            .consume_fuel(true)
            .compilation_mode(CompilationMode::Eager)
            .enforced_limits(EnforcedLimits::strict());
        Engine::new(&config)
    })
}

/// Reads a module: WebAssembly, or its text form.
pub(crate) fn compile(bytes: &[u8]) -> Result<Compiled, String> {
    if bytes.is_empty() {
        return Err("the file is empty".into());
    }
    if bytes.len() > MODULE_BYTES {
        return Err(format!("the file has {} bytes, more than {MODULE_BYTES}", bytes.len()));
    }
    let module = Module::new(engine(), bytes).map_err(|error| format!("it is no WebAssembly: {error}"))?;
    if let Some(import) = module.imports().next() {
        return Err(format!(
            "it imports `{}.{}`, and a law may import nothing: it has neither a clock nor files nor a network",
            import.module().escape_debug(),
            import.name().escape_debug()
        ));
    }
    Ok(Compiled(module))
}

impl Source for Compiled {
    fn start(&self) -> Result<Box<dyn Body>, String> {
        Ok(Box::new(Instance::new(self)?))
    }
}

impl Instance {
    /// A new instance, whose start function has run.
    pub(crate) fn new(module: &Compiled) -> Result<Self, String> {
        let limits = StoreLimitsBuilder::new()
            .memory_size(MEMORY_BYTES)
            .table_elements(1 << 16)
            .memories(1)
            .tables(4)
            .trap_on_grow_failure(true)
            .build();
        let mut store = Store::new(engine(), limits);
        store.limiter(|limits| limits);
        refuel(&mut store);
        let instance = Linker::new(engine())
            .instantiate_and_start(&mut store, &module.0)
            .map_err(|error| format!("it does not start: {}", reason(&error)))?;
        let memory = instance.get_export(&store, "memory").and_then(Extern::into_memory);
        let memory = memory.ok_or("it exports no memory called `memory`")?;
        let mut new = Self { store, instance, memory, block: 0, functions: Vec::new() };
        let address = new.required("shoal_io")?;
        let address = new.call(address).map_err(|why| format!("`shoal_io` failed: {why}"))?;
        new.block = address as u32 as usize;
        if new.memory.data(&new.store).get(new.block..).is_none_or(|rest| rest.len() < BYTES) {
            return Err(format!("the block of {BYTES} bytes at {} is not within its memory", new.block));
        }
        Ok(new)
    }

    /// The export `name`, if there is one.
    fn export(&self, name: &str) -> Result<Option<Export>, String> {
        match self.instance.get_export(&self.store, name) {
            None => Ok(None),
            Some(Extern::Func(function)) => function.typed(&self.store).map(Some).map_err(|_| {
                format!("its export `{name}` is no function without arguments that answers an i32")
            }),
            Some(_) => Err(format!("its export `{name}` is no function")),
        }
    }

    /// The export `name`, which every law has.
    fn required(&self, name: &str) -> Result<Export, String> {
        self.export(name)?.ok_or_else(|| format!("it has no export `{name}`"))
    }

    fn call(&mut self, call: Export) -> Result<i32, String> {
        refuel(&mut self.store);
        call.call(&mut self.store, ()).map_err(|error| reason(&error))
    }

    /// What the module says of itself.
    pub(crate) fn description(&mut self) -> Result<String, String> {
        let describe = self.required("shoal_describe")?;
        let address = self.call(describe).map_err(|why| format!("`shoal_describe` failed: {why}"))?;
        self.text(address)
    }
}

impl Body for Instance {
    fn function(&mut self, name: &'static str) -> Result<Option<Call>, String> {
        let export = self.export(name)?;
        Ok(export.map(|export| {
            self.functions.push(export);
            self.functions.len() - 1
        }))
    }

    fn exchange(&mut self, function: Call, words: &mut Words, answers: &[usize]) -> Result<i32, String> {
        let block = self.block..self.block + BYTES;
        words.write_to(&mut self.memory.data_mut(&mut self.store)[block.clone()]);
        let answer = self.call(self.functions[function])?;
        words.read_from(&self.memory.data(&self.store)[block], answers);
        Ok(answer)
    }

    fn text(&self, address: i32) -> Result<String, String> {
        let rest = self.memory.data(&self.store).get(address as u32 as usize..).unwrap_or_default();
        let end = rest.iter().take(TEXT_BYTES).position(|byte| *byte == 0);
        let text =
            end.ok_or_else(|| format!("there is no text of at most {TEXT_BYTES} bytes at {address}"))?;
        String::from_utf8(rest[..text].to_vec()).map_err(|_| format!("the text at {address} is not UTF-8"))
    }
}

fn refuel(store: &mut Store<StoreLimits>) {
    // The engine counts instructions, so that there is fuel.
    let _ = store.set_fuel(FUEL);
}

/// What stopped a call, in words.
fn reason(error: &Error) -> String {
    match error.as_trap_code() {
        Some(TrapCode::OutOfFuel) => format!("it did not end within {FUEL} instructions"),
        Some(TrapCode::UnreachableCodeReached) => "it stopped itself (unreachable)".into(),
        Some(TrapCode::MemoryOutOfBounds) => "it reached beyond its memory".into(),
        Some(TrapCode::IntegerDivisionByZero) => "it divided by zero".into(),
        Some(TrapCode::IntegerOverflow) => "a division overflowed".into(),
        Some(TrapCode::BadConversionToInteger) => "it made an integer of what is no number".into(),
        Some(TrapCode::StackOverflow) => "its calls are too deep".into(),
        Some(TrapCode::GrowthOperationLimited) => {
            format!("it asked for more than {} MiB of memory", MEMORY_BYTES >> 20)
        }
        _ => error.to_string(),
    }
}
