//! Max-min fair rates.

/// A number of flows with equal demand and the same path.
#[derive(Clone, PartialEq, Debug)]
pub struct Demand {
    /// Number of flows.
    pub flows: u32,
    /// Demand of each flow in bit/s; infinite if it uses any rate that it gets.
    pub most_bps: f64,
    /// Indices of the links on their path.
    pub links: Vec<usize>,
}

/// The max-min fair rate of one flow of each demand, in bit/s (Bertsekas and Gallager, Data Networks, section
/// 6.5.2): all rates rise together until a demand is met or a link is full; the rates concerned then stay,
/// and the others rise further.
///
/// `capacities_bps` are the rates of the links. A demand without links and without a limit gets infinity.
pub fn max_min(capacities_bps: &[f64], demands: &[Demand]) -> Vec<f64> {
    let mut rates: Vec<Option<f64>> = vec![None; demands.len()];
    let mut left = capacities_bps.to_vec();
    let mut rising = vec![0u64; left.len()];
    for demand in demands {
        for &link in &demand.links {
            rising[link] += u64::from(demand.flows);
        }
    }
    loop {
        // The rate at which the first link is full.
        let full = (0..left.len())
            .filter(|&link| rising[link] > 0)
            .map(|link| (left[link].max(0.0) / rising[link] as f64, link))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let level = full.map_or(f64::INFINITY, |(level, _)| level);
        let met = |index: &usize| rates[*index].is_none() && demands[*index].most_bps <= level;
        let mut settled: Vec<usize> = (0..demands.len()).filter(met).collect();
        if settled.is_empty()
            && let Some((_, link)) = full
        {
            let stopped = |index: &usize| rates[*index].is_none() && demands[*index].links.contains(&link);
            settled = (0..demands.len()).filter(stopped).collect();
        }
        if settled.is_empty() {
            return rates.into_iter().map(|rate| rate.unwrap_or(f64::INFINITY)).collect();
        }
        for index in settled {
            let demand = &demands[index];
            let rate = demand.most_bps.min(level);
            rates[index] = Some(rate);
            for &link in &demand.links {
                left[link] -= rate * f64::from(demand.flows);
                rising[link] -= u64::from(demand.flows);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(flows: u32, most_bps: f64, links: &[usize]) -> Demand {
        Demand { flows, most_bps, links: links.to_vec() }
    }

    #[test]
    fn one_link_is_divided_evenly() {
        assert_eq!(
            max_min(&[12.0], &[demand(3, f64::INFINITY, &[0]), demand(1, f64::INFINITY, &[0])]),
            [3.0, 3.0]
        );
    }

    #[test]
    fn what_small_demands_leave_goes_to_the_others() {
        // 12 - 2 x 1 = 10 remain for two flows.
        assert_eq!(max_min(&[12.0], &[demand(2, 1.0, &[0]), demand(2, f64::INFINITY, &[0])]), [1.0, 5.0]);
        // A demand above the fair share gets the fair share.
        assert_eq!(max_min(&[12.0], &[demand(1, 100.0, &[0]), demand(1, f64::INFINITY, &[0])]), [6.0, 6.0]);
    }

    #[test]
    fn a_parking_lot() {
        // The long flow shares the narrow link of 10 with one flow, 5 each; the other flow has 30 - 5 on the
        // wide link.
        let long = demand(1, f64::INFINITY, &[0, 1]);
        let rates =
            max_min(&[10.0, 30.0], &[long, demand(1, f64::INFINITY, &[0]), demand(1, f64::INFINITY, &[1])]);
        assert_eq!(rates, [5.0, 5.0, 25.0]);
    }

    #[test]
    fn without_links_nothing_limits() {
        assert_eq!(max_min(&[], &[demand(1, 7.0, &[]), demand(1, f64::INFINITY, &[])]), [7.0, f64::INFINITY]);
    }
}
