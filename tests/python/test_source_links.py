"""The links of the reference pages to RFCs and to files of kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal_dev.pages import sources

ROOT = Path(__file__).parents[2]
LINUX = "https://elixir.bootlin.com/linux"
RFC = "https://www.rfc-editor.org/rfc"
IPROUTE2 = "https://git.kernel.org/pub/scm/network/iproute2/iproute2.git/tree"


@pytest.mark.parametrize(
    ("source", "links"),
    [
        ("RFC 8257 section 4.2", [f"[RFC 8257 section 4.2]({RFC}/rfc8257#section-4.2)"]),
        ("RFC 9332 appendix A.1 (15 ms)", [f"[RFC 9332 appendix A.1]({RFC}/rfc9332#appendix-A.1) (15 ms)"]),
        ("RFC 8033 sections 4.3 and 5.2", [f"[RFC 8033]({RFC}/rfc8033) sections 4.3 and 5.2"]),
        ("RFC 9293, RFC 7323", [f"[RFC 9293]({RFC}/rfc9293), ", f"[RFC 7323]({RFC}/rfc7323)"]),
        ("sch_red.c red_enqueue", [f"[sch_red.c]({LINUX}/v6.12/source/net/sched/sch_red.c) red_enqueue"]),
        ("net/sched/sch_red.c", [f"[net/sched/sch_red.c]({LINUX}/v6.12/source/net/sched/sch_red.c)"]),
        # DualPI2 is younger than the other files.
        ("sch_dualpi2.c", [f"{LINUX}/v6.18/source/net/sched/sch_dualpi2.c"]),
        ("q_red.c; red.h", [f"[q_red.c]({IPROUTE2}/tc/q_red.c?h=v6.12.0)", f"{LINUX}/v6.12/source/include/net/red.h"]),
        # A version in the text is that of the files beside it, and of no other tree.
        (
            "tcp_output.c, tcp_cong.c of Linux 3.2",
            [f"/v3.2/source/net/ipv4/{name}.c" for name in ("tcp_output", "tcp_cong")],
        ),
        ("red.h; iproute2 6.1 tc/tc_red.c", ["/v6.12/source/include/net/red.h", f"{IPROUTE2}/tc/tc_red.c?h=v6.1.0"]),
        (
            "FreeBSD 14: sys/netinet/tcp_input.c, tcp_sack.c",
            [
                f"https://cgit.freebsd.org/src/tree/sys/netinet/{name}.c?h=release/14.0.0"
                for name in ("tcp_input", "tcp_sack")
            ],
        ),
    ],
)
def test_a_source_is_linked(source: str, links: list[str]) -> None:
    text = sources.linked(source)
    assert all(link in text for link in links), text
    assert text.count("](") == max(len(links), source.count(".c") + source.count(".h"), source.count("RFC"))


@pytest.mark.parametrize(
    "source",
    [
        "tcp_dctcp.c before 5.1",
        "FreeBSD-CURRENT of January 2015: sys/netinet/tcp_input.c",
        "Kato et al. 2015 section 4.1",
    ],
)
def test_what_has_no_fixed_address_is_not_linked(source: str) -> None:
    assert sources.linked(source) == source


def test_every_source_of_a_key_that_names_an_rfc_or_a_file_has_a_link() -> None:
    from shoal.models import models

    every = {p.source for model in models() for p in model.parameters}
    named = {source for source in every if sources.RFC.search(source) or sources.FILE.search(source)}
    assert len(named) > 60
    assert {source for source in named if "](" not in sources.linked(source)} == set()
