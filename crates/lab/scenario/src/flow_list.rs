//! Lists of flows: data that a scenario names, and that is given beside it.

use shoal_units::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The flows of a list, in the order of their starts.
#[derive(PartialEq, Debug)]
pub struct FlowList {
    starts: Vec<Time>,
    bytes: Vec<u64>,
    hosts: Option<ListedHosts>,
}

/// The hosts of the flows of a list.
#[derive(PartialEq, Debug)]
pub struct ListedHosts {
    /// Names of all hosts.
    pub names: Vec<String>,
    /// The sending host of each flow, by its place among the names.
    pub sources: Vec<u32>,
    /// The receiving host of each flow.
    pub destinations: Vec<u32>,
}

/// Lists by the SHA-256 with which a scenario names them.
pub type FlowLists = BTreeMap<String, Arc<FlowList>>;

impl FlowList {
    /// The list of flows that start at these times and transfer so many bytes.
    ///
    /// # Errors
    /// What is wrong with it: columns of different lengths, starts that are not in order, transfers of nothing, and
    /// hosts without a name or that send to themselves.
    pub fn new(starts: Vec<Time>, bytes: Vec<u64>, hosts: Option<ListedHosts>) -> Result<Self, &'static str> {
        let is_complete = |hosts: &ListedHosts| {
            hosts.sources.len() == starts.len() && hosts.destinations.len() == starts.len()
        };
        if starts.is_empty() || u32::try_from(starts.len()).is_err() {
            return Err("a list has at least one flow, and less than 2^32");
        }
        if bytes.len() != starts.len() || !hosts.as_ref().is_none_or(is_complete) {
            return Err("the columns of a list are equally long");
        }
        if !starts.is_sorted() || starts.last() >= Some(&Time::NEVER) {
            return Err("the flows of a list are in the order of their starts");
        }
        if bytes.contains(&0) {
            return Err("a flow of a list transfers at least a byte");
        }
        if let Some(hosts) = &hosts {
            let mut pairs = hosts.sources.iter().zip(&hosts.destinations);
            let is_named = |host: &u32| (*host as usize) < hosts.names.len();
            if !pairs.all(|(from, to)| from != to && is_named(from) && is_named(to)) {
                return Err("a flow of a list has two different hosts with names");
            }
        }
        Ok(Self { starts, bytes, hosts })
    }

    /// Number of flows.
    pub fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// When flow `number` of the list starts.
    pub fn start_of(&self, number: u32) -> Option<Time> {
        self.starts.get(number as usize).copied()
    }

    /// The first start and the last.
    pub fn span(&self) -> (Time, Time) {
        (self.starts[0], self.starts[self.starts.len() - 1])
    }

    /// Bytes of the transfer of flow `number` of the list.
    pub fn bytes_of(&self, number: u32) -> u64 {
        self.bytes[number as usize]
    }

    /// The hosts of the flows, if the list has them.
    pub fn hosts(&self) -> Option<&ListedHosts> {
        self.hosts.as_ref()
    }
}

impl ListedHosts {
    /// Names of the hosts that a column has, in the order of all names.
    pub(crate) fn names_in(&self, column: &[u32]) -> Vec<String> {
        let mut is_in = vec![false; self.names.len()];
        for host in column {
            is_in[*host as usize] = true;
        }
        self.names.iter().zip(is_in).filter(|(_, is_in)| *is_in).map(|(name, _)| name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_is_refused() {
        let at = |ps: &[u64]| ps.iter().map(|ps| Time::from_picos(*ps)).collect::<Vec<_>>();
        let hosts = |sources: &[u32], destinations: &[u32]| {
            let names = ["h1", "h2"].map(String::from).into();
            Some(ListedHosts { names, sources: sources.into(), destinations: destinations.into() })
        };
        assert!(FlowList::new(at(&[0, 5, 5]), vec![1, 2, 3], hosts(&[0, 1, 0], &[1, 0, 1])).is_ok());
        for (starts, bytes, hosts) in [
            (&[][..], vec![], None),
            (&[1], vec![1, 2], None),
            (&[2, 1], vec![1, 2], None),
            (&[1, 2], vec![1, 0], None),
            (&[1], vec![1], hosts(&[0], &[0])),
            (&[1], vec![1], hosts(&[0], &[2])),
            (&[1], vec![1], hosts(&[0], &[])),
        ] {
            assert!(FlowList::new(at(starts), bytes.clone(), hosts).is_err(), "{starts:?} {bytes:?}");
        }
    }
}
