"""What is written can be loaded into a device that has other things: own names, nothing lost without a word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from switch_documents import GBIT, SONIC_PROFILE, read

from shoal.report.advice import _files
from shoal.switch import PLATFORMS, Port, Queue, find_platform
from shoal.switch.model import Scheduler, Serving, Shaping
from shoal.switch.platforms import options_of
from shoal.switch.writing import Writing

# Names that the community template of SONiC gives to what all queues of all ports have (qos_config.j2).
TEMPLATE = {
    "SCHEDULER": {f"scheduler.{number}": {"type": "DWRR", "weight": str(14 + number)} for number in range(2)},
    "WRED_PROFILE": {"AZURE_LOSSLESS": SONIC_PROFILE},
    "DSCP_TO_TC_MAP": {"AZURE": {"0": "1"}},
    "TC_TO_QUEUE_MAP": {"AZURE": {"1": "1"}},
}
SERVED = [
    Queue("7", 7, ("Ethernet0",), scheduler=Scheduler(Serving.STRICT, priority=7)),
    Queue("5", 5, ("Ethernet0",), scheduler=Scheduler(Serving.STRICT, priority=5)),
    Queue("3", 3, ("Ethernet0",), scheduler=Scheduler(Serving.WEIGHTED, weight=30)),
    Queue("1", 1, ("Ethernet0",), scheduler=Scheduler(Serving.WEIGHTED, weight=70)),
]


def written(platform: str, queues: list[Queue], **given: object) -> tuple[str, Writing]:  # type: ignore[type-arg]
    writer = find_platform(platform)
    writing = Writing(Port(10 * GBIT), options_of(writer, given))
    return writer.write(queues, writing), writing


def test_nothing_of_the_community_template_is_written_over() -> None:
    marked = read(json.dumps({"WRED_PROFILE": {"P": SONIC_PROFILE}, "QUEUE": {"Ethernet0|3": {"wred_profile": "P"}}}))
    queues = [*marked.queues, *(queue for queue in SERVED if queue.index != 3)]
    tables = json.loads(written("sonic", queues, has_map=False)[0])
    for name, entries in TEMPLATE.items():
        assert not entries.keys() & tables.get(name, {}).keys(), name
    assert all(name.startswith("SHOAL") for name in tables["SCHEDULER"])


def test_openconfig_schedulers_come_back_as_they_were() -> None:
    """The order of strict queues counts, and the weights of the others."""
    text, _ = written("openconfig", SERVED)
    assert {queue.name: queue.scheduler for queue in with_profile(text)} == {
        queue.name: queue.scheduler for queue in SERVED
    }
    tree = json.loads(text)["openconfig-qos:qos"]
    (policy,) = tree["scheduler-policies"]["scheduler-policy"]
    order = [entry["inputs"]["input"] for entry in policy["schedulers"]["scheduler"]]
    assert [[entry["id"] for entry in inputs] for inputs in order] == [["7"], ["5"], ["3", "1"]]
    (interface,) = tree["interfaces"]["interface"]
    assert interface["output"]["scheduler-policy"]["config"]["name"] == policy["name"] == "SHOAL_SCHEDULER"
    shaped, writing = written("openconfig", [Queue("1", 1, ("Ethernet0",), shaping=Shaping(GBIT))])
    assert "scheduler-policies" not in shaped
    assert "its shaper is not written" in str(writing.remarks)


def with_profile(text: str) -> tuple[Queue, ...]:
    """The queues of a tree, which is read for its profiles and so needs one."""
    tree = json.loads(text)
    leaves = {"min-threshold": "1", "max-threshold": "1", "enable-ecn": True, "weight": 0}
    profile = {"name": "P", "wred": {"uniform": {"config": leaves}}}
    tree["openconfig-qos:qos"]["queue-management-profiles"] = {"queue-management-profile": [profile]}
    return tuple(queue for queue in read(json.dumps(tree)).queues if queue.ports)


@pytest.mark.parametrize("platform", [platform.name for platform in PLATFORMS])
def test_what_has_to_be_known_is_in_the_files(platform: str, tmp_path: Path) -> None:
    remark = "that packets with the code point 10 go to this queue is not written " + 20 * "and more "
    files = _files(platform, "the text\n", [remark])
    words = " ".join(" ".join(files.values()).replace("!", " ").replace("#", " ").split())
    assert remark.strip() in words
    assert "the text" in words
    if find_platform(platform).comment:
        assert list(files) == [f"{platform}.txt"]
        assert files[f"{platform}.txt"].endswith("\nthe text\n")
    else:
        assert files[f"{platform}.txt"] == "the text\n"
    assert _files(platform, "the text\n", []) == {f"{platform}.txt": "the text\n"}
