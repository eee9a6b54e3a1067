"""Writes commands of `ecnconfig`, in an order in which no step has its minimum above its maximum."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.switch import sonic_write
from shoal.switch.ecnconfig_read import BOUND_PROFILE
from shoal.switch.model import Queue
from shoal.switch.writing import Writing

# The community template's profile (sonic-buildimage, files/build_templates/qos_config.j2).
_template = (1_048_576, 2_097_152)


def write(queues: Sequence[Queue], writing: Writing) -> str:
    """Commands for an existing profile.

    Raises
    ------
    UsageError
        SONiC cannot express a queue.
    """
    lines: list[str] = []
    for queue in queues:
        fields = sonic_write.wred_profile(queue, writing)
        if fields is None:
            writing.remark(queue, "it has no law, and ecnconfig cannot remove one", "--platform sonic")
            continue
        name = queue.profile or (BOUND_PROFILE if writing.profile == "SHOAL" else writing.profile)
        least, most = int(fields["green_min_threshold"]), int(fields["green_max_threshold"])
        lines += _commands(name, least, most, int(fields["green_drop_probability"]), writing, queue)
        if queue.index is not None and name == BOUND_PROFILE:
            lines.append(f"ecnconfig -q {queue.index} on")
        elif queue.index is not None:
            writing.remark(
                queue, f"`ecnconfig -q` binds {BOUND_PROFILE} only: `{name}` is bound by QUEUE in CONFIG_DB",
                "--platform sonic writes it",
            )  # fmt: skip
        writing.remark(
            queue,
            f"ecnconfig cannot set `ecn` and `wred_*_enable`: `{name}` must have ecn = {fields['ecn']} and "
            f"wred_green_enable = {fields['wred_green_enable']}",
            "--platform sonic writes the whole profile",
        )
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))


def _commands(name: str, least: int, most: int, percent: int, writing: Writing, queue: Queue) -> list[str]:
    """One command if the maximum rises above the present minimum, else the minimum goes first.

    ecnconfig writes the maximum before the minimum, and orchagent sees each step by itself.
    """
    if writing.current is None:
        writing.remark(
            queue,
            f"the order of steps assumes that `{name}` has {_template[0]} and {_template[1]} bytes now",
            "--current MIN:MAX says what it has",
        )
    present = writing.current or _template
    whole = f"ecnconfig -p {name} -gmin {least} -gmax {most} -gdrop {percent}"
    if most >= present[0]:
        return [whole]
    return [f"ecnconfig -p {name} -gmin {least}", f"ecnconfig -p {name} -gmax {most} -gdrop {percent}"]
