"""Archives for artifact evaluation: what is in them, that they can be made again, and what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SMALL, Cli

import shoal
from shoal import build
from shoal.again_record import Recorded, refuse_command
from shoal.pack.folder import place_in

SHORT = SMALL.replace('"1 s"', '"0.2 s"').replace('"2 s"', '"0.5 s"').replace('"12 s"', '"1 s"')
TUNE = ("--key", "bottleneck.rate", "--unit", "Mbit/s", "--from", "10", "--to", "11", "--smallest", "--seeds", "1")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with results of every kind that is packed."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "small.toml").write_text(SHORT, encoding="utf-8")
    (folder / "other.toml").write_text(SHORT.replace("10 Mbit/s", "20 Mbit/s"), encoding="utf-8")
    environment = os.environ | {"SHOAL_CACHE_DIR": str(folder / "cache"), "NO_COLOR": "1"}
    for arguments in (
        ("run", "small.toml", "--seed", "7", "--out", "results/single"),
        ("run", "small.toml", "other.toml", "--seeds", "2", "--out", "results/seeds"),
        ("sweep", "small.toml", "--axis", "bottleneck.rate=10 Mbit/s,20 Mbit/s", "--out", "results/sweep"),
        ("tune", "small.toml", *TUNE, "--such-that", "jain()>0", "--out", "results/tune"),
        ("reproduce", "kuehlewind-2014/rare-marks", "--quick", "--out", "results/paper"),
    ):
        command = [sys.executable, "-m", "shoal", "--quiet", *arguments]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, timeout=300)
    return folder / "results"


@pytest.fixture
def results(made: Path, folder: Path) -> Path:
    """A copy of these folders in the folder of the command line."""
    return Path(shutil.copytree(made, folder / "results"))


def unpacked(archive: Path, to: Path) -> Path:
    with tarfile.open(archive) as file:
        file.extractall(to)
    return to / "artifact"


def packed(cli: Cli, folder: Path, *names: str) -> Path:
    done = cli("pack", *(f"results/{name}" for name in names), "--out", "a.tar.gz")
    assert done.code == 0, done.err
    return unpacked(folder / "a.tar.gz", folder)


def test_an_archive_is_made_again_with_the_same_bytes(cli: Cli, results: Path, folder: Path) -> None:
    names = ["paper", "seeds", "single", "sweep", "tune"]
    done = cli("pack", *(f"results/{name}" for name in names), "--out", "a.tar.gz")
    assert done.code == 0
    assert re.fullmatch(r"wrote a\.tar\.gz \([0-9]+ files\)\n", done.err)
    digest = hashlib.sha256((folder / "a.tar.gz").read_bytes()).hexdigest()
    assert done.out == f"{digest}  a.tar.gz\n"
    artifact = unpacked(folder / "a.tar.gz", folder / "elsewhere")
    top = {path.name for path in artifact.iterdir()}
    assert top == {
        *("README.md", "artifact.json", "requirements.txt", "rerun", "results", "CITATION.cff"),
        *("LICENSE-APACHE", "LICENSE-MIT"),
    }
    assert f"shoal=={shoal.__version__}\n" in (artifact / "requirements.txt").read_text()
    again = subprocess.run(
        [artifact / "rerun"],
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert again.returncode == 0, again.stderr
    assert [line.split()[0] for line in again.stdout.splitlines()[1:]] == names
    assert again.stdout.count("same bytes") == len(names)
    # Only the archive is there afterwards.
    assert {path.name for path in artifact.iterdir()} == top


def test_the_same_results_give_the_same_bytes(cli: Cli, results: Path, folder: Path) -> None:
    assert cli("pack", "results/single", "results/sweep", "--out", "a.tar.gz").code == 0
    for path in results.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700)
    (folder / "moved").mkdir()
    (results / "single").rename(folder / "moved" / "single")
    assert cli("pack", "moved/single", "results/sweep", "--out", "b.tar.gz").code == 0
    assert (folder / "a.tar.gz").read_bytes() == (folder / "b.tar.gz").read_bytes()
    with tarfile.open(folder / "a.tar.gz") as archive:
        for member in archive:
            assert member.isfile(), member.name
            assert (member.uid, member.gid, member.uname, member.gname, member.mtime) == (0, 0, "", "", 315_532_800)
            file = archive.extractfile(member)
            assert file is not None
            assert str(folder).encode() not in file.read(), member.name


def test_the_readme_has_the_parts_that_committees_ask_for(cli: Cli, results: Path, folder: Path) -> None:
    readme = (packed(cli, folder, "paper", "tune") / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", readme, flags=re.M) == [
        *("Abstract", "What is inside", "Requirements", "Installation", "Make everything again, in one command"),
        *("What to expect, and which file shows it", "What is not inside", "Citation"),
    ]
    assert "cd results/paper && shoal reproduce kuehlewind-2014/rare-marks --quick --out ../../new" in readme
    assert len(re.findall(r"^\| rare-marks A12: .*results/paper/verdicts\.csv", readme, flags=re.M)) == 5
    assert "| 10 Mbit/s | - | `results/tune/tune.json` |" in readme
    assert str(build.commit()) in readme
    assert "Expected time: nobody has measured it" in readme


def test_what_users_write_means_nothing_in_the_readme(cli: Cli, folder: Path) -> None:
    (folder / "small.toml").write_text(SHORT.replace('"Small"', '"<b>|`x`\\n# Head"'), encoding="utf-8")
    assert cli("run", "small.toml", "--out", "results/single").code == 0
    readme = (packed(cli, folder, "single") / "README.md").read_text(encoding="utf-8")
    assert r"| \<b\>\|\`x\` \# Head | - |" in readme


def test_trying_measures_the_time(cli: Cli, results: Path, folder: Path) -> None:
    assert cli("pack", "results/single", "--try", "--out", "a.tar.gz").code == 0
    readme = (unpacked(folder / "a.tar.gz", folder) / "README.md").read_text(encoding="utf-8")
    assert "Expected time: at most 1 minute on the machine that packed it" in readme


def renewed(artifact: Path) -> None:
    """Let the manifest agree with the files, as somebody would who hides a change."""
    path = artifact / "artifact.json"
    content = json.loads(path.read_text())
    for entry in content["results"]:
        for name in entry["sha256"]:
            file = artifact / "results" / entry["name"] / name
            entry["sha256"][name] = hashlib.sha256(file.read_bytes()).hexdigest()
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("hides", [False, True])
def test_changed_data_are_seen(cli: Cli, results: Path, folder: Path, hides: bool) -> None:
    artifact = packed(cli, folder, "sweep")
    file = artifact / "results" / "sweep" / "points.csv"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[0], "mine," + lines[1], *lines[2:]]))
    if hides:
        renewed(artifact)
    done = cli("pack", "--check", "artifact")
    assert done.code == 1
    said = "points.csv, line 2: packed `mine," if hides else "points.csv was changed after it was packed"
    assert f"error: sweep: {said}" in done.err
    assert re.search(r"^sweep .* 1 difference$", done.out, flags=re.M)


def test_a_changed_scenario_is_seen_by_what_it_makes(cli: Cli, results: Path, folder: Path) -> None:
    artifact = packed(cli, folder, "single")
    file = artifact / "results" / "single" / "scenario.toml"
    file.write_text(file.read_text().replace("10 Mbit/s", "20 Mbit/s"))
    renewed(artifact)
    done = cli("pack", "--check", "artifact", "--out", "again")
    assert done.code == 1
    assert "error: single: result.json, line " in done.err
    assert (folder / "again" / "single" / "result.json").is_file()
    assert cli("pack", "--check", "artifact", "--out", "again").code == 4


@pytest.mark.parametrize("change", ["missing", "link"])
def test_files_that_are_missing_or_elsewhere_are_seen(cli: Cli, results: Path, folder: Path, change: str) -> None:
    artifact = packed(cli, folder, "single")
    file = artifact / "results" / "single" / "result.json"
    if change == "link":
        shutil.copyfile(file, folder / "copy.json")
    file.unlink()
    if change == "link":
        file.symlink_to(folder / "copy.json")
    done = cli("pack", "--check", "artifact")
    assert done.code == 1
    assert f"result.json is {'missing' if change == 'missing' else 'a symbolic link'}" in done.err


def test_an_archive_of_another_version_is_not_compared(cli: Cli, results: Path, folder: Path) -> None:
    artifact = packed(cli, folder, "single")
    path = artifact / "artifact.json"
    path.write_text(path.read_text().replace(f'"version": "{shoal.__version__}"', '"version": "0.0.9"'))
    done = cli("pack", "--check", "artifact")
    assert (done.code, done.err.splitlines()[0]) == (
        2,
        f"error: the results are of shoal 0.0.9, and this is {shoal.__version__}: their bytes may differ",
    )


@pytest.mark.parametrize(
    "words",
    [
        ["linux", "build"],
        ["run", "/etc/passwd"],
        ["run", "../x.toml"],
        ["run", "scenario.toml", "--out", "x"],
        ["run", "scenario.toml", "--pcap=x"],
        ["tune", "source.toml", "--sizes", "n=/etc/passwd"],
        [],
    ],
)
def test_commands_of_strangers_only_make_results(cli: Cli, results: Path, folder: Path, words: list[str]) -> None:
    with pytest.raises(ValueError, match="`"):
        refuse_command(words)
    path = packed(cli, folder, "single") / "artifact.json"
    content = json.loads(path.read_text())
    content["results"][0]["command"] = words
    path.write_text(json.dumps(content))
    done = cli("pack", "--check", "artifact")
    assert done.code == 4
    assert "was edited or is damaged" in done.err


def test_modules_in_an_archive_are_not_imported(cli: Cli, results: Path, folder: Path) -> None:
    artifact = packed(cli, folder, "sweep")
    (artifact / "results" / "sweep" / "json.py").write_text("raise SystemExit('taken for a module')")
    assert cli("pack", "--check", "artifact").code == 0


def edit(folder: Path) -> None:
    (folder / "result.json").write_text((folder / "result.json").read_text() + " ")


def lose(folder: Path) -> None:
    (folder / "tables" / "queue.parquet").unlink()


def link(folder: Path) -> None:
    (folder / "result.json").rename(folder.parent / "moved.json")
    (folder / "result.json").symlink_to("../moved.json")


def link_folder(folder: Path) -> None:
    (folder / "tables").rename(folder.parent / "tables")
    (folder / "tables").symlink_to("../tables")


def record(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "again.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return change


def name_a_place(folder: Path) -> None:
    path = folder / "result.json"
    path.write_text(path.read_text().replace('"title": "Small"', '"title": "of /home/alice/secret"'))
    sums = Recorded.read(folder).sha256 | {"result.json": hashlib.sha256(path.read_bytes()).hexdigest()}
    record(sha256=sums)(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (edit, "`results/single/result.json` was edited after it was written"),
        (lose, "`results/single` is not complete: `tables/queue.parquet` is missing"),
        (link, "`results/single/result.json` is a symbolic link, which is not followed"),
        (link_folder, "a symbolic link, which is not followed"),
        (lambda folder: (folder / "again.json").unlink(), "`results/single` has no `again.json`: it is not complete"),
        (
            lambda folder: (folder / "again.json").write_text("{}"),
            "`results/single/again.json` was edited or is damaged",
        ),
        (record(version="0.0.9"), "the results in `results/single` are of shoal 0.0.9"),
        (record(refusal="they were made on a kernel"), "cannot be made again by others: they were made on a kernel"),
        (record(command=["run", "../x.toml"]), "`results/single/again.json` was edited or is damaged: `../x.toml`"),
        (record(sha256={"/etc/passwd": "0"}), "`results/single/again.json` was edited or is damaged: `/etc/passwd`"),
        (name_a_place, "`results/single/result.json` names a place on this machine, `/home/alice/secret`"),
    ],
)
def test_folders_that_nobody_can_trust_are_refused(
    inside: Cli, results: Path, folder: Path, change: Callable[[Path], None], message: str
) -> None:
    change(results / "single")
    done = inside("pack", "results/single", "--out", "a.tar.gz")
    assert done.code == 4
    assert done.err.startswith("error: ")
    assert message in done.err
    assert "\nhint: " in done.err
    assert not (folder / "a.tar.gz").exists()


def test_what_is_not_there_or_no_results_is_refused(inside: Cli, folder: Path) -> None:
    for name, file in (("compared", "comparison.json"), ("advised", "advice.json"), ("part", "part.json"), ("x", "y")):
        (folder / name).mkdir()
        (folder / name / file).touch()
    (folder / "empty").mkdir()
    (folder / ".x.7-0.partial").mkdir()
    (folder / ".x.7-0.partial" / ".shoal").touch()
    for name, message in {
        ".x.7-0.partial": "`.x.7-0.partial` is not complete: a command writes it, or was killed",
        "nothing": "there is no folder `nothing`",
        "small.toml": "`small.toml` is a file, and no folder of results",
        "empty": "`empty` is empty",
        "x": "`x` holds no results",
        "compared": "`compared` holds a comparison with the real Linux kernel, which is not packed",
        "advised": "`advised` holds advice, which is not packed",
        "part": "`part` holds a part of a sweep, which is not packed",
    }.items():
        done = inside("pack", name, "--out", "a.tar.gz")
        assert (done.code, done.err.splitlines()[0]) == (4, f"error: {message}")
        assert "hint: " in done.err


def test_wrong_calls_are_refused(inside: Cli, results: Path, folder: Path) -> None:
    (folder / "other").mkdir()
    shutil.copytree(results / "single", folder / "other" / "single")
    for arguments, code, message in (
        (("results/single",), 2, "there is no name for the archive"),
        (("results/single", "--out", "a.zip"), 4, "`a.zip` does not say that it is an archive"),
        (("results/single", "results/../results/single", "--out", "a.tgz"), 2, "single` is named twice"),
        (("results/single", "other/single", "--out", "a.tgz"), 2, "`results/single` and `other/single` have the same"),
        (("results/single", "--wheel", "small.toml", "--out", "a.tgz"), 4, "`small.toml` is no wheel"),
        (("--check", "results/single"), 4, "`results/single` is no unpacked archive"),
        (("--check", "nothing"), 4, "`nothing` is no unpacked archive"),
        (("--check", "small.toml"), 4, "`small.toml` is a file, and no unpacked archive"),
        (("--check", "a", "b"), 2, "--check takes the folder of one archive"),
    ):
        done = inside("pack", *arguments)
        assert (done.code, message in done.err) == (code, True), done.err
        assert "hint: " in done.err
    assert not list(folder.glob("a.*"))


def test_an_existing_file_is_replaced_only_if_it_is_an_archive(inside: Cli, results: Path, folder: Path) -> None:
    target = folder / "a.tar.gz"
    arguments = ("pack", "results/single", "--out", "a.tar.gz")
    assert inside(*arguments).code == 0
    first = target.read_bytes()
    done = inside(*arguments)
    assert (done.code, "error: `a.tar.gz` already exists" in done.err) == (4, True)
    assert inside(*arguments, "--force").code == 0
    assert target.read_bytes() == first
    target.write_text("mine")
    assert inside(*arguments, "--force").code == 4
    assert target.read_text() == "mine"


def test_what_is_left_out_is_said(inside: Cli, results: Path, folder: Path) -> None:
    single = results / "single"
    (single / "notes.txt").write_text("mine")
    (single / ".env").write_text("TOKEN=1")
    (single / "figures" / "link.csv").symlink_to(folder / "small.toml")
    page = single / "report.html"
    page.write_text(page.read_text().replace("results/single", "/home/alice/results/single"))
    done = inside("pack", "results/single", "--out", "a.tar.gz")
    assert done.code == 0
    said = {
        "notes.txt": "it is no file of these results",
        ".env": "it is no file of these results",
        "figures/link.csv": "it is a symbolic link",
        "report.html": "it names a place on this machine, `/home/alice/results/single/scenario.toml`",
    }
    for name, why in said.items():
        assert f"warning: `results/single/{name}` is left out: {why}" in done.err
    artifact = unpacked(folder / "a.tar.gz", folder)
    readme = (artifact / "README.md").read_text(encoding="utf-8")
    for name in said:
        assert f"| `single/{name}` |" in readme
        assert not (artifact / "results" / "single" / name).exists()
    assert not (artifact / "results" / "single" / "command.txt").exists()


def test_a_full_disk_is_said(inside: Cli, results: Path) -> None:
    done = inside("pack", "results/single", "--out", "/dev/full")
    assert done.code == 4
    assert "cannot write `/dev/full`" in done.err


def test_a_pipe_gets_the_archive_alone(results: Path, folder: Path, cli: Cli) -> None:
    assert cli("pack", "results/single", "--out", "a.tar.gz").code == 0
    command = [sys.executable, "-m", "shoal", "pack", "results/single", "--out", "/dev/stdout"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    assert done.stdout == (folder / "a.tar.gz").read_bytes()


def test_an_interrupt_leaves_nothing(results: Path, folder: Path, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "shoal", "pack", "results/seeds", "--try", "--out", "a.tar.gz"]
    before = set(folder.iterdir())
    environment |= {"TMPDIR": str(folder)}
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any("seeds: shoal run" in line for line in process.stderr)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    assert set(folder.iterdir()) == before


def wheel(folder: Path, version: str, commit: str | None = None) -> Path:
    path = folder / f"shoal-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        about = f"Metadata-Version: 2.4\nName: shoal\nVersion: {version}\n"
        archive.writestr(f"shoal-{version}.dist-info/METADATA", about)
        if commit is not None:
            archive.writestr("shoal/_data/commit", commit + "\n")
    return path


def test_a_wheel_goes_into_the_archive_if_it_is_of_this_build(inside: Cli, results: Path, folder: Path) -> None:
    arguments = ("pack", "results/single", "--out", "a.tar.gz", "--wheel")
    for other, message in (
        (wheel(folder, "0.0.9"), f"is no wheel of shoal {shoal.__version__}"),
        (wheel(folder, shoal.__version__, "0" * 40), "is of commit 0000000000, and this is"),
    ):
        done = inside(*arguments, other.name)
        assert (done.code, message in done.err) == (4, True)
    right = wheel(folder, shoal.__version__, build.commit())
    assert inside(*arguments, right.name).code == 0
    artifact = unpacked(folder / "a.tar.gz", folder)
    assert (artifact / right.name).read_bytes() == right.read_bytes()
    lines = (artifact / "requirements.txt").read_text().splitlines()
    assert f"./{right.name}" in lines
    assert not [line for line in lines if line.startswith("shoal==")]


def test_whole_packets_are_captured_again(cli: Cli, folder: Path) -> None:
    (folder / "small.toml").write_text(SHORT, encoding="utf-8")
    done = cli("run", "small.toml", "--trace", "pcap", "--pcap-payload", "--out", "results/captured")
    assert done.code == 0, done.err
    packed(cli, folder, "captured")
    done = cli("pack", "--check", "artifact")
    assert done.code == 0, done.err


def test_a_list_of_flows_goes_with_the_results(cli: Cli, folder: Path) -> None:
    (folder / "lists").mkdir()
    (folder / "lists" / "flows.csv").write_text("start_s,bytes\n0.1,30000\n0.2,60000\n")
    text = SHORT.replace('start = { uniform = ["0 s", "0.2 s"] }', 'start = { list = "lists/flows.csv" }')
    (folder / "small.toml").write_text(text, encoding="utf-8")
    done = cli("run", "small.toml", "--out", "results/listed")
    assert done.code == 0, done.err
    tune = ("--key", "seed", "--from", "1", "--to", "1", "--smallest", "--seeds", "1", "--such-that", "jain()>0")
    done = cli("tune", "small.toml", *tune, "--out", "results/searched")
    assert done.code == 0, done.err
    packed(cli, folder, "listed", "searched")
    shutil.rmtree(folder / "lists")
    done = cli("pack", "--check", "artifact")
    assert done.code == 0, done.err


def test_a_search_of_a_scenario_with_files_elsewhere_is_refused(cli: Cli, folder: Path) -> None:
    (folder / "traces").mkdir()
    for name in ("traces/link.txt", "link.txt"):
        (folder / name).write_text("1\n2\n3\n4\n")
    for name, code in (("traces/link.txt", 4), ("link.txt", 0)):
        link = f'[bottleneck]\nschedule = {{ opportunities = "{name}" }}'
        text = SHORT.replace("[bottleneck]", link)
        (folder / "small.toml").write_text(text, encoding="utf-8")
        tune = ("--key", "seed", "--from", "1", "--to", "2", "--smallest", "--seeds", "1", "--such-that", "jain()>0")
        done = cli("tune", "small.toml", *tune, "--out", "results/tune", "--force")
        assert done.code == 0, done.err
        done = cli("pack", "results/tune", "--out", "a.tar.gz")
        assert (done.code, "names a file that is not in its folder" in done.err) == (code, code == 4), done.err
    unpacked(folder / "a.tar.gz", folder)
    (folder / "link.txt").unlink()
    done = cli("pack", "--check", "artifact")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": "/home/alice/x"}', "/home/alice/x"),
        ("--out=/tmp/x y", "/tmp/x"),
        ("papers/data/x", ""),
        ("https://example.org/data/x", ""),
        ("</data/>", ""),
    ],
)
def test_places_of_a_machine_are_recognised(tmp_path: Path, text: str, place: str) -> None:
    (tmp_path / "a.json").write_text(text)
    assert place_in(tmp_path / "a.json") == place


def test_a_paper_of_a_user_is_not_packed(inside: Cli, folder: Path) -> None:
    shipped = Path(__file__).parents[2] / "papers" / "kuehlewind-2014"
    shutil.copytree(shipped, folder / "mine")
    assert inside("reproduce", "mine/rare-marks", "--quick", "--out", "results/mine").code == 0
    done = inside("pack", "results/mine", "--out", "a.tar.gz")
    assert done.code == 4
    assert "the paper `mine` is a folder of yours, and no part of shoal" in done.err
