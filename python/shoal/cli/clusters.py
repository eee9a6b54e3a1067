"""The option that says on which workers runs are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from shoal.cli.console import talk
from shoal.cli.declare import option
from shoal.errors import UsageError

if TYPE_CHECKING:
    from shoal.runs.execute import Executor

Cluster = Annotated[
    str | None,
    option(
        "--cluster",
        "WHERE",
        "Run on workers of Dask (needs shoal\\[cluster]): [cyan]local:4[/] processes here, a scheduler at "
        "[cyan]tcp://HOST:PORT[/] or in a [cyan]scheduler.json[/], or what jobs or ssh start: "
        "[cyan]slurm:16[/], [cyan]ssh:HOST1,HOST2[/].",
    ),
]


def executor_on(cluster: str | None, workers: int | None) -> Executor | None:
    """Where runs are made, if not on threads of this process.

    Raises
    ------
    UsageError
        Threads are asked for, too, or there is no such place.
    """
    if cluster is None:
        return None
    if workers is not None:
        raise UsageError("--workers are threads of this process", hint="the cluster says how many, as in local:4")
    from shoal.runs import cluster as clusters

    return clusters.Cluster.at(cluster, note=talk.note)
