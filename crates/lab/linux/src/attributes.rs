//! Encodes netlink attributes (`struct rtattr`): length, type, value, padded to four bytes. They are in
//! native byte order, since the guest runs on the same machine.

/// A list of attributes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Attributes(Vec<u8>);

impl Attributes {
    /// Appends an attribute.
    pub(crate) fn bytes(mut self, kind: u16, value: &[u8]) -> Self {
        let length = 4 + value.len() as u16;
        self.0.extend(length.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
    pub(crate) fn u32(self, kind: u16, value: u32) -> Self {
        self.bytes(kind, &value.to_ne_bytes())
    }
    pub(crate) fn u64(self, kind: u16, value: u64) -> Self {
        self.bytes(kind, &value.to_ne_bytes())
    }
    pub(crate) fn u8(self, kind: u16, value: u8) -> Self {
        self.bytes(kind, &[value])
    }
    /// Appends attributes within an attribute, which the flag `NLA_F_NESTED` marks.
    pub(crate) fn nest(self, kind: u16, inner: Self) -> Self {
        const NESTED: u16 = 1 << 15;
        self.bytes(NESTED | kind, &inner.0)
    }
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Bytes as hexadecimal digits, or `-` if there are none: one word of the guest's configuration.
pub(crate) fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_padded_and_lengths_are_not() {
        let bytes = Attributes::default().bytes(2, &[1, 2, 3]).u32(1, 7).into_bytes();
        // 4 bytes of header, 3 of value and 1 of padding; then 8 bytes.
        assert_eq!(bytes.len(), 16);
        assert_eq!(u16::from_ne_bytes([bytes[0], bytes[1]]), 7);
        assert_eq!((bytes[4], bytes[6], bytes[7]), (1, 3, 0));
        assert_eq!(u32::from_ne_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]), 7);
    }

    #[test]
    fn nothing_has_a_word_too() {
        assert_eq!((hex(&[]).as_str(), hex(&[0, 255]).as_str()), ("-", "00ff"));
    }
}
