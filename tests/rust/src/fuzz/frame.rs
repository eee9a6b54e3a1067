//! Frames of any bytes, as they may come at a box.

use shoal_box::{Frame, Payload, set_ce};
use shoal_packet::Ecn;
use shoal_trace::pcapng::LinkType;

/// Reads a frame of Ethernet and a packet of IP, as a whole and as a record keeps it, and marks it.
///
/// # Panics
/// If the first bytes say something else than the whole frame, if a mark is not read back or writes more than two bits
/// and the sum of an IPv4 header, if that sum becomes right or wrong by it, or if what has no frame is no IP.
pub fn frame(input: &[u8]) {
    for link_type in [LinkType::Ethernet, LinkType::Raw] {
        of_type(link_type, input);
    }
}

fn of_type(link_type: LinkType, input: &[u8]) {
    let Some(read) = Frame::read(link_type, input) else { return };
    assert_eq!(
        Frame::read(link_type, &input[..read.read_bytes]),
        Some(read),
        "the first {} bytes",
        read.read_bytes
    );
    let mut marked = input.to_vec();
    set_ce(&mut marked, read.payload);
    let mut expected = input.to_vec();
    match read.payload {
        Payload::Ipv4(at) => {
            expected[at + 1] |= 3;
            expected[at + 10..at + 12].copy_from_slice(&marked[at + 10..at + 12]);
            let header = at..at + 4 * usize::from(input[at] & 15);
            assert_eq!(sum(&marked[header.clone()]), sum(&input[header]), "the sum over the header");
        }
        Payload::Ipv6(at) => expected[at + 1] |= 0x30,
        Payload::Other(_) => {}
    }
    assert_eq!(marked, expected);
    let is_ip = !matches!(read.payload, Payload::Other(_));
    assert!(is_ip || link_type == LinkType::Ethernet, "{read:?}");
    let ecn = if is_ip { Ecn::Ce } else { read.ecn };
    assert_eq!(Frame::read(link_type, &marked), Some(Frame { ecn, ..read }));
}

/// The sum of 16-bit words with carries around ([RFC 1071](https://www.rfc-editor.org/rfc/rfc1071)), of which both zeros
/// are one.
fn sum(header: &[u8]) -> u64 {
    let words = header.chunks_exact(2).map(|word| u64::from(u16::from_be_bytes([word[0], word[1]])));
    words.sum::<u64>() % 0xffff
}
