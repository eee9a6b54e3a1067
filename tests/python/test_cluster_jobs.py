"""Sweeps on workers that something else starts: a Slurm and an sshd of our own, on loopback and in temporary folders.

PBS and LSF cannot be installed here. What stands in for `qsub` and `bsub` runs the script that it is given, no more: it
shows that the scripts start workers and ask for what was configured, not that these systems take them.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import Cli
from tiny_scenario import tiny_scenario

from shoal.runs.store import contents

pytest.importorskip("distributed")

TINY = tiny_scenario("60 s")
SWEEP = """\
scenario = "tiny.toml"
seeds = 3

[axes]
bottleneck.aqm.threshold = "2:9 packets"
"""
RUNS = 24
# Each run on this worker takes as long as it takes, and then some.
SLOW = """
import time
from shoal.runs import execute
# Dask reads this file more than once.
if not hasattr(execute, "own"):
    execute.own = execute.perform
    execute.perform = lambda *given: (time.sleep(0.2), execute.own(*given))[1]
"""
# Files of a folder of results that say what the command was, and so where it was written.
OF_THE_COMMAND = {"command.txt", "report.html"}
# Dask forgets a worker that is lost after a second, and another job takes the place of its job.
IMPATIENT = {"DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "1s"}
# Keeps schedulers and workers off all networks but loopback.
LOOPBACK = '{"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}'

# Programs of daemons are where only root looks for programs.
_path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def _found(*programs: str) -> list[str]:
    """Paths of programs; without them the test is skipped."""
    found = {name: shutil.which(name, path=_path) for name in programs}
    if missing := [name for name, path in found.items() if path is None]:
        pytest.skip(f"{', '.join(missing)} not installed (Debian: slurm-wlm, munge, openssh-server)")
    return [str(path) for path in found.values()]


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _until(condition: Callable[[], bool], what: Callable[[], object], limit_s: float = 60) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, what()
        time.sleep(0.05)


def _nothing() -> str:
    return "no run was done"


def _files(folder: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: content for name, content in found.items() if name not in OF_THE_COMMAND}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tiny.toml").write_text(TINY, encoding="utf-8")
    (tmp_path / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    return tmp_path


@pytest.fixture
def environment(environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """What a user has, with a home of its own, and without what an outer batch system or Dask would say."""
    (tmp_path / "home").mkdir(mode=0o700)
    others = ("DASK_", "SLURM_", "SBATCH_", "PBS_", "LSF_", "SSH_")
    own = {
        "HOME": str(tmp_path / "home"),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "DASK_TEMPORARY_DIRECTORY": str(tmp_path / "dask"),
    }
    return {name: value for name, value in environment.items() if not name.startswith(others)} | own


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of our own threads."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "tiny.toml").write_text(TINY, encoding="utf-8")
    (folder / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    command = [sys.executable, "-m", "shoal", "sweep", "sweep.toml", "--fresh", "--json", "--out", "results"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=True)
    (folder / "results" / "stdout").write_text(done.stdout, encoding="utf-8")
    return folder / "results"


def _configure(environment: dict[str, str], system: str, **options: object) -> Path:
    """Write the configuration of dask-jobqueue; gives the folder of what jobs print."""
    home = Path(environment["HOME"])
    folder = home / ".config" / "dask"
    folder.mkdir(parents=True, exist_ok=True)
    given: dict[str, object] = {
        "cores": 1,
        "memory": "500MB",
        "log-directory": str(home / "logs"),
        "scheduler-options": json.loads(LOOPBACK),
        "worker-extra-args": ["--host", "127.0.0.1"],
    }
    # JSON is YAML.
    text = json.dumps({"jobqueue": {system: {**given, **options}}})
    (folder / "jobqueue.yaml").write_text(text, encoding="utf-8")
    return home / "logs"


# Slurm.

_slurm = """\
ClusterName=shoal
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
KillWait=1
NodeName=here NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 RealMemory=4000
PartitionName=all Nodes=here Default=YES State=UP
"""


@dataclass
class Slurm:
    """A controller, one node and the daemon for their keys, each a process of ours."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self) -> None:
        munged, slurmctld, slurmd, *_ = _found("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
        # The node asks for the way to this folder, and munge wants everybody to have it.
        self.folder.chmod(0o755)
        host = socket.gethostname().partition(".")[0]
        text = _slurm.format(host=host, user=getpass.getuser(), folder=self.folder, ports=(_port(), _port()))
        (self.folder / "slurm.conf").write_text(text, encoding="utf-8")
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
        options = [f"--{option}={self.folder}/munge.{name}" for option, name in files.items()]
        self._start(munged, "--foreground", "--force", *options)
        _until((self.folder / "munge.socket").exists, self.said)
        self._start(slurmctld, "-D", "-c")
        self._start(slurmd, "-D", "-N", "here")
        _until(lambda: self("sinfo", "--noheader", "--format=%T").strip() == "idle", self.said)

    def __call__(self, *command: str) -> str:
        """What a command of Slurm prints."""
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        ).stdout

    def has_jobs(self) -> bool:
        return bool(self("squeue", "--noheader"))

    def said(self) -> str:
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.err")))

    def stop(self) -> None:
        if len(self.processes) == 3:
            with contextlib.suppress(Exception):
                self("scancel", f"--user={getpass.getuser()}")
                _until(lambda: not self.has_jobs(), self.said, 20)
        for process in reversed(self.processes):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self, *command: str) -> None:
        with (self.folder / f"{Path(command[0]).name}.err").open("wb") as err:
            self.processes.append(
                subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL, stderr=err)
            )


@pytest.fixture(scope="module")
def one_slurm() -> Iterator[Slurm]:
    # Paths of sockets are short; those of pytest may be long.
    with tempfile.TemporaryDirectory(prefix="shoal-slurm-", ignore_cleanup_errors=True) as folder:
        one = Slurm(Path(folder))
        try:
            one.start()
            yield one
        finally:
            one.stop()


@pytest.fixture
def slurm(one_slurm: Slurm, environment: dict[str, str]) -> Iterator[Slurm]:
    """Slurm, which has no job left after a test."""
    environment["SLURM_CONF"] = one_slurm.environment["SLURM_CONF"]
    yield one_slurm
    # What was cancelled may take a moment to end.
    _until(lambda: not one_slurm.has_jobs(), lambda: one_slurm("squeue"), 20)


def test_jobs_of_slurm_give_the_same_bytes(
    slurm: Slurm, folder: Path, environment: dict[str, str], cli: Cli, whole: Path
) -> None:
    pytest.importorskip("dask_jobqueue")
    logs = _configure(environment, "slurm")
    done = cli("sweep", "sweep.toml", "--fresh", "--json", "--cluster", "slurm:2", "--out", "results")
    assert done.code == 0, done.err
    # A slow machine may be told of by Dask, but nothing fails on the way out.
    assert "Traceback" not in done.err
    (folder / "results" / "stdout").write_text(done.out, encoding="utf-8")
    assert _files(folder / "results") == _files(whole)
    # It was these jobs that ran it.
    assert len(list(logs.glob("*.err"))) == 2
    assert any("Registered to" in path.read_text() for path in logs.glob("*.err"))


def test_an_array_of_jobs_that_share_nothing_as_the_page_says(
    slurm: Slurm, folder: Path, environment: dict[str, str], whole: Path
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    block = next(text for text in page.split("```") if "sbatch" in text).removeprefix("sh\n")
    assert block.count("=1-16 ") == 1
    (folder / "bin").mkdir()
    shoal = folder / "bin" / "shoal"
    own = f"export SHOAL_CACHE_DIR={folder}/cache-$SLURM_ARRAY_TASK_ID"
    shoal.write_text(f'#!/bin/sh\n{own}\nexec {sys.executable} -m shoal "$@"\n', encoding="utf-8")
    shoal.chmod(0o755)
    path = f"{folder}/bin{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", block.replace("=1-16 ", "=1-2 ")],
        cwd=folder,
        env=environment | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (done.stderr, [path.read_text() for path in folder.glob("slurm-*.out")])
    assert {path.name for path in folder.glob("cache-?*")} == {"cache-1", "cache-2"}
    shown = {name: content for name, content in _files(whole).items() if name != "stdout"}
    assert _files(folder / "results" / "sweep") == shown


def _running(folder: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """A sweep on two slow jobs, as soon as a part of it is done."""
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    _configure(environment, "slurm")
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", "sweep", "sweep.toml", "--json", "--cluster", "slurm:2"],
        cwd=folder,
        env=environment | IMPATIENT | {"DASK_DISTRIBUTED__WORKER__PRELOAD": json.dumps([str(folder / "slow.py")])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _until(lambda: contents(folder / "cache").runs > 2 or process.poll() is not None, _nothing)
        assert process.poll() is None, process.communicate()
    except BaseException:
        process.kill()
        process.communicate()
        raise
    return process


def test_jobs_whose_time_is_over_are_replaced(
    slurm: Slurm, folder: Path, environment: dict[str, str], whole: Path
) -> None:
    pytest.importorskip("dask_jobqueue")
    with _running(folder, environment) as process:
        jobs = set(slurm("squeue", "--noheader", "--format=%A").split())
        assert len(jobs) == 2
        slurm("scancel", *jobs)
        assert contents(folder / "cache").runs < RUNS
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out == (whole / "stdout").read_text(encoding="utf-8")


def test_jobs_are_cancelled_with_the_command(slurm: Slurm, folder: Path, environment: dict[str, str]) -> None:
    pytest.importorskip("dask_jobqueue")
    with _running(folder, environment) as process:
        assert slurm.has_jobs()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in err
    # That no job is left is what `slurm` looks at.


def test_a_configuration_that_does_not_say_what_a_job_is(slurm: Slurm, environment: dict[str, str], cli: Cli) -> None:
    pytest.importorskip("dask_jobqueue")
    _configure(environment, "slurm", cores=None)
    done = cli("sweep", "sweep.toml", "--fresh", "--cluster", "slurm:2")
    assert (done.code, done.out) == (7, "")
    message = "error: `slurm:2` does not know what a job is: You must specify how much cores and memory"
    assert done.err.startswith(message), done.err
    assert "~/.config/dask/jobqueue.yaml" in done.err


def test_why_a_job_is_refused_stands_on_stderr(slurm: Slurm, folder: Path, environment: dict[str, str]) -> None:
    pytest.importorskip("dask_jobqueue")
    _configure(environment, "slurm", queue="nowhere")
    command = [sys.executable, "-m", "shoal", "sweep", "sweep.toml", "--fresh", "--cluster", "slurm:2"]
    log = folder / "stderr"
    with (
        log.open("w") as err,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=err) as process,
    ):
        _until(lambda: "invalid partition specified" in log.read_text(encoding="utf-8"), log.read_text)
        assert process.poll() is None  # a job may wait for hours: who has read why ends the command
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
    assert process.returncode == 128 + signal.SIGINT


@pytest.mark.parametrize(("system", "command"), [("slurm", "sbatch"), ("pbs", "qsub"), ("lsf", "bsub")])
def test_where_no_jobs_can_be_submitted(
    environment: dict[str, str], cli: Cli, tmp_path: Path, system: str, command: str
) -> None:
    pytest.importorskip("dask_jobqueue")
    environment["PATH"] = str(tmp_path)
    done = cli("sweep", "sweep.toml", "--fresh", "--cluster", f"{system}:2")
    assert (done.code, done.out) == (2, "")
    assert f"`--cluster {system}:2` needs the command `{command}`, which is not here" in done.err


# Stand-ins for what cannot be installed.


@dataclass(frozen=True)
class StandIn:
    """A command that submits, one that cancels, and how scripts and answers look."""

    submit: str
    cancel: str
    script: str
    answer: str
    directives: tuple[str, ...]


STAND_INS = {
    "pbs": StandIn(
        "qsub",
        "qdel",
        "open(sys.argv[1]).read()",
        "NUMBER.server",
        ("#PBS -N dask-worker", "#PBS -q some", "#PBS -l select=1:ncpus=1:mem=477MB", "#PBS -l walltime=00:30:00"),
    ),
    "lsf": StandIn(
        "bsub",
        "bkill",
        "sys.stdin.read()",
        "Job <NUMBER> is submitted to queue <some>.",
        ("#BSUB -J dask-worker", "#BSUB -q some", "#BSUB -n 1", "#BSUB -M 500000", "#BSUB -W 00:30"),
    ),
}
# Runs the script in the background, in a group of processes of its own, whose number is that of the job.
_stand_in = """\
#!{python}
import os, subprocess, sys
script = {script}
with open(f"{folder}/script-{{os.getpid()}}", "w") as file:
    file.write(script)
with open(f"{folder}/output-{{os.getpid()}}", "w") as out:
    job = subprocess.Popen(["bash", file.name], stdin=subprocess.DEVNULL, stdout=out, stderr=out, process_group=0)
print({answer!r}.replace("NUMBER", str(job.pid)))
"""
_cancel = """\
#!{python}
import os, signal, sys
open(f"{folder}/cancelled-{{sys.argv[1]}}", "w").close()
os.killpg(int(sys.argv[1]), signal.SIGTERM)
"""


@pytest.mark.parametrize("system", STAND_INS)
def test_scripts_for_pbs_and_lsf_with_a_stand_in_for_their_commands(
    folder: Path, environment: dict[str, str], cli: Cli, whole: Path, system: str
) -> None:
    pytest.importorskip("dask_jobqueue")
    one = STAND_INS[system]
    programs = folder / "bin"
    programs.mkdir()
    given = {"python": sys.executable, "folder": folder, "script": one.script, "answer": one.answer}
    for name, text in ((one.submit, _stand_in), (one.cancel, _cancel)):
        (programs / name).write_text(text.format(**given), encoding="utf-8")
        (programs / name).chmod(0o755)
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"
    _configure(environment, system, queue="some")
    done = cli("sweep", "sweep.toml", "--fresh", "--json", "--cluster", f"{system}:2")
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    assert done.out == (whole / "stdout").read_text(encoding="utf-8")
    scripts = [path.read_text(encoding="utf-8").splitlines() for path in folder.glob("script-*")]
    assert len(scripts) == 2
    for script in scripts:
        assert script[0].startswith("#!")
        assert set(one.directives) < set(script)
        assert any(
            line.startswith(f"{sys.executable} -m distributed.cli.dask_worker tcp://127.0.0.1:") for line in script
        )
    cancelled = [int(path.name.partition("-")[2]) for path in folder.glob("cancelled-*")]
    assert len(cancelled) == 2
    _until(lambda: not any(map(_is_there, cancelled)), lambda: f"of {cancelled} some are left")


def _is_there(group: int) -> bool:
    """Whether a group of processes has any that is more than a line in the table of processes."""
    stats = [Path(f"/proc/{name}/stat") for name in os.listdir("/proc") if name.isdecimal()]
    for stat in stats:
        with contextlib.suppress(OSError):
            state, _, its = stat.read_text().rpartition(")")[2].split()[:3]
            if int(its) == group and state != "Z":
                return True
    return False


# ssh.

_sshd = """\
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
SetEnv "PYTHONPATH={path}" SHOAL_SSHD={port}
"""
_ssh = """\
Host near
    HostName 127.0.0.1
    Port {port}
    IdentityFile {home}/.ssh/key
"""


@pytest.fixture
def sshd(tmp_path: Path, environment: dict[str, str]) -> Iterator[int]:
    """The port of an sshd that lets us in, and the files of a user who knows it as `near`."""
    asyncssh = pytest.importorskip("asyncssh")
    [program] = _found("sshd")
    # An empty folder that the service would make, and that root's sshd insists on. It stays: another one may use it.
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    home = Path(environment["HOME"])
    (home / ".ssh").mkdir(mode=0o700)
    host, user = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    for key, path in ((host, tmp_path / "host"), (user, home / ".ssh" / "key")):
        key.write_private_key(str(path))
        path.chmod(0o600)
    user.write_public_key(str(tmp_path / "authorized"))
    port = _port()
    text = _sshd.format(port=port, folder=tmp_path, path=environment["PYTHONPATH"])
    (tmp_path / "sshd_config").write_text(text, encoding="utf-8")
    (home / ".ssh" / "config").write_text(_ssh.format(port=port, home=home), encoding="utf-8")
    known = f"[127.0.0.1]:{port} {host.export_public_key().decode()}"
    (home / ".ssh" / "known_hosts").write_text(known, encoding="utf-8")
    environment["DASK_SHOAL__SSH__SCHEDULER"] = LOOPBACK
    environment["DASK_SHOAL__SSH__WORKER"] = '{"host": "127.0.0.1", "nthreads": 1}'
    with (tmp_path / "sshd.err").open("wb") as err:
        process = subprocess.Popen([program, "-D", "-e", "-f", str(tmp_path / "sshd_config")], stderr=err)
    try:
        _until(lambda: _listens(port), (tmp_path / "sshd.err").read_text)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _started_by(port: int) -> list[str]:
    """Processes that are there because this sshd let somebody in."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdecimal() and f"SHOAL_SSHD={port}".encode() in (folder / "environ").read_bytes().split(
                b"\0"
            ):
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found


def test_hosts_by_ssh_give_the_same_bytes(sshd: int, tmp_path: Path, cli: Cli, whole: Path) -> None:
    done = cli("sweep", "sweep.toml", "--fresh", "--json", "--cluster", "ssh:near,near")
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    assert done.out == (whole / "stdout").read_text(encoding="utf-8")
    # It was this sshd that let it in: to look at the host, for the scheduler, and for two workers.
    assert (tmp_path / "sshd.err").read_text().count("Accepted publickey") == 4
    _until(lambda: not _started_by(sshd), lambda: _started_by(sshd))


def test_hosts_stop_when_their_client_was_killed(sshd: int, folder: Path, environment: dict[str, str]) -> None:
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    more = {
        "DASK_SHOAL__SSH__SCHEDULER": json.dumps(json.loads(LOOPBACK) | {"idle_timeout": "5s"}),
        "DASK_DISTRIBUTED__WORKER__PRELOAD": json.dumps([str(folder / "slow.py")]),
    }
    command = [sys.executable, "-m", "shoal", "sweep", "sweep.toml", "--cluster", "ssh:near"]
    with subprocess.Popen(command, cwd=folder, env=environment | more, stderr=subprocess.DEVNULL) as process:
        try:
            _until(lambda: contents(folder / "cache").runs > 0 or process.poll() is not None, _nothing)
            assert process.poll() is None
            assert len(_started_by(sshd)) >= 2
        finally:
            process.kill()
    _until(lambda: not _started_by(sshd), lambda: _started_by(sshd))


def _nobody_listens(tmp_path: Path, environment: dict[str, str], port: int) -> None:
    config = Path(environment["HOME"]) / ".ssh" / "config"
    config.write_text(config.read_text().replace(f"Port {port}", f"Port {_port()}"))


def _another_host_key(tmp_path: Path, environment: dict[str, str], port: int) -> None:
    known = Path(environment["HOME"]) / ".ssh" / "known_hosts"
    known.write_text(f"[127.0.0.1]:{port} {(tmp_path / 'authorized').read_text()}")


def _no_authorized_key(tmp_path: Path, environment: dict[str, str], port: int) -> None:
    (tmp_path / "authorized").write_text("")


def _no_interpreter(tmp_path: Path, environment: dict[str, str], port: int) -> None:
    environment["DASK_SHOAL__SSH__PYTHON"] = "/nowhere/python"


def _no_shoal(tmp_path: Path, environment: dict[str, str], port: int) -> None:
    # Without the folders of packages, as a Python that shoal was not installed for.
    environment["DASK_SHOAL__SSH__PYTHON"] = f"env -u PYTHONPATH {sys.executable} -I -S"


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        (_nobody_listens, "cannot be reached: [Errno 111] ", "`ssh -o BatchMode=yes near true` has to work"),
        (_another_host_key, "the key of the host near is not known here", "`ssh near` shows it"),
        (_no_authorized_key, "the host near refuses the login: Permission denied", "`ssh -o BatchMode=yes near true`"),
        (_no_interpreter, "/nowhere/python does not run shoal: ", "install the same build there"),
        (_no_shoal, "does not run shoal: ModuleNotFoundError: No module named", "install the same build there"),
    ],
)
def test_hosts_that_cannot_be_used(
    sshd: int,
    tmp_path: Path,
    environment: dict[str, str],
    cli: Cli,
    change: Callable[[Path, dict[str, str], int], None],
    message: str,
    hint: str,
) -> None:
    change(tmp_path, environment, sshd)
    done = cli("sweep", "sweep.toml", "--fresh", "--cluster", "ssh:near")
    assert (done.code, done.out) == (7, "")
    assert done.err.startswith("error: `ssh:near`: ")
    assert message in done.err
    assert f"\nhint: {hint}" in done.err
    assert done.err.count("\n") == 2


def test_a_host_that_accepts_and_says_nothing(environment: dict[str, str], cli: Cli) -> None:
    pytest.importorskip("asyncssh")
    with socket.create_server(("127.0.0.1", 0)) as host:
        options = {"port": host.getsockname()[1], "login_timeout": 1, "known_hosts": None}
        environment["DASK_SHOAL__SSH__CONNECT"] = repr(options)
        done = cli("sweep", "sweep.toml", "--fresh", "--cluster", "ssh:127.0.0.1")
    assert (done.code, done.out) == (7, "")
    assert done.err.startswith("error: `ssh:127.0.0.1`: the host 127.0.0.1 cannot be reached: "), done.err


def test_a_host_without_a_name(cli: Cli) -> None:
    pytest.importorskip("asyncssh")
    done = cli("sweep", "sweep.toml", "--fresh", "--cluster", "ssh:near,")
    assert (done.code, done.out) == (2, "")
    assert "`--cluster ssh:near,` has a host without a name\nhint: as in ssh:HOST1,HOST2" in done.err
