"""Scripts of `tc` are replayed: what stands there in the end, what the kernel refuses, and how long that takes.

tests/linux/test_tc.py compares the same with the real kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pytest
from switch_documents import only, read, said

import shoal
from shoal.switch import Queue
from shoal.switch.platforms._tc_commands import number_of

PRIO = "tc qdisc add dev e root handle 1: prio\n"
HTB = "tc qdisc add dev e root handle 1: htb\n"
RED = "red limit 1000000 min 30000 max 90000 avpkt 1500 burst 40 bandwidth 1gbit probability 0.1 ecn"


def names(text: str) -> list[str]:
    return [queue.name for queue in read(text).queues]


def exact(queue: Queue) -> Mapping[str, object]:
    assert queue.exact is not None
    return queue.exact


def test_a_second_add_is_refused_and_the_first_stays() -> None:
    first = "tc qdisc add dev e root codel limit 5\n"
    for second in ("codel limit 6", "handle 1: pie"):
        text = f"{first}tc qdisc add dev e root {second}\n"
        assert exact(only(text))["limit"] == "5 packets"
        assert "text:2: the kernel refuses this line: `codel` stands at root already (line 1), and" in said(read(text))
    # tc_modify_qdisc of Linux 6.6: another kind without a handle is taken.
    other = f"{first}tc qdisc add dev e root pie\n"
    assert names(other) == ["e root pie"]
    assert "text:2: `pie` takes the place of `codel` (line 1), as Linux has it since 6.6" in said(read(other))


def test_replace_of_the_same_kind_changes_what_it_names() -> None:
    """tc sends what is given, and the kernel leaves the rest (fq_codel_change)."""
    text = (
        "tc qdisc add dev e root fq_codel limit 1000 flows 256 noecn\ntc qdisc replace dev e root fq_codel limit 2000\n"
    )
    assert exact(only(text)) == {"kind": "fq-codel", "limit": "2000 packets", "flows": 256, "ecn": False}
    assert exact(only(f"{text}tc qdisc change dev e root fq_codel ecn\n"))["ecn"] is True
    # RED has one structure for all: what is left out has its default.
    anew = f"tc qdisc add dev e root {RED}\ntc qdisc replace dev e root red limit 900000 min 9000 avpkt 1000\n"
    assert "ecn" not in exact(only(anew))


def test_replaced_and_deleted_disciplines_are_gone_with_all_below_them() -> None:
    children = f"{PRIO}tc qdisc add dev e parent 1:1 handle 10: codel\ntc qdisc add dev e parent 1:2 handle 20: pie\n"
    assert names(children) == ["e 10 codel", "e 20 pie", "e 1:3 pfifo"]
    assert names(f"{children}tc qdisc replace dev e root handle 2: fq_codel\n") == ["e 2 fq_codel"]
    assert names(f"{children}tc qdisc del dev e parent 1:1\n") == ["e 1:1 pfifo", "e 20 pie", "e 1:3 pfifo"]
    # The handle 10: is free again.
    assert names(f"{children}tc qdisc del dev e root\ntc qdisc add dev e root handle 10: pie\n") == ["e 10 pie"]
    nothing = "tc qdisc del dev e root\ntc qdisc add dev e root codel\n"
    assert (names(nothing), said(read(nothing))) == (["e root codel"], "")
    with pytest.raises(shoal.ScenarioError, match="no queue discipline that has a law"):
        read("tc qdisc add dev e root codel\ntc qdisc del dev e root\n")


def test_two_disciplines_with_one_handle_are_an_error() -> None:
    text = f"{PRIO}tc qdisc add dev e parent 1:1 handle 10: codel\ntc qdisc add dev e parent 1:2 handle 10: pie\n"
    with pytest.raises(shoal.ScenarioError, match="the handle 10: is that of `codel` on line 2") as refused:
        read(text)
    assert "text:3" in str(refused.value)
    other = text.replace("dev e parent 1:2", "dev f parent 1:2").replace("1:2", "1:1")
    assert "e 10 codel" in names(other)


def test_handles_are_hexadecimal_and_automatic_ones_begin_at_8001() -> None:
    assert (number_of("10:", is_discipline=True), number_of("5:0", is_discipline=True)) == (0x10 << 16, 5 << 16)
    assert (number_of("1:a", is_discipline=False), number_of(":3", is_discipline=False)) == (0x1000A, 3)
    assert number_of("x", is_discipline=True) is None
    text = "tc qdisc add dev e root prio\ntc qdisc add dev e parent 8001:1 handle 0a: codel\n"
    assert names(f"{text}tc qdisc add dev e parent 8001:2 pie\n")[:2] == ["e a codel", "e 8001:2 pie"]


def test_several_commands_on_a_line_batches_and_prefixes() -> None:
    expected = ["e 10 codel", "e 1:2 pfifo", "e 1:3 pfifo"]
    child = "tc qdisc add dev e parent 1:1 handle 10: codel"
    for text in (
        f"{PRIO.strip()}; {child}",
        f"{PRIO.strip()} && {child} || exit 1",
        PRIO.replace("tc ", "") + child.replace("tc ", "") + "\n",
        PRIO.replace("tc qdisc add", "/sbin/tc q a") + f"if ! sudo -n {child}; then echo; fi\n",
        PRIO.replace("tc ", "$TC ") + child.replace("tc ", "LANG=C tc -s ") + "\n",
    ):
        assert names(text) == expected, text
    # Two name spaces have devices of their own.
    spaces = "".join(f"ip netns exec {space} tc qdisc add dev e root codel\n" for space in "ab")
    assert names(f"{spaces}tc -n a qdisc replace dev e root handle 1: pie\n") == ["a/e 1 pie", "b/e root codel"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tc qdisc ad2 dev e root codel", "`ad2` is no command of `tc qdisc`"),
        ("tc qdsic add dev e root codel", "`qdsic` is no object of `tc`"),
        ("tc qdisc add root codel", "names no device"),
        ("tc qdisc add dev e handle x: codel", "`x:` is no handle"),
        ("tc qdisc add dev e root prio bands 2", "leads to band 2, and there are 2"),
        ("tc qdisc add dev e root prio bands 17", "17 bands"),
        ("tc qdisc add dev e root prio priomap 1 2 3", "leads to band 3"),
        ("tc qdisc add dev e root prio bnads 3", "`bnads` is not an option of `prio`"),
        ("tc qdisc add dev e root ets bands 2 strict 3", "2 bands, of which 3 are strict"),
        ("tc qdisc add dev e root tbf rate 1mbit burst 10k", "`latency` or `limit`"),
        ("tc qdisc add dev e root tbf rate 1mbit burst 10k latency 5ms foo 1", "`foo` is not an option of `tbf`"),
        ("tc qdisc add dev e root netem dealy 5ms", "`dealy` is not an option of `netem`"),
        ("tc qdisc add dev e root cake bandwidth 1gbit", "`cake` has no model: a shaper with queues for flows"),
        ("tc qdisc add dev e root fq", "`fq` has no model"),
        ("tc qdisc add dev e root mq", "what the queues of `mq` are is not in the file"),
        ("tc qdisc add dev e root cdoel", "`cdoel` has no model"),
        ("tc qdisc add dev e root htb defualt 10", "did you mean `default`?"),
        ("tc qdisc add dev e root sfq perturb 10", "`sfq` has no model"),
        ("tc qdisc add dev e root fq_pie", "`fq_pie` has no model"),
        ("tc qdisc add dev e root hhf", "`hhf` has no model"),
        ("tc qdisc change dev e root codel", "there is no discipline to change"),
    ],
)
def test_what_is_refused_is_named(line: str, words: str) -> None:
    with pytest.raises(shoal.ScenarioError) as refused:
        read(f"# first\n{line}\n", platform="tc")
    assert words in str(refused.value)
    assert "text:2" in str(refused.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (f"tc qdisc add dev e root {RED} qevent early_drop block 10", "`qevent` is not read: a scenario has no blocks"),
        ("tc qdisc add dev e root dualpi2 no_split_gso", "`no_split_gso` is not read: packets of a scenario"),
        ("tc qdisc add dev e root codel\ntc qdisc add dev e ingress", "arriving packets is not read"),
        ("tc qdisc add dev e stab overhead 20 linklayer atm root codel", "tables of sizes (`stab`) are not read"),
        ("tc qdisc add dev e root codel\ntc actions add action ok", "`tc actions` is not read"),
        (f"{PRIO}tc qdisc add dev e parent 1:4 codel", "`prio` 1: has no class 1:4"),
        (f"{PRIO}tc qdisc add dev e parent 2:1 codel", "there is no discipline 2: on e"),
        ("tc qdisc add dev e parent 1:1 codel", "what is above 1:1 is not in the file"),
        (f"{PRIO}tc class add dev e parent 1: classid 1:9 htb rate 1mbit", "`prio` 1: takes no classes"),
        (f"{PRIO}tc qdisc change dev e root handle 1: codel", "a `prio` cannot become a `codel`"),
    ],
)
def test_what_is_passed_over_is_named(line: str, words: str) -> None:
    assert words in said(read(f"{line}\n"))


def test_classes_are_added_changed_and_deleted() -> None:
    htb = "tc qdisc add dev e root handle 1: htb default 20\n"
    classes = htb + "".join(
        f"tc class add dev e parent 1: classid 1:{minor} htb rate {minor}mbit\n" for minor in (10, 20)
    )
    ten, twenty = read(classes).queues
    assert [queue.lines[0].rate_bps for queue in (ten, twenty)] == [10**7, 2 * 10**7]
    again = f"{classes}tc class add dev e parent 1: classid 1:20 htb rate 9mbit\n"
    assert read(again).queues[1].lines[0].rate_bps == 2 * 10**7
    assert "the class 1:20 exists already (line 3), and stays" in said(read(again))
    changed = read(
        again.replace(
            "class add dev e parent 1: classid 1:20 htb rate 9", "class replace dev e classid 1:20 htb rate 9"
        )
    )
    assert changed.queues[1].lines[0].rate_bps == 9 * 10**6
    assert names(f"{classes}tc class del dev e classid 1:10\n") == ["e 1:20 pfifo"]


def test_classes_that_cannot_stand_where_they_are_put() -> None:
    drr = "tc qdisc add dev e root handle 1: drr\n"
    # drr has no classes below classes, and takes what stands there for its own.
    assert names(f"{drr}tc class add dev e parent 1:7 classid 1:1 drr\n") == ["e 1:1 pfifo"]
    htb = HTB + "tc class add dev e parent 1: classid 1:1 htb rate 1mbit\n"
    assert "cannot stand below 2" in said(read(f"{htb}tc class add dev e parent 2: classid 1:2 htb rate 1mbit\n"))
    top = read(f"{htb}tc class add dev e parent 1:9 classid 1:2 htb rate 1mbit ceil 9mbit\n")
    assert "there is no class 1:9: htb puts this one at the top" in said(top)
    assert top.queues[-1].lines[0].rate_bps == 10**6


def calls(lines: int) -> int:
    """How many calls of functions a script of so many lines takes."""
    text = "".join(
        f"tc qdisc replace dev e{number % 50} root handle 1: codel limit {number + 1}\n" for number in range(lines)
    )
    text += "tc qdisc add dev f root handle 1: htb default 1\n" + "".join(
        f"tc class add dev f parent 1: classid 1:{number + 1:x} htb rate 1mbit\n" for number in range(lines // 10)
    )
    count = 0

    def seen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        read(text)
    finally:
        sys.setprofile(None)
    return count


def test_ten_times_the_lines_take_ten_times_the_work() -> None:
    assert calls(4000) < 11 * calls(400)


@pytest.mark.parametrize("redirection", ["2>/dev/null", ">/dev/null 2>&1", "&> log", "2>> log \\\n ", "1>log <in"])
def test_redirections_are_no_words_of_a_command(redirection: str) -> None:
    (queue,) = read(f"tc qdisc add dev e root handle 10: {RED} {redirection}\n").queues
    assert queue == only(f"tc qdisc add dev e root handle 10: {RED}\n")


def test_placeholders_and_variables_are_words() -> None:
    assert names("tc qdisc replace dev <interface> root codel\n") == ["<interface> root codel"]
    with pytest.raises(shoal.ScenarioError, match="tc qdisc replace dev <if> root a/b\n") as refused:
        read("tc qdisc replace dev <if> root a/b\n")
    assert "`a/b` has no model" in str(refused.value)
    with pytest.raises(shoal.ScenarioError, match="the line holds variables of a shell"):
        read("tc qdisc replace dev $DEV $PARENT red limit 400000\n")


def test_what_stands_behind_or_runs_only_if_the_first_fails() -> None:
    first = "tc qdisc add dev e root handle 1: codel"
    other = "tc qdisc replace dev e root handle 2: pie"
    for either in (f"|| {other}", f"||\n  {other}", f"|| ( {other} )", "|| { " + other + "; }"):
        text = f"{first} 2>/dev/null {either}\n"
        assert names(text) == ["e 1 codel"]
        assert "text:1: this command does nothing: that in front of `||` does not fail" in said(read(text))
    change = "tc qdisc change dev e root handle 1: codel limit 5"
    assert names(f"{change} || \\\n  tc qdisc add dev e root handle 2: pie\n") == ["e 2 pie"]
    assert exact(only(f"{first}\n{change} || tc qdisc add dev e root handle 2: pie\n"))["limit"] == "5 packets"
    # Whether another program fails is not known.
    assert names(f"{first} ; grep -q x f || tc qdisc replace dev e root handle 2: pie\n") == ["e 2 pie"]
    assert names(f"{first} || true\n") == ["e 1 codel"]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("u32 match ip tos 0x28 0xff flowid 1:1", "compares the ECN field, too (0xfc leaves it out): ECT packets and"),
        ("flower ip_tos 0x28 flowid 1:1", "compares the ECN field, too"),
        ("u32 match ip src 10.0.0.1 flowid 1:1", "looks at more than the code point"),
    ],
)
def test_why_a_filter_decides_about_no_code_point(rule: str, words: str) -> None:
    configuration = read(f"{PRIO}tc filter add dev e parent 1: protocol ip prio 1 {rule}\n")
    kind = rule.partition(" ")[0]
    assert f"text:2: this filter is not read: `{kind}` {words}" in said(configuration)
    undecided = configuration.queues[0].undecided
    assert undecided is not None
    assert f"`{kind}` {words}" in undecided.text


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("import x\nh.cmd('tc qdisc add dev e root codel')\n", 2, "commands of `tc` stand in strings of a program"),
        ('s1.cmd(\n  "sudo /sbin/tc class add dev e parent 1: classid 1:1 htb rate 1mbit")\n', 2, "in strings of"),
        ('do_tc() {\n  sudo ${HERE}/tc/tc $1\n}\ndo_tc "qdisc add dev e root codel"\n', 2, "words of `tc` are in var"),
        ('tc "$@"\n', 1, "the words of `tc` are in variables"),
    ],
)
def test_programs_that_build_their_commands_are_refused_as_such(text: str, line: int, words: str) -> None:
    with pytest.raises(shoal.ScenarioError) as refused:
        read(text)
    assert f"--> text:{line}\n" in str(refused.value)
    assert words in str(refused.value)
    assert "`tc qdisc show`" in str(refused.value)
