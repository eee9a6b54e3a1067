//! Laws of one's own: WebAssembly modules that the browser runs beside the simulator's.

use serde_json::json;
use shoal_law::Words;
use shoal_plugin::{Body, Call, Source};
use shoal_scenario::{Files, GivenFile, GivenLaw, Laws};
use shoal_units::LawFailure;
use std::cell::RefCell;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

#[wasm_bindgen]
extern "C" {
    /// A compiled module, as the page has it.
    #[derive(Debug)]
    pub type LawModule;
    /// A new instance, whose functions can be called. Throws a text.
    #[wasm_bindgen(method, catch)]
    fn start(this: &LawModule) -> Result<LawInstance, JsValue>;

    /// One instance of a module.
    #[derive(Debug)]
    pub type LawInstance;
    /// Number of the function of this name, -1 if the module has none. Throws a text.
    #[wasm_bindgen(method, catch)]
    fn find(this: &LawInstance, name: &str) -> Result<i32, JsValue>;
    /// Calls a function with these words, and leaves there what it answers. Throws a text.
    #[wasm_bindgen(method, catch)]
    fn exchange(this: &LawInstance, function: u32, words: &mut [u64]) -> Result<i32, JsValue>;
    /// The text at an address. Throws a text.
    #[wasm_bindgen(method, catch)]
    fn text(this: &LawInstance, address: i32) -> Result<String, JsValue>;
}

thread_local! {
    /// Modules and instances: what is of the browser has no place in values that other threads may have.
    static MODULES: RefCell<Vec<LawModule>> = const { RefCell::new(Vec::new()) };
    static INSTANCES: RefCell<Vec<Option<LawInstance>>> = const { RefCell::new(Vec::new()) };
    static GIVEN: RefCell<Laws> = const { RefCell::new(Laws::new()) };
}

/// A module by its number.
#[derive(Clone, Copy, Debug)]
struct Module(usize);

/// An instance by its number.
#[derive(Debug)]
struct Instance(usize);

/// What the browser says, as a text.
fn said(error: &JsValue) -> String {
    error.as_string().unwrap_or_else(|| format!("{error:?}"))
}

impl Source for Module {
    fn start(&self) -> Result<Box<dyn Body>, String> {
        let instance =
            MODULES.with_borrow(|modules| modules[self.0].start()).map_err(|error| said(&error))?;
        INSTANCES.with_borrow_mut(|instances| {
            let free = instances.iter().position(Option::is_none).unwrap_or(instances.len());
            instances.resize_with(instances.len().max(free + 1), || None);
            instances[free] = Some(instance);
            Ok(Box::new(Instance(free)) as Box<dyn Body>)
        })
    }
}

impl Instance {
    fn ask<T>(&self, ask: impl FnOnce(&LawInstance) -> Result<T, JsValue>) -> Result<T, String> {
        INSTANCES.with_borrow(|instances| {
            let instance = instances[self.0].as_ref().ok_or("it is not there any more")?;
            ask(instance).map_err(|error| said(&error))
        })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        INSTANCES.with_borrow_mut(|instances| instances[self.0] = None);
    }
}

impl Body for Instance {
    fn function(&mut self, name: &'static str) -> Result<Option<Call>, String> {
        self.ask(|instance| instance.find(name)).map(|number| usize::try_from(number).ok())
    }
    fn exchange(&mut self, function: Call, words: &mut Words, answers: &[usize]) -> Result<i32, String> {
        let mut all = words.0;
        let answer = self.ask(|instance| instance.exchange(function as u32, &mut all))?;
        for word in answers {
            words.0[*word] = all[*word];
        }
        Ok(answer)
    }
    fn text(&self, address: i32) -> Result<String, String> {
        self.ask(|instance| instance.text(address))
    }
}

/// Takes a law that scenarios call `name`, and answers what it is as JSON: its kind, and its sentence.
///
/// # Errors
/// Why it is no law, as text.
#[wasm_bindgen]
pub fn law(name: &str, sha256: &str, description: String, module: LawModule) -> Result<String, String> {
    shoal_plugin::on_failure(throw);
    let number = MODULES.with_borrow_mut(|modules| {
        modules.push(module);
        modules.len() - 1
    });
    let source = || Box::new(Module(number)) as Box<dyn Source>;
    let controller = shoal_plugin::controller_from(name, sha256.as_bytes(), description.clone(), source());
    let queue = shoal_plugin::queue_from(name, sha256.as_bytes(), description, source());
    let (kind, summary) = match (&controller, &queue) {
        (Ok(config), _) => ("controller", config.law().summary()),
        (_, Ok(config)) => ("queue", config.law().summary()),
        // What is wrong with a law of a queue is said of that, and not that it is no controller.
        (Err(why), Err(other)) => return Err(if why.contains("name it as") { other } else { why }.clone()),
    };
    let said = json!({ "kind": kind, "summary": summary }).to_string();
    let file = name.trim_start_matches("file:").to_owned();
    let simulator = Some(GivenFile { file, sha256: sha256.to_owned() });
    let given = GivenLaw { simulator, python: None, kernel: None, controller, queue: queue.map(Ok) };
    GIVEN.with_borrow_mut(|laws| laws.insert(name.to_owned(), given));
    Ok(said)
}

/// A run cannot be caught here: the browser gets the failure as an exception, and the instance is of no further use.
fn throw(failure: &LawFailure) {
    wasm_bindgen::throw_str(&failure.to_string());
}

/// The files for a scenario: the laws that it may mean, by their names or by those of their files.
pub(crate) fn files(text: &str) -> Files {
    let mut files = Files::default();
    GIVEN.with_borrow(|laws| {
        files.laws = laws
            .iter()
            .filter(|(name, _)| text.contains(*name))
            .map(|(name, law)| (name.clone(), law.clone()))
            .collect();
    });
    files
}
