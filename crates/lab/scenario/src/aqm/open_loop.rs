//! Keys of `open-loop`.

use shoal_aqm::{Extent, OpenLoopConfig, OpenLoopSpacing};
use shoal_units::Probability;

use super::{Place, Resolve};
use crate::field::{Section, choices};
use crate::quantity::Duration;

/// Marks and drops with given probabilities, whatever waits.
#[derive(Clone, PartialEq, Debug, Section)]
pub struct OpenLoop {
    /// Probability that an ECT packet is marked on arrival.
    #[key(default = 0.0, unit = "0 to 1", source = "De Schepper et al. 2015, steady-state rates")]
    pub mark: f64,
    /// Probability that a packet that is not ECT is dropped on arrival.
    #[key(default = 0.0, unit = "0 to 1", source = "De Schepper et al. 2015, steady-state rates")]
    pub drop: f64,
    /// A coin of its own for each packet; gaps that differ by at most one packet; or bursts: everything for a while,
    /// then nothing.
    #[key(
        default = "independent",
        source = "De Schepper et al. 2015 (random and on-off marking); Mathis et al. 1997 section 2 (even gaps)"
    )]
    pub spacing: SpacingName,
    /// How long everything is hit, with spacing = "bursts". A period lasts on / probability.
    #[key(source = "Alizadeh et al. 2010 section 3.3: marks last for one round trip")]
    pub on: Option<Duration>,
}

/// How forced marks and drops are spread, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SpacingName {
    /// A coin for each packet.
    Independent,
    /// Even gaps.
    Even,
    /// Everything for a while.
    Bursts,
}

choices!(SpacingName { "independent" => Self::Independent, "even" => Self::Even, "bursts" => Self::Bursts, });

impl Resolve for OpenLoop {
    type Config = OpenLoopConfig;

    fn resolve(&self, law: &Place<'_>, limit: Extent) -> Option<OpenLoopConfig> {
        law.probability(self.mark, "mark");
        law.probability(self.drop, "drop");
        let spacing = match (self.spacing, self.on) {
            (SpacingName::Bursts, Some(on)) if !on.span().is_zero() => {
                OpenLoopSpacing::Bursts { on: on.span() }
            }
            (SpacingName::Bursts, _) => {
                let hint = "write how long all packets are hit, as in on = \"8 ms\"";
                law.keys.error("on", "bursts need a time above zero", hint);
                return None;
            }
            (_, Some(_)) => {
                let hint = "remove it, or change the spacing";
                law.keys.error("on", "on needs spacing = \"bursts\"", hint);
                return None;
            }
            (SpacingName::Independent, None) => OpenLoopSpacing::Independent,
            (SpacingName::Even, None) => OpenLoopSpacing::Even,
        };
        Some(OpenLoopConfig {
            mark: Probability::from_f64(self.mark),
            drop: Probability::from_f64(self.drop),
            spacing,
            limit,
        })
    }
}
