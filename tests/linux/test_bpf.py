"""Congestion controls and markers as BPF programs in this machine's kernel; skipped, with the reason, if it takes none.

Needs root, and disturbs no interface: everything is in network namespaces of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shoal.linux.demo import scalable_controls
from shoal.linux.places import cache

ROOT = Path(__file__).resolve().parents[2]
BPF = ROOT / "linux" / "bpf"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def unfit() -> str:
    """Why this machine cannot load the programs, if it cannot."""
    if os.geteuid() != 0:
        return "loading BPF programs needs root"
    if not Path("/sys/kernel/btf/vmlinux").exists():
        return "this kernel has no BTF"
    tools = ("clang", "cargo", "gcc", "make", "pkg-config", "ip", "tc", "unshare", "setpriv")
    if lacking := [tool for tool in tools if shutil.which(tool) is None]:
        return f"missing: {', '.join(lacking)}"
    headers = (Path("/usr/include/bpf/bpf_helpers.h"), Path("/usr/include/libelf.h"))
    if lacking := [path.name for path in headers if not path.exists()]:
        return f"missing headers: {', '.join(lacking)} (libbpf-dev, libelf-dev)"
    if subprocess.run(["unshare", "--net", "true"], check=False, capture_output=True).returncode:
        return "no network namespaces here"
    return ""


REASON = unfit()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs, loader, paths and the replay, compiled."""
    place = tmp_path_factory.mktemp("bpf")
    done = subprocess.run(
        [sys.executable, BPF / "tests/prepared.py", place], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    request = json.dumps({"verb": "load", "object": str(place / "dctcp_ikr.bpf.o"), "parameters": {"gain_shift": 99}})
    said = json.loads(
        subprocess.run([place / "shoal-bpf", request], capture_output=True, text=True, check=False).stdout
    )
    if "gain_shift is 99" not in said["error"]:
        pytest.skip(f"this kernel takes no congestion control as a BPF program: {said['error']}")
    return place


def shoal(*words: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The result of a command of ``shoal``."""
    command = [*before, sys.executable, "-m", "shoal", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


# The beginning of a command with a file system for BPF of its own: pins end with it.
OWN_FILE_SYSTEM = ("unshare", "--mount", "sh", "-c", 'mount -t bpf bpf /sys/fs/bpf && "$@"', "sh")


def test_transfers_are_those_of_the_modules_code(folder: Path) -> None:
    # As of the tests on the real kernel, CI takes some for each commit.
    names = ("ikr", "losses", "outage", "onesided-listener") if os.environ.get("SHOAL_KERNEL_TESTS") == "smoke" else ()
    command = [sys.executable, BPF / "tests/transfers.py", folder, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(names) or 12} scenarios agree" in done.stdout


def test_markers_decide_as_the_law_in_user_space(folder: Path) -> None:
    names = ("coupled-6", "dualred") if os.environ.get("SHOAL_KERNEL_TESTS") == "smoke" else ()
    command = [sys.executable, BPF / "tests/markers.py", folder, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(names) or 7} scenarios agree" in done.stdout


def test_products_of_two_words_are_the_compilers(folder: Path) -> None:
    done = subprocess.run([folder / "arithmetic"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "agree" in done.stdout


def test_law_in_the_kernel_follows_the_models_vectors(folder: Path, tmp_path: Path) -> None:
    made = subprocess.run(
        ["cargo", "test", "--quiet", "-p", "shoal-cc", "--profile", "ci", "--test", "linux_modules"],
        cwd=ROOT,
        env=os.environ | {"SHOAL_VECTORS": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    vectors = tmp_path / "dctcp.tsv"
    crate = BPF / "loader/Cargo.toml"
    target = cache("bpf-loader")
    command = [
        "cargo",
        "run",
        "--quiet",
        "--release",
        "--locked",
        "--manifest-path",
        str(crate),
        "--target-dir",
        str(target),
    ]
    command += ["--example", "replay_vectors", "--", str(folder / "law_vectors.bpf.o")]
    done = subprocess.run([*command, vectors], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "operations in 11 configurations agree" in done.stdout
    rows = vectors.read_text().splitlines()
    rows[499] += "7"
    vectors.write_text("\n".join(rows))
    done = subprocess.run([*command, vectors], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert ":500: the model says" in done.stderr


def test_loader_has_no_lints(folder: Path) -> None:
    crate = BPF / "loader/Cargo.toml"
    command = ["cargo", "clippy", "--quiet", "--release", "--locked", "--all-targets", "--manifest-path", crate]
    command += ["--target-dir", cache("bpf-loader"), "--", "-D", "warnings"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_loaded_while_the_command_lasts(folder: Path) -> None:
    command = [sys.executable, "-m", "shoal", "bpf", "load", "dctcp_ikr", "--set", "gain_shift=4", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as held:
        assert held.stdout is not None
        loaded = json.loads(held.stdout.readline())
        assert loaded["loaded"] == ["dctcp_ikr"]
        values = {each["name"]: each["value"] for each in loaded["parameters"]}
        assert values["gain_shift"] == 4
        assert values["alpha_bits"] == 20
        assert "dctcp_ikr" in AVAILABLE.read_text().split()
        listed = json.loads(shoal("bpf", "show", "--json").stdout)["loaded"]
        assert [each["pinned"] for each in listed if each["name"] == "dctcp_ikr"] == [None]
        assert [each["parameters"] for each in listed if each["name"] == "dctcp_ikr"] == [loaded["parameters"]]
        again = shoal("bpf", "load", "dctcp_ikr")
        assert again.returncode == 6
        assert "has a congestion control `dctcp_ikr` already" in again.stderr
        held.send_signal(signal.SIGINT)
        assert held.wait(timeout=30) == 0
    assert "dctcp_ikr" not in AVAILABLE.read_text().split()


def test_the_demonstration_sends_over_it(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "shoal", "bpf", "load", "dctcp_ikr"], stdout=subprocess.DEVNULL
    ) as held:
        try:
            while "dctcp_ikr" not in AVAILABLE.read_text():
                assert held.poll() is None
                time.sleep(0.1)
            done = shoal("demo", "--seconds", "6", "--no-page", "--json")
        finally:
            held.send_signal(signal.SIGINT)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    # A kernel that has a DCTCP of its own shows that.
    assert said["control"] in ("dctcp", "dctcp_ikr")
    assert f"{scalable_controls[said['control']]} and CUBIC without ECN" in done.stderr
    ours = [flow for flow in said["ways"][0]["flows"] if "DCTCP" in flow["flow"]]
    assert len(ours) == 2
    for flow in ours:
        assert flow["marked"] > 0
        assert flow["dropped"] == 0
    # DualPI2 couples the two: neither has less than a quarter of the other's rate.
    volumes = {flow["flow"]: flow["bytes"] for flow in said["ways"][0]["flows"]}
    ratio = volumes[scalable_controls[said["control"]]] / volumes["CUBIC"]
    assert 0.25 < ratio < 4


def test_pinned_until_it_is_unloaded(folder: Path) -> None:
    lines = (
        "$0 -m shoal bpf load dctcp_onesided --pin && cat /proc/sys/net/ipv4/tcp_available_congestion_control && "
        "$0 -m shoal bpf load dctcp_onesided --pin; $0 -m shoal bpf show; $0 -m shoal bpf unload dctcp_onesided; "
        "! test -e /sys/fs/bpf/shoal && echo nothing left; $0 -m shoal bpf unload dctcp_onesided"
    )
    done = subprocess.run(
        [*OWN_FILE_SYSTEM, "sh", "-c", lines, sys.executable], capture_output=True, text=True, check=False, timeout=60
    )
    assert "dctcp_onesided dctcp_1sided_rx" in done.stdout or "dctcp_1sided_rx dctcp_onesided" in done.stdout
    assert "/sys/fs/bpf/shoal/dctcp_onesided/dctcp_1sided_rx" in done.stdout
    assert "`dctcp_onesided` is pinned already" in done.stderr
    assert "unloaded dctcp_1sided_rx, dctcp_onesided" in done.stdout
    assert done.stdout.endswith("nothing left\n")
    assert "`dctcp_onesided` is not pinned" in done.stderr
    assert "dctcp_onesided" not in AVAILABLE.read_text().split()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("load", "dctcp_ikr", "--set", "gain_shift=21"), 6, "gain_shift is 21; it must be 0 to 20"),
        (("load", "dctcp_ikr", "--set", "alpha_bits=12"), 6, "alpha_bits is 12; it must be 10 or 20"),
        (("load", "dctcp_ikr", "--set", "gain=2"), 6, "there is no parameter `gain`"),
        (("load", "dctcp_ikr", "--set", "gain_shift=-1"), 2, "not a name and a number"),
        (("load", "dctcp"), 2, "programs: dctcp_ikr, dctcp_onesided, mark_coupled, mark_dualred, mark_step"),
        (("load", "dctcp_ikr", "--device", "lo"), 2, "dctcp_ikr is a congestion control, which has no --device"),
        (("load", "mark_step"), 2, "shoal bpf load mark_step --device eth0"),
        (("load", "mark_step", "--device", "no0"), 6, "`no0`: there is no such network interface here"),
        (("load", "mark_step", "--device", "lo", "--set", "threshold_us=10000001"), 6, "it must be 0 to 10000000"),
        (("load", "mark_dualred", "--device", "lo", "--set", "min_us=40000"), 6, "min_us is 40000, above max_us"),
        (("unload", "mark_step", "--device", "no0"), 6, "`mark_step@no0` is not pinned"),
        (("load", "dctcp_ikr", "--pin", "--trace", "x"), 2, "--pin and --trace exclude each other"),
    ],
)
def test_refused(folder: Path, words: tuple[str, ...], code: int, message: str) -> None:
    done = shoal("bpf", *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in " ".join(done.stderr.split())
    assert "dctcp_ikr" not in AVAILABLE.read_text().split()


@pytest.mark.parametrize(
    ("without", "verb", "lacks"),
    [
        ("-bpf,-sys_admin", "load", "CAP_BPF"),
        ("-perfmon,-sys_admin", "load", "CAP_PERFMON"),
        ("-net_admin", "load", "CAP_NET_ADMIN"),
        ("-bpf,-perfmon,-net_admin,-sys_admin", "load", "CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN"),
        ("-sys_admin", "show", "CAP_SYS_ADMIN"),
    ],
)
def test_missing_capabilities_are_named(folder: Path, without: str, verb: str, lacks: str) -> None:
    words = (verb, "dctcp_ikr") if verb == "load" else (verb,)
    done = shoal("bpf", *words, before=("setpriv", f"--bounding-set={without}", "--inh-caps=-all"))
    assert done.returncode == 6
    assert f"it lacks {lacks}\n" in done.stderr


@pytest.mark.parametrize(("without", "lacks"), [("-bpf,-sys_admin", "CAP_BPF"), ("-perfmon,-sys_admin", "CAP_PERFMON")])
def test_missing_capabilities_of_a_marker_are_named(folder: Path, without: str, lacks: str) -> None:
    before = ("setpriv", f"--bounding-set={without}", "--inh-caps=-all")
    done = shoal("bpf", "load", "mark_step", "--device", "lo", before=before)
    assert done.returncode == 6
    assert f"it lacks {lacks}\n" in done.stderr


def test_marker_of_an_interface_that_is_down_is_refused(folder: Path) -> None:
    done = shoal("bpf", "load", "mark_step", "--device", "lo", before=("unshare", "--net"))
    assert done.returncode == 6
    assert "the network interface `lo` is down" in done.stderr
    assert "ip link set lo up" in done.stderr


def test_marker_is_loaded_while_the_command_lasts(folder: Path) -> None:
    only = "-all,+bpf,+perfmon,+net_admin"
    up = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
    command = [*up, "setpriv", f"--bounding-set={only}", "--inh-caps=-all", sys.executable, "-m", "shoal", "bpf"]
    command += ["load", "mark_coupled", "--device", "lo", "--set", "coupling_percent=200", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as held:
        assert held.stdout is not None
        assert held.stderr is not None
        loaded = json.loads(held.stdout.readline())
        assert (loaded["loaded"], loaded["device"]) == (["mark_coupled"], "lo")
        values = {each["name"]: each["value"] for each in loaded["parameters"]}
        assert values == {"saturation_us": 200000, "coupling_percent": 200}
        listed = json.loads(shoal("bpf", "show", "--json").stdout)["markers"]
        assert [(each["name"], each["interface"], each["pinned"]) for each in listed] == [("mark_coupled", 1, None)]
        assert listed[0]["parameters"] == loaded["parameters"], "as the kernel has them"
        held.send_signal(signal.SIGINT)
        assert held.wait(timeout=30) == 0
        assert "unloaded mark_coupled from lo: 0 packets" in held.stderr.read()
    assert json.loads(shoal("bpf", "show", "--json").stdout)["markers"] == []


def test_marker_is_pinned_until_it_is_unloaded(folder: Path) -> None:
    lines = (
        "ip link add d.1 type veth && ip link set d.1 up && $0 -m shoal bpf load mark_step --device d.1 --pin; "
        "$0 -m shoal bpf load mark_step --device d.1 --pin; $0 -m shoal bpf show; "
        "$0 -m shoal bpf unload mark_step --device d.1; ! test -e /sys/fs/bpf/shoal && echo nothing left"
    )
    command = ["unshare", "--net", *OWN_FILE_SYSTEM, "sh", "-c", lines, sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert "/sys/fs/bpf/shoal/mark_step@d:1/mark_step" in done.stdout, done.stdout + done.stderr
    assert "`mark_step@d:1` is pinned already" in done.stderr
    assert "unloaded mark_step from d.1" in done.stdout
    assert done.stdout.endswith("nothing left\n")
    assert json.loads(shoal("bpf", "show", "--json").stdout)["markers"] == []


def test_second_marker_of_a_device_is_refused(folder: Path) -> None:
    lines = (
        "ip link add d.1 type veth && ip link set d.1 up && $0 -m shoal bpf load mark_step --device d.1 --pin; "
        "$0 -m shoal bpf load mark_coupled --device d.1; echo code $?; "
        "setpriv --bounding-set=-all,+bpf,+perfmon,+net_admin --inh-caps=-all "
        "$0 -m shoal bpf load mark_coupled --device d.1; $0 -m shoal bpf show; "
        "$0 -m shoal bpf unload mark_step --device d.1"
    )
    command = ["unshare", "--net", *OWN_FILE_SYSTEM, "sh", "-c", lines, sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    said = " ".join(done.stderr.split())
    assert "`d.1` has a marker on its egress already, `mark_step`" in said, done.stdout + done.stderr
    assert "which may be a marker: this process may not look, it lacks CAP_SYS_ADMIN" in said
    assert "code 6\n" in done.stdout
    assert "threshold_us=5000" in done.stdout
    assert json.loads(shoal("bpf", "show", "--json").stdout)["markers"] == []


def test_kernel_without_descriptions_of_its_types_is_refused(folder: Path) -> None:
    hidden = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && "$@"', "sh")
    done = shoal("bpf", "load", "dctcp_ikr", before=hidden)
    assert done.returncode == 6
    assert "there is no /sys/kernel/btf/vmlinux" in done.stderr
    marker = shoal("bpf", "load", "mark_step", "--device", "lo", before=hidden)
    assert (marker.returncode, marker.stderr) == (6, done.stderr)
    assert "CONFIG_DEBUG_INFO_BTF" in done.stderr


def test_nowhere_to_pin_is_refused(folder: Path) -> None:
    hidden = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys/fs/bpf && "$@"', "sh")
    done = shoal("bpf", "load", "dctcp_ikr", "--pin", before=hidden)
    assert done.returncode == 6
    assert "mount -t bpf bpf /sys/fs/bpf" in done.stderr
    assert "dctcp_ikr" not in AVAILABLE.read_text().split()


def test_capabilities_that_are_named_suffice(folder: Path) -> None:
    only = "-all,+bpf,+perfmon,+net_admin"
    command = ["setpriv", f"--bounding-set={only}", "--inh-caps=-all", sys.executable, "-m", "shoal"]
    with subprocess.Popen([*command, "bpf", "load", "dctcp_ikr", "--json"], stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout is not None
        assert json.loads(held.stdout.readline())["loaded"] == ["dctcp_ikr"]
        held.terminate()
        assert held.wait(timeout=30) == 143
    assert "dctcp_ikr" not in AVAILABLE.read_text().split()
