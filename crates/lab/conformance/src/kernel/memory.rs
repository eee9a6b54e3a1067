//! The memory to which the pointers of a system call refer. It is built here, and the guest places it.

/// An argument of a system call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Argument {
    /// A number.
    Int(i64),
    /// The descriptor with this number in the script.
    Descriptor(i64),
    /// An offset in the memory.
    Memory(usize),
    /// The area of zeros that serves as payload.
    Zeros,
}

/// An address that the guest fills in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relocation {
    /// At the first offset, the address of the second.
    Pointer(usize, usize),
    /// At this offset, the address of the zeros.
    Zeros(usize),
}

/// Memory under construction; everything in it is aligned to 8 bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Memory {
    pub(super) bytes: Vec<u8>,
    pub(super) relocations: Vec<Relocation>,
}

impl Memory {
    /// Appends bytes and returns their offset.
    pub(super) fn put(&mut self, bytes: &[u8]) -> usize {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        at
    }
    pub(super) fn put_i32(&mut self, value: i64) -> usize {
        self.put(&(value as i32).to_le_bytes())
    }
    pub(super) fn set(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }
    pub(super) fn point(&mut self, at: usize, to: usize) {
        self.relocations.push(Relocation::Pointer(at, to));
    }
    pub(super) fn point_to_zeros(&mut self, at: usize) {
        self.relocations.push(Relocation::Zeros(at));
    }
}
