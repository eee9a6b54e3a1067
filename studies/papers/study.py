"""The kept verdicts of papers, items of which are made again; papers have pages of their own in papers/."""

import csv
import sys
from collections.abc import Iterator, Mapping
from functools import partial

from shoal.papers import Paper, read_paper
from shoal.papers.reproduce import reproduce, verdict_frame
from shoal_dev import ROOT
from shoal_dev.study import RESULTS_CHANGED, Cell, Study, is_outdated_file

# CPU seconds of a simulated packet, and how many values a search tries; about, for the choice of a sample.
PACKET_S, TRIED = 0.5e-6, 15


def verdicts(rows: list[dict[str, str]]) -> Mapping[str, str]:
    """Measured values with their verdicts, by what they are about; a check is also known by its number."""
    return {
        f"{number} {row['reading']}, {row['claim']}, {row['what']}": f"{row['measured']} {row['verdict']}"
        for number, row in enumerate(rows, 1)
    }


def again(paper: Paper, item: str, hosts: tuple[str, ...] = ()) -> Mapping[str, str]:
    """An item made again, with other hosts beside its own if there are any."""
    frame = verdict_frame(reproduce(paper, paper.item(item, with_hosts=bool(hosts)), hosts=hosts))
    return verdicts(list(csv.DictReader(frame.write_csv().splitlines())))


def cpu_s(paper: Paper, item: str, hosts: int) -> float:
    """About what an item takes."""
    details = paper.item(item, with_hosts=hosts > 0)
    packets = 0.0
    for tried, sweeps in ((1, details.sweeps), (TRIED, details.searches)):
        for sweep in sweeps.values():
            facts = sweep.scenario.facts
            rate_bps = max(link["rate_bps"] for link in facts["bottlenecks"])
            packets += tried * len(sweep.points()) * sweep.seeds * facts["duration_s"] * rate_bps / 12e3
    readings = len(details.readings or paper.readings)
    return PACKET_S * packets * readings * (1 + hosts)


def cells() -> Iterator[Cell]:
    """Each item of a paper, and each with other hosts on the simulator."""
    for path in sorted((ROOT / "papers").glob("*/paper.toml")):
        paper = read_paper(path.parent)
        results = path.with_name("RESULTS.csv").read_text(encoding="utf-8").splitlines()[1:]
        hosts = path.with_name("HOSTS.csv").read_text(encoding="utf-8").splitlines()
        for file, lines in (("RESULTS.csv", results), ("HOSTS.csv", hosts)):
            if is_outdated_file(path.with_name(file)):
                name = f"papers: {path.parent.name}/{file}"
                print(f"{name}: not rechecked: recorded before {RESULTS_CHANGED}, which changed results")
                continue
            rows = [row for row in csv.DictReader(lines) if row.get("plane", "sim") == "sim"]
            for item in dict.fromkeys(row["item"] for row in rows):
                kept = [row for row in rows if row["item"] == item]
                others = tuple(filter(None, dict.fromkeys(row.get("host", "") for row in kept)))
                yield Cell(
                    section=f"{path.parent.name}/{file}",
                    row=(item,),
                    measure=partial(again, paper, item, others),
                    cpu_s=cpu_s(paper, item, len(others)),
                    recorded=verdicts(kept),
                )


def measure() -> Iterator[str]:
    """Papers are recorded by other commands."""
    sys.exit("error: papers have pages of their own\nhint: shoal reproduce --out, then tools/shoal-dev keep")
    yield ""


STUDY = Study(title="Papers", measure=measure, takes="about half an hour", cells=cells)
