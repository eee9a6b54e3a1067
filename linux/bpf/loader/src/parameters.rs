//! Parameters of a program: what it says of them in `.rodata.parameter`, and their values in `.data`.

use std::collections::BTreeMap;

use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore as _, MapFlags, MapHandle, OpenObject};
use serde::Serialize;

use crate::refusal::{Outcome, Refusal};

const DESCRIBED: &str = ".rodata.parameter";
const VALUES: &str = ".data";
/// Sizes of the texts in `struct parameter` of linux/bpf/parameter.h, and of its five numbers between them.
const NAME: usize = 24;
const NUMBERS: usize = 5;
const TEXT: usize = 100;
const SIZE: usize = NAME + 4 * NUMBERS + TEXT;
/// Characters that the kernel keeps of a map's name.
const NAME_IN_KERNEL: usize = 15;

/// A parameter and its value.
#[derive(Serialize)]
pub struct Parameter {
    name: String,
    value: u32,
    least: u32,
    most: u32,
    step: u32,
    text: String,
    #[serde(skip)]
    at: usize,
    #[serde(skip)]
    bytes: usize,
}

/// Gives parameters the values that are asked for; returns all of them.
pub fn set(object: &mut OpenObject, wanted: &BTreeMap<String, u32>) -> Outcome<Vec<Parameter>> {
    let mut parameters = described(object)?;
    for (name, value) in wanted {
        let Some(parameter) = parameters.iter_mut().find(|parameter| parameter.name == *name) else {
            let names: Vec<_> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
            return Err(Refusal::new(
                format!("there is no parameter `{name}`"),
                format!("parameters: {}", names.join(", ")),
            ));
        };
        parameter.take(*value)?;
    }
    let mut values = part(object, VALUES)?.to_vec();
    for parameter in &mut parameters {
        let place = values
            .get_mut(parameter.at..parameter.at + parameter.bytes)
            .ok_or_else(|| broken(format!("`{}` lies outside of {VALUES}", parameter.name)))?;
        if wanted.contains_key(&parameter.name) {
            place.copy_from_slice(&parameter.value.to_le_bytes()[..parameter.bytes]);
        } else {
            parameter.value = number(place);
        }
    }
    in_order(&parameters)?;
    change(object, VALUES, &values)?;
    Ok(parameters)
}

/// The parameters of an object in the kernel, as they are now; none if it is not one of shoal's. All that was loaded
/// with it has its description of types, by whose number it is known.
pub fn loaded(types: u32) -> Vec<Parameter> {
    let part = |ending: &str| {
        let ending = &ending[..ending.len().min(NAME_IN_KERNEL)];
        let map = MapInfoIter::default()
            .find(|map| map.btf_id == types && map.name.to_string_lossy().ends_with(ending))?;
        MapHandle::from_map_id(map.id).ok()?.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok().flatten()
    };
    let (Some(described), Some(values)) = (part(DESCRIBED), part(VALUES)) else { return Vec::new() };
    let mut parameters: Vec<_> = described.chunks_exact(SIZE).map(parameter).collect();
    for parameter in &mut parameters {
        parameter.value = values.get(parameter.at..parameter.at + parameter.bytes).map_or(0, number);
    }
    parameters
}

/// Refuses thresholds of RED in the wrong order, as the module does.
fn in_order(parameters: &[Parameter]) -> Outcome<()> {
    let value = |name: &str| parameters.iter().find(|each| each.name == name).map(|each| each.value);
    match (value("min_us"), value("max_us")) {
        (Some(min), Some(max)) if min > max => Err(Refusal::new(
            format!("min_us is {min}, above max_us, which is {max}"),
            "lower min_us or raise max_us",
        )),
        _ => Ok(()),
    }
}

/// Lets the program trace, or not.
pub fn set_tracing(object: &mut OpenObject, traces: bool) -> Outcome<()> {
    // The only variable of this map.
    change(object, ".rodata", &[u8::from(traces)])
}

/// Tells a marker its device.
pub fn set_device(object: &mut OpenObject, device: &[u8]) -> Outcome<()> {
    change(object, ".rodata.device", device)
}

impl Parameter {
    fn take(&mut self, value: u32) -> Outcome<()> {
        if value < self.least || value > self.most || (value - self.least) % self.step != 0 {
            let range = match (self.most - self.least) / self.step {
                1 => format!("{} or {}", self.least, self.most),
                _ => format!("{} to {}", self.least, self.most),
            };
            return Err(Refusal::new(
                format!("{} is {value}; it must be {range}", self.name),
                self.text.clone(),
            ));
        }
        self.value = value;
        Ok(())
    }
}

fn described(object: &OpenObject) -> Outcome<Vec<Parameter>> {
    Ok(part(object, DESCRIBED)?.chunks_exact(SIZE).map(parameter).collect())
}

fn parameter(bytes: &[u8]) -> Parameter {
    let (name, rest) = bytes.split_at(NAME);
    let (numbers, text) = rest.split_at(4 * NUMBERS);
    let numbers: Vec<u32> = numbers.chunks_exact(4).map(number).collect();
    Parameter {
        name: words(name),
        value: 0,
        at: numbers[0] as usize,
        bytes: numbers[1] as usize,
        least: numbers[2],
        most: numbers[3],
        step: numbers[4],
        text: words(text),
    }
}

fn words(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// A number of up to four bytes, the lowest first.
fn number(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte))
}

/// The bytes of a map of the object, as they will be in the kernel.
fn part<'a>(object: &'a OpenObject, ending: &str) -> Outcome<&'a [u8]> {
    let name = named(object, ending)?;
    let bytes = object.maps().find(|map| map.name().to_string_lossy() == name).and_then(|map| {
        let bytes: Option<&[u8]> = map.initial_value();
        // The object owns them; `OpenMap` lends them for its own, shorter life.
        bytes.map(|bytes| unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) })
    });
    bytes.ok_or_else(|| broken(format!("{ending} is empty")))
}

fn change(object: &mut OpenObject, ending: &str, bytes: &[u8]) -> Outcome<()> {
    let name = named(object, ending)?;
    let mut map = object.maps_mut().find(|map| map.name().to_string_lossy() == name);
    let place =
        map.as_mut().and_then(|map| map.initial_value_mut()).filter(|place| place.len() >= bytes.len());
    place.ok_or_else(|| broken(format!("{ending} cannot be set")))?[..bytes.len()].copy_from_slice(bytes);
    Ok(())
}

/// The loader of the kernel's developers puts the beginning of the object's name before `.data` and `.rodata`.
fn named(object: &OpenObject, ending: &str) -> Outcome<String> {
    let names = object.maps().map(|map| map.name().to_string_lossy().into_owned());
    names
        .filter(|name| name.ends_with(ending))
        .min_by_key(String::len)
        .ok_or_else(|| broken(format!("there is no map {ending}")))
}

fn broken(what: String) -> Refusal {
    Refusal::new(format!("this is no program of shoal: {what}"), "build it again: shoal bpf build")
}
