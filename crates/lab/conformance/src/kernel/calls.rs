//! Translates a script's calls into system calls of Linux on x86-64, with what must be in their memory
//! afterwards.

use super::memory::{MAX_MEMORY, MAX_ZEROS, Memory, ZEROS, address};
use super::message;
use super::symbols::system_call;
use super::values::{field, number, socket_address};
use super::wire::{LOCAL, REMOTE};
use crate::ScriptError;
use crate::syntax::ast::{Call, Value};
use crate::vocabulary;

/// An argument of a system call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Argument {
    /// A number or an address.
    Int(i64),
    /// The descriptor with this number in the script.
    Descriptor(i64),
}

/// A translated call.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct SystemCall {
    pub(super) number: i64,
    pub(super) arguments: Vec<Argument>,
    pub(super) memory: Memory,
    /// What the memory must hold afterwards.
    pub(super) outputs: Vec<Output>,
    /// The script's number for the descriptor that the call returns.
    pub(super) descriptor: Option<i64>,
}

/// A little-endian number that a call writes: its place, its size in bytes, and its expected value.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Output {
    pub(super) at: usize,
    pub(super) size: usize,
    pub(super) wanted: i64,
}

/// Translates a call.
pub(super) fn translate(call: &Call, line: u32) -> Result<SystemCall, ScriptError> {
    let Some(number) = system_call(&call.name) else {
        return Err(vocabulary::lacks(line, "the call", &call.name, vocabulary::is_call(&call.name)));
    };
    let descriptor = match call.result {
        Value::Int(fd) if call.gives_descriptor() && fd >= 0 => Some(fd),
        _ => None,
    };
    let mut builder = Builder { line, call, memory: Memory::default(), outputs: Vec::new() };
    let arguments = builder.arguments()?;
    if builder.memory.bytes.len() > MAX_MEMORY {
        return Err(ScriptError::refused(line, format!("the arguments of `{}` are too long", call.name)));
    }
    Ok(SystemCall { number, arguments, memory: builder.memory, outputs: builder.outputs, descriptor })
}

/// The argument that points to an offset in the memory.
const fn memory(offset: usize) -> Argument {
    Argument::Int(address(offset))
}

struct Builder<'a> {
    line: u32,
    call: &'a Call,
    memory: Memory,
    outputs: Vec<Output>,
}

impl Builder<'_> {
    fn argument(&self, n: usize) -> Result<&Value, ScriptError> {
        self.call.arguments.get(n).ok_or_else(|| {
            let name = &self.call.name;
            ScriptError::syntax(self.line, format!("`{name}` needs more than {n} arguments"))
        })
    }
    fn int(&self, n: usize) -> Result<Argument, ScriptError> {
        Ok(Argument::Int(number(self.argument(n)?, self.line)?))
    }
    fn descriptor(&self, n: usize) -> Result<Argument, ScriptError> {
        Ok(Argument::Descriptor(number(self.argument(n)?, self.line)?))
    }
    /// The buffer argument of a payload, and its size argument.
    fn payload(&self, n: usize) -> Result<[Argument; 2], ScriptError> {
        let size = number(self.argument(n + 1)?, self.line)?;
        if !(0..=MAX_ZEROS).contains(&size) {
            return Err(ScriptError::refused(self.line, format!("{size} bytes are too many for a call"))
                .hint("4 MiB are the most"));
        }
        let buffer = match self.argument(n)? {
            Value::Anything => Argument::Int(ZEROS),
            Value::Name(name) if name == "NULL" => Argument::Int(0),
            _ => {
                return Err(ScriptError::refused(self.line, "payload is always zeros").hint("write `...`"));
            }
        };
        Ok([buffer, Argument::Int(size)])
    }
    fn refused(&self) -> ScriptError {
        ScriptError::refused(self.line, format!("this form of `{}` is not supported", self.call.name))
    }
    fn count(&self, wanted: usize) -> Result<(), ScriptError> {
        let (name, found) = (&self.call.name, self.call.arguments.len());
        if found == wanted {
            return Ok(());
        }
        Err(ScriptError::syntax(self.line, format!("`{name}` has {wanted} arguments, not {found}")))
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, ScriptError> {
        let name = self.call.name.as_str();
        let wanted = match name {
            "close" => 1,
            "listen" | "shutdown" => 2,
            "fcntl" => self.call.arguments.len().clamp(2, 3),
            "sendto" | "recvfrom" => 6,
            "setsockopt" | "getsockopt" => 5,
            "send" | "recv" | "accept4" => 4,
            _ => 3,
        };
        self.count(wanted)?;
        Ok(match name {
            "socket" => {
                if !matches!(self.argument(0)?, Value::Anything) && number(self.argument(0)?, self.line)? != 2
                {
                    return Err(self.refused().hint("sockets are of IPv4: write `...`"));
                }
                vec![Argument::Int(2), self.int(1)?, self.int(2)?]
            }
            "bind" => self.with_address(LOCAL)?,
            "connect" => self.with_address(REMOTE)?,
            "accept" | "accept4" => {
                let (from, size) = (self.memory.put(&[0; 16]), self.memory.put_i32(16));
                let mut all = vec![self.descriptor(0)?, memory(from), memory(size)];
                if name == "accept4" {
                    all.push(self.int(3)?);
                }
                all
            }
            "listen" | "shutdown" => vec![self.descriptor(0)?, self.int(1)?],
            "close" => vec![self.descriptor(0)?],
            "fcntl" => {
                let value = if wanted == 3 { self.int(2)? } else { Argument::Int(0) };
                vec![self.descriptor(0)?, self.int(1)?, value]
            }
            "read" | "write" => [vec![self.descriptor(0)?], self.payload(1)?.to_vec()].concat(),
            "send" | "recv" => {
                let [buffer, size] = self.payload(1)?;
                vec![self.descriptor(0)?, buffer, size, self.int(3)?, Argument::Int(0), Argument::Int(0)]
            }
            "sendto" => {
                let [buffer, size] = self.payload(1)?;
                let to = self.address(4, REMOTE)?;
                vec![self.descriptor(0)?, buffer, size, self.int(3)?, memory(to), Argument::Int(16)]
            }
            "recvfrom" => {
                let [buffer, size] = self.payload(1)?;
                let (from, from_size) = (self.memory.put(&[0; 16]), self.memory.put_i32(16));
                vec![self.descriptor(0)?, buffer, size, self.int(3)?, memory(from), memory(from_size)]
            }
            "setsockopt" => self.setsockopt()?,
            "getsockopt" => self.getsockopt()?,
            "sendmsg" => {
                let header = self.argument(1)?.clone();
                message::header(&header, &mut self.memory, self.line)?;
                vec![self.descriptor(0)?, memory(0), self.int(2)?]
            }
            _ => return Err(self.refused()),
        })
    }

    fn with_address(&mut self, address: [u8; 4]) -> Result<Vec<Argument>, ScriptError> {
        let at = self.address(1, address)?;
        Ok(vec![self.descriptor(0)?, memory(at), Argument::Int(16)])
    }
    fn address(&mut self, n: usize, address: [u8; 4]) -> Result<usize, ScriptError> {
        let bytes = match self.argument(n)? {
            Value::Anything => socket_address(address),
            // This address dissolves a connection.
            Value::Name(name) if name == "AF_UNSPEC" => vec![0; 16],
            _ => return Err(self.refused().hint("addresses and ports are chosen here: write `...`")),
        };
        Ok(self.memory.put(&bytes))
    }

    fn setsockopt(&mut self) -> Result<Vec<Argument>, ScriptError> {
        let size = number(self.argument(4)?, self.line)?;
        let at = match self.argument(3)? {
            Value::Text(text) => {
                let text = text.clone();
                self.memory.put(&[text.as_slice(), &[0; 8]].concat())
            }
            value @ Value::Struct(_) => {
                let (on, time) = (field(value, "onoff"), field(value, "linger"));
                let (Some(on), Some(time)) = (on, time) else { return Err(self.refused()) };
                let (on, time) = (number(on, self.line)?, number(time, self.line)?);
                let at = self.memory.put_i32(on);
                self.memory.set(at + 4, &(time as i32).to_le_bytes());
                at
            }
            value => {
                let value = number(value, self.line)?;
                self.memory.put_i32(value)
            }
        };
        if !(0..=(self.memory.bytes.len() - at) as i64).contains(&size) {
            return Err(ScriptError::syntax(self.line, format!("the value has not {size} bytes")));
        }
        Ok(vec![self.descriptor(0)?, self.int(1)?, self.int(2)?, memory(at), Argument::Int(size)])
    }

    fn getsockopt(&mut self) -> Result<Vec<Argument>, ScriptError> {
        let size = number(self.argument(4)?, self.line)?;
        if !(1..=8).contains(&size) {
            return Err(self.refused().hint("values of up to 8 bytes are read"));
        }
        let (at, size_at) = (self.memory.put(&[0; 8]), self.memory.put_i32(size));
        if *self.argument(3)? != Value::Anything {
            let wanted = number(self.argument(3)?, self.line)?;
            self.outputs.push(Output { at, size: size as usize, wanted });
        }
        Ok(vec![self.descriptor(0)?, self.int(1)?, self.int(2)?, memory(at), memory(size_at)])
    }
}
