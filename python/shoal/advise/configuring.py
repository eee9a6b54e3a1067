"""The recommended law as configurations of platforms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import ShoalError

if TYPE_CHECKING:
    from shoal.advise.advising import Advice


def configuration(advice: Advice, platform: str) -> tuple[str, list[str]]:
    """The configuration of a platform, or why it has none; and what was rounded or is lost."""
    from shoal.switch import find_platform
    from shoal.switch.emit import write_configuration

    writer = find_platform(platform)
    try:
        text, remarks = write_configuration(advice.scenario, writer, writer.most_able)
    except ShoalError as error:
        reason = str(error).strip()
        return f"cannot be expressed: {reason}\n" + (f"hint: {error.hint}\n" if error.hint else ""), []
    return text, [remark if not hint else f"{remark} ({hint})" for remark, hint in remarks]
