"""The page of advice."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shoal import _native
from shoal.advise import wording
from shoal.advise.joining import sentence
from shoal.cite import card
from shoal.files import write_text, writing
from shoal.plots import save
from shoal.report import advice_figures
from shoal.report.build import figure_values
from shoal.report.page import render
from shoal.switch import find_platform
from shoal.table_formats import FOLDER, save_tables

if TYPE_CHECKING:
    from shoal.advise import Advice
    from shoal.advise.joining import Joined

Configurations = Mapping[str, tuple[str, list[str]]]


def write_advice(
    folder: Path, advice: Advice, joined: Joined | None, configurations: Configurations, text: str, *, command: str
) -> None:
    """Write ``report.html``, figures, ``advice.json``, scenario and configurations into an existing folder."""
    figures = [advice_figures.tried(advice), advice_figures.around(advice)]
    question = advice.question
    with writing(folder):
        for figure in figures:
            save(figure, folder / "figures")
        ranking, around = wording.ranking_table(advice), wording.around_table(advice)
        situations = [wording.situation_table(standing) for standing in advice.ranking]
        save_tables([ranking, *situations, around], folder / FOLDER)
        page = render(
            "advice.html.j2",
            title=f"A queue for {question.rate} and round trips of {question.rtt}",
            answer=wording.verdict(advice),
            ranking=ranking,
            situations=situations,
            around=around,
            fails=wording.fails(advice),
            joining="" if joined is None else sentence(advice, joined),
            assumptions=question.assumptions,
            not_modelled=wording.not_modelled(advice),
            configurations=configurations,
            figures=[figure_values(figure) for figure in figures],
            scenario=advice.scenario.to_toml(),
            tried=f"{advice.screened} laws and parameters were tried, {advice.runs} runs in all.",
            command=command,
            card=card([("", advice.scenario)]),
            version=_native.__version__,
        )
        write_text(folder / "report.html", page)
        write_text(folder / "advice.json", text)
        advice.scenario.write_into(folder)
        for name, (written, remarks) in configurations.items():
            for file, content in _files(name, written, remarks).items():
                write_text(folder / file, content)


def _files(name: str, written: str, remarks: Sequence[str]) -> dict[str, str]:
    """A configuration with what has to be known before it is loaded: as comments, or in a file beside it."""
    sign = find_platform(name).comment
    lines = [line for remark in remarks for line in textwrap.wrap(remark, 100)]
    if not lines:
        return {f"{name}.txt": written}
    if not sign:
        return {f"{name}.txt": written, f"{name}-remarks.txt": "\n".join(lines) + "\n"}
    return {f"{name}.txt": "".join(f"{sign} {line}\n" for line in lines) + written}
