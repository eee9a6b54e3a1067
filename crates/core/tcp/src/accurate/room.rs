//! Where the option of accurate ECN fits (RFC 9768 section 3.2.3.3,
//! <https://www.rfc-editor.org/rfc/rfc9768#section-3.2.3.3>; Linux `tcp_options_fit_accecn`).

/// Most bytes of options of a TCP header.
const MOST_BYTES: u16 = 40;
/// Bytes of a SACK block, and of the option with its padding besides.
const BLOCK: u16 = 8;
const SACK_BASE: u16 = 4;
/// Padding of a SACK option that another option may take.
const SACK_PADDING: u16 = 2;

/// What an option has of a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Room {
    /// Fields of the option.
    pub fields: usize,
    /// Bytes that it adds to the header, padding included.
    pub bytes: u16,
    /// SACK blocks that stay.
    pub blocks: usize,
    /// SACK blocks that give way.
    pub blocks_taken: u16,
}

impl Room {
    /// Bytes of an option with all fields, padded.
    pub(crate) const FULL: u16 = 12;

    /// The largest option beside `blocks` SACK blocks and `others` bytes of other options, with at least the first
    /// `needed` fields; a third SACK block gives way to them.
    pub(crate) fn beside(others: u16, blocks: usize, needed: u8) -> Option<Self> {
        let of = |blocks: usize, least: u8| (least..=3).rev().find_map(|fields| fit(others, blocks, fields));
        of(blocks, needed).or_else(|| {
            let gives_way = needed > 0 && blocks > 2;
            let fewer = if gives_way { of(blocks - 1, needed) } else { None };
            fewer.map(|room| Self { blocks_taken: 1, ..room })
        })
    }
}

fn fit(others: u16, blocks: usize, fields: u8) -> Option<Room> {
    let sack = if blocks == 0 { 0 } else { SACK_BASE + BLOCK * u16::try_from(blocks).ok()? };
    let left = MOST_BYTES.checked_sub(others + sack)?;
    let size = 2 + 3 * u16::from(fields);
    let free = if blocks == 0 { 0 } else { SACK_PADDING };
    let bytes = if size % 4 <= free { size / 4 * 4 } else { size.next_multiple_of(4) };
    (bytes <= left).then_some(Room { fields: fields.into(), bytes, blocks, blocks_taken: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_timestamps_leave_room_for_some_fields() {
        // With timestamps: three fields beside one block, two beside two, and none beside three unless one gives way.
        for (others, blocks, needed, expected) in [
            (12, 0, 0, Some((3, 12, 0, 0))),
            (12, 1, 3, Some((3, 12, 1, 0))),
            (12, 2, 0, Some((2, 8, 2, 0))),
            (12, 2, 2, Some((2, 8, 2, 0))),
            (12, 2, 3, None),
            (12, 3, 0, Some((0, 0, 3, 0))),
            (12, 3, 2, Some((2, 8, 2, 1))),
            (12, 3, 3, None),
            (0, 3, 3, Some((3, 12, 3, 0))),
            (0, 2, 1, Some((3, 12, 2, 0))),
        ] {
            let room = Room::beside(others, blocks, needed);
            let parts = room.map(|room| (room.fields, room.bytes, room.blocks, room.blocks_taken));
            assert_eq!(parts, expected, "{others} bytes, {blocks} blocks, {needed} fields");
        }
    }
}
