"""Ranges of `--axis`."""

from __future__ import annotations

import pytest
from conftest import Cli
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cli.axes import grid_of


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1:4", [1, 2, 3, 4]),
        ("-1:1", [-1, 0, 1]),
        ("0.5:2.5", [0.5, 1.5, 2.5]),
        # Four values: steps of (10 - 1) / 3 = 3.
        ("1:10:4", [1, 4, 7, 10]),
        ("0:1:5", [0, 0.25, 0.5, 0.75, 1]),
        # Three for each factor of ten: ratios of 10^(1/3) = 2.154, whole numbers because both ends are.
        ("1:100:log", [1, 2, 5, 10, 22, 46, 100]),
        ("0.1:1:log", [0.1, 0.215, 0.464, 1]),
        # Equal ratios: 10000^(1/4) = 10.
        ("1:10000:log:5", [1, 10, 100, 1000, 10000]),
        # What is rounded to the same whole number runs once.
        ("1:4:log:8", [1, 2, 3, 4]),
        ("1:3 packets", ["1 packets", "2 packets", "3 packets"]),
        ("1 ms:3 ms", ["1 ms", "2 ms", "3 ms"]),
        ("10:20:3 Mbit/s", ["10 Mbit/s", "15 Mbit/s", "20 Mbit/s"]),
        ("1:10:log kB", ["1 kB", "2 kB", "5 kB", "10 kB"]),
        ("10 Mbit/s:20 Mbit/s:3", ["10 Mbit/s", "15 Mbit/s", "20 Mbit/s"]),
        ("1:3,10,20", [1, 2, 3, 10, 20]),
        ("'a:b'", ["a:b"]),
        ("dctcp,cubic", ["dctcp", "cubic"]),
        ('{ uniform = ["0 s", "1 s"] }', [{"uniform": ["0 s", "1 s"]}]),
        ("5 packets", ["5 packets"]),
    ],
)
def test_values(text: str, values: list[object]) -> None:
    assert grid_of([f"key={text}"]) == {"key": values}


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("10:1", "the range `10:1` is empty", "smaller end first"),
        ("3:3", "has one value", "write 3 alone"),
        ("1:100:lgo", "`lgo` is neither a number of values nor log", "did you mean `log`?"),
        ("1:100:log:x", "`x` is neither", "log"),
        ("1:1.5", "does not end after whole steps of 1", "1:1.5:5"),
        ("0:10:log", "is not above zero", "above 0"),
        ("1:10:1", "fewer than two values", "1:10"),
        ("1:", "`` is not a number", "1:10"),
        ("1:x", "`x` is not a number", "1:10"),
        ("1 ms:10 s", "one end is in ms, the other in s", "same unit"),
        ("1:999999999", "more than 100,000 values", "1:1000:20"),
        ("1:2:999999999", "more than 100,000 values", "1:1000:20"),
        ("1:3,2", "has a value twice", "every value runs once"),
        ("1:1e999", "is not a number", "1:10"),
    ],
)
def test_what_is_no_range(text: str, message: str, hint: str) -> None:
    with pytest.raises(shoal.UsageError) as caught:
        grid_of([f"key={text}"])
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")


@settings(deadline=None)
@given(st.text("0123456789:.-elogx ,", max_size=14))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        (values,) = grid_of([f"key={text}"]).values()
    except shoal.UsageError:
        return
    assert 1 <= len(values) <= 500_000


def test_a_sweep_over_a_range_with_a_unit(inside: Cli) -> None:
    axis = ["--axis", "bottleneck.aqm.dctcp.threshold=5:40:log:3 packets", "--set", "duration=4 s"]
    done = inside("sweep", "small.toml", *axis, "--metric", "queue_packets()")
    assert done.code == 0, done.err
    # 5, 5 sqrt(8) = 14.1, 40.
    assert [line.split()[:2] for line in done.out.splitlines()[4:7]] == [[n, "packets"] for n in ("5", "14", "40")]
