//! Links as those see them who carry packets over them.

use super::{Experiment, Link};
use crate::field::nearest;
use shoal_bottleneck::LinkConfig;

impl Link {
    /// What packets meet on the link.
    pub fn config(&self) -> LinkConfig {
        LinkConfig {
            name: self.name.clone(),
            rate: self.rate,
            rate_changes: self.schedule.rate.clone(),
            opportunities: self.schedule.opportunities.as_ref().map(|own| own.opportunities.clone()),
            delay: self.delay,
            delay_changes: self.schedule.delay.clone(),
            impairments: self.impairments.clone(),
            overhead_bytes: self.overhead_bytes,
            queue: self.queue.clone(),
        }
    }
}

impl Experiment {
    /// What packets meet on the link of this name, or on the first bottleneck, for those who carry packets over it
    /// without the rest of the network.
    ///
    /// # Errors
    /// If there is no such link, or its port shares memory with others, in a sentence for users.
    pub fn link_config(&self, name: Option<&str>) -> Result<LinkConfig, String> {
        let link = match name {
            Some(name) => self.links.iter().find(|link| link.name == name),
            None => self.monitored().next().map(|(_, link)| link),
        };
        let Some(link) = link else {
            let names: Vec<&str> = self.links.iter().map(|link| link.name.as_str()).collect();
            let Some(name) = name else { return Err("the scenario has no bottleneck".to_owned()) };
            let hint = match nearest(name, &names) {
                Some(near) => format!("did you mean {near}?"),
                None => {
                    format!("the first of its {} links is {}", names.len(), names.first().unwrap_or(&"none"))
                }
            };
            return Err(format!("the scenario has no link {name}; {hint}"));
        };
        if link.pool.is_some() {
            let name = &link.name;
            return Err(format!(
                "the port of link {name} shares memory with others; a link alone has a queue of its own"
            ));
        }
        Ok(link.config())
    }
}
