//! The memory to which the pointers of a system call refer. It is built here, and the guest has it at a fixed address.

/// Address of the memory in the guest, and its size in bytes (`linux/guest/script.c`).
const MEMORY: i64 = 1 << 32;
pub(super) const MAX_MEMORY: usize = 4096;

/// Address of the zeros from which payload is written and into which it is read, and their size in bytes.
pub(super) const ZEROS: i64 = MEMORY + MAX_MEMORY as i64;
pub(super) const MAX_ZEROS: i64 = 4 << 20;

/// Memory under construction; everything in it is aligned to 8 bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Memory {
    pub(super) bytes: Vec<u8>,
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
    pub(super) fn point(&mut self, at: usize, to: i64) {
        self.set(at, &to.to_le_bytes());
    }
}

/// The address of an offset in the memory.
pub(super) const fn address(offset: usize) -> i64 {
    MEMORY + offset as i64
}
