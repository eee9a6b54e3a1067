//! Memory that the ports of a switch share.

use shoal_aqm::MemoryShare;

use super::network::Network;
use crate::aqm::without_headroom;
use crate::experiment::{LinkId, NodeId, Pool};
use crate::remarks::Table;
use crate::schema::SharedBuffer;

/// The ports of each node that have a queue: links that start there and have a rate.
pub(super) fn ports(network: &Network) -> Vec<Vec<LinkId>> {
    let mut ports = vec![Vec::new(); network.nodes.len()];
    for (id, link) in (0u32..).map(LinkId).zip(&network.links).filter(|(_, link)| link.rate.is_some()) {
        ports[link.from.0 as usize].push(id);
    }
    ports
}

/// Lets these `ports` of `node`, which are all that it has, share the buffer with these `keys`.
pub(super) fn share(
    network: &mut Network,
    node: NodeId,
    ports: &[LinkId],
    shared: &SharedBuffer,
    keys: &Table<'_>,
) -> Option<()> {
    let id = network.pools.len() as u32;
    let name = network.nodes[node.0 as usize].name.clone();
    for port in ports {
        network.links[port.0 as usize].pool = Some(id);
    }
    if ports.is_empty() {
        keys.refuse(
            format!("\"{name}\" has no port with a queue"),
            "name a switch with links that have a rate",
        );
        return None;
    }
    if !MemoryShare::is_alpha(shared.alpha) {
        let hint = "write a number above 0, as in alpha = 1; switches have powers of two from 1/128 to 8";
        keys.error("alpha", format!("an alpha of {}", shared.alpha), hint);
        return None;
    }
    let Some(size_bytes) = shared.size.bytes().filter(|bytes| *bytes > 0) else {
        keys.error(
            "size",
            "the shared buffer needs a size above 0",
            "as in \"4 MB\"; remove the key to have no shared buffer",
        );
        return None;
    };
    let size_bytes = without_headroom(size_bytes, shared.headroom, keys).ok()?;
    let reserved_bytes = shared.reserved.bytes().unwrap_or(u64::MAX);
    let pool = Pool { name, size_bytes, alpha: shared.alpha, reserved_bytes };
    let members: Vec<_> =
        ports.iter().flat_map(|port| pool.members(&network.links[port.0 as usize])).collect();
    let all = members.iter().try_fold(0u64, |sum, member| sum.checked_add(member.share.reserved_bytes));
    if all.is_none_or(|all| all > size_bytes) {
        let name = &pool.name;
        if members.len() == ports.len() {
            let hint = format!("\"{name}\" has {} ports; write less, or a larger size", ports.len());
            keys.error("reserved", format!("{} a port is more than the buffer holds", shared.reserved), hint);
        } else {
            let hint = format!(
                "\"{name}\" has {} ports with {} queues; write less, or a larger size",
                ports.len(),
                members.len()
            );
            keys.error("size", "queues of the switch reserve more than the buffer holds", hint);
        }
        return None;
    }
    network.pools.push(pool);
    Some(())
}
