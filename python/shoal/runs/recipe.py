"""How values of swept keys become a run and its numbers: all that a worker needs to know of a sweep."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from shoal.metrics import recording
from shoal.runs import host_bursts
from shoal.runs.plane import Plane, plane_of
from shoal.scenario import Scenario
from shoal.template import Template


@dataclass(frozen=True)
class Recipe:
    """A scenario with places left open, and what is measured in its runs.

    Attributes
    ----------
    template
        The scenario, and what gets a value.
    metrics
        Expressions over the metrics; runs record what they need, and no time series if none needs it.
    kernel
        Which kernel runs it, by its identity; empty: the simulator does.
    """

    template: Template
    metrics: tuple[str, ...]
    kernel: str = ""

    def at(self, values: Mapping[str, object]) -> Scenario:
        """The scenario of a point, which is checked.

        Raises
        ------
        ScenarioError
            Values make no scenario.
        UsageError
            The arithmetic of a computed value has none, or a metric needs what only the scenario can say.
        """
        if self._records_the_same:
            return self._recording.at(values)
        scenario = self.template.at(values)
        keys = recording(scenario, self.metrics, lean=True)
        return scenario.override(keys) if keys else scenario

    @cached_property
    def plane(self) -> Plane:
        """Where the runs are made.

        Raises
        ------
        ClusterError
            It is a kernel that this machine does not have.
        """
        return plane_of(self.kernel)

    @property
    def sets_a_threshold(self) -> bool:
        """Whether what is varied belongs to a queue, so that the bursts of hosts matter."""
        return host_bursts.sets_a_threshold(self.template.varied)

    @cached_property
    def _records_the_same(self) -> bool:
        """Whether no swept key decides what has to be recorded: the keys of traces then are those of every point."""
        return not any(key.startswith(("trace", "flows")) for key in self.template.varied)

    @cached_property
    def _recording(self) -> Template:
        """The template with what the runs have to record."""
        template = self.template
        keys = recording(template.scenario, self.metrics, lean=True)
        return Template(template.scenario.override(keys) if keys else template.scenario, template.names, template.set)

    @cached_property
    def json(self) -> str:
        """All of it as text, for another process."""
        scenario = self.template.scenario
        return json.dumps(
            {
                "text": scenario.text,
                # Not its place: the same sweep is the same on every machine.
                "name": Path(scenario.name).name,
                "overrides": scenario.overrides,
                "keys": self.template.names,
                "set": self.template.set,
                "metrics": self.metrics,
                "kernel": self.kernel,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """The recipe that :attr:`json` was made of."""
        return _read(text)


# A worker gets it with every task.
@lru_cache(maxsize=4)
def _read(text: str) -> Recipe:
    content = json.loads(text)
    scenario = Scenario(content["text"], content["name"], tuple((key, value) for key, value in content["overrides"]))
    return Recipe(
        Template(scenario, tuple(content["keys"]), content["set"]), tuple(content["metrics"]), content["kernel"]
    )
