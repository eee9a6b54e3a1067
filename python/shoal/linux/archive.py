"""Packages of the distribution, through its own client with a configuration of ours.

The archive's address, its keys and proxies come from the system's configuration; lists and packages go to the user's
cache. Nothing of the system is changed and no root is needed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache as kept
from pathlib import Path

from shoal.errors import UsageError
from shoal.linux.commands import explain_missing, fetching, missing, output
from shoal.linux.errors import LinuxError
from shoal.linux.places import cache, filling_cache, locked

# The oldest kernel that the guest, the modules and the configuration are for.
oldest = (6, 12)

_keyring = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


@dataclass(frozen=True)
class Release:
    """A kernel source package whose bytes we know."""

    version: str
    package: str
    suite: str
    sha256: str


# Newest first: the default. Results of another version differ in detail.
releases = (
    Release(
        "7.3.4-1~bpo13+1",
        "linux-source-7.3",
        "trixie-backports",
        "703e369ddd4cce971452f5a593ee55df3a5c10c83caf0fa0df039633ed181ee3",
    ),
    Release(
        "6.12.107-1",
        "linux-source-6.12",
        "trixie",
        "775b9ef84d7fa7927ccebfec33fbbe9aeb2482ebf9a92c771aafd33fb6e2ee27",
    ),
)


def release_of(version: str | None) -> Release:
    """The known release that a user means: a version, its beginning (``6.12``), or none for the newest.

    A version that is not known is taken from the suite of the nearest series, with the archive's own signed checksum.

    Raises
    ------
    UsageError
        It is no version.
    """
    if version is None:
        return releases[0]
    for release in releases:
        if release.version == version or release.version.startswith(version + "."):
            return release
    if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){1,2}(-[0-9][0-9A-Za-z.+~]*)?", version):
        raise UsageError(f"`{version}` is not a kernel version", hint="as in --version 7.3 or --version 6.12")
    series = ".".join(version.split(".")[:2])
    known = next((release for release in releases if release.package.endswith(f"-{series}")), releases[0])
    return Release(version, f"linux-source-{series}", known.suite, "")


def refuse_unknown(release: Release) -> None:
    """Refuse a release that is neither in the cache nor in the archive.

    Raises
    ------
    LinuxError
        It is in neither; the message has what the archive has.
    """
    if not cache("sources", release.version).exists() and _fetched(release) is None:
        _offered(release)


def fetch(release: Release) -> Path:
    """The source package, from the cache or the archive; its checksum is verified either way."""
    if (package := _fetched(release)) is not None:
        return package
    client, version = _client(release.suite), _offered(release)
    folder = cache("packages")
    folder.mkdir(parents=True, exist_ok=True)
    package = client.download(release.package, version, folder)
    checksum, expected = _sha256(package), release.sha256 or client.checksum(release.package, version)
    if checksum != expected:
        package.unlink()
        raise LinuxError(
            f"{package.name} has the checksum {checksum}, expected {expected}",
            hint="run it again; is a proxy in between?",
        )
    return package


def _fetched(release: Release) -> Path | None:
    """The package of a release whose bytes we know, if it is in the cache."""
    packages = cache("packages").glob(f"{release.package}_*.deb") if release.sha256 else ()
    return next((package for package in packages if _sha256(package) == release.sha256), None)


def _offered(release: Release) -> str:
    """The archive's version of a release."""
    offered = _client(release.suite).versions(release.package)
    for version in offered:
        if version == release.version or version.startswith(release.version + "-"):
            return version
    if offered:
        raise LinuxError(
            f"the archive has no {release.package} {release.version} in {release.suite}; it has: {', '.join(offered)}",
            hint=f"take another one with --version {offered[0]} (results differ in detail), or --source PATH",
        )
    have = _kernels()
    raise LinuxError(
        f"the archive has no kernel {release.version}; it has {', '.join(have) or 'none that can be built'}",
        hint=(f"write --version {have[-1]}, or " if have else "")
        + f"name a kernel tree with --source PATH (kernels from {'.'.join(map(str, oldest))} on)",
    )


def _kernels() -> list[str]:
    """Series of the kernels in the suites that we take kernels from, newest first, without those that are too old."""
    series = {
        (int(match[1]), int(match[2]))
        for suite in dict.fromkeys(release.suite for release in releases)
        for name in _client(suite).names("linux-source-")
        if (match := re.fullmatch(r"linux-source-(\d+)\.(\d+)", name)) and _client(suite).versions(name)
    }
    return [f"{major}.{minor}" for major, minor in sorted(series, reverse=True) if (major, minor) >= oldest]


class Client:
    """``apt-get`` with lists and packages of our own, for one suite of an archive that the system uses.

    `archive` is the last part of its address: ``debian``, or ``debian-security`` for updates.
    """

    def __init__(self, suite: str | None = None, *, archive: str = "debian") -> None:
        if names := missing(fetching):
            raise explain_missing(names)
        uri, own_suite = _archive(archive)
        self.suite = suite or own_suite
        self._folder = cache("apt", self.suite)
        with filling_cache():
            self._write_configuration(uri)
        self._env = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C",
            "APT_CONFIG": str(self._folder / "apt.conf"),
        }
        with locked("apt", "reads the lists of the archive"):
            output(["apt-get", "update", "-q"], env=self._env)

    def _write_configuration(self, uri: str) -> None:
        for part in ("lists/partial", "cache/archives/partial"):
            (self._folder / part).mkdir(parents=True, exist_ok=True)
        signed = f"[signed-by={_keyring}] " if _keyring.exists() else ""
        (self._folder / "sources.list").write_text(f"deb {signed}{uri} {self.suite} main\n", encoding="utf-8")
        (self._folder / "status").touch()
        # Proxies and the like stay those of the system; its hooks and sources do not apply.
        system_lines = [
            line
            for line in output(["apt-config", "dump"]).splitlines()
            if line.startswith("Acquire::") and not line.startswith("Acquire::IndexTargets")
        ]
        settings = {
            "Dir::Etc::main": "/dev/null",
            "Dir::Etc::parts": "/dev/null",
            "Dir::Etc::sourcelist": str(self._folder / "sources.list"),
            "Dir::Etc::sourceparts": "-",
            "Dir::State::lists": str(self._folder / "lists"),
            "Dir::State::status": str(self._folder / "status"),
            "Dir::Cache": str(self._folder / "cache"),
            "Acquire::Languages": "none",
            # As root, apt would drop to a user that cannot write here.
            "APT::Sandbox::User": "root",
        }
        lines = system_lines + [f'{key} "{value}";' for key, value in settings.items()]
        (self._folder / "apt.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def versions(self, package: str) -> list[str]:
        """Versions of a package, newest first."""
        rows = output(["apt-cache", "madison", package], env=self._env).splitlines()
        return [row.split("|")[1].strip() for row in rows if row.count("|") >= 2]

    def names(self, beginning: str) -> list[str]:
        """Names of packages that begin so."""
        return output(["apt-cache", "pkgnames", beginning], env=self._env).split()

    def checksum(self, package: str, version: str) -> str:
        """SHA-256 as the archive's signed lists have it."""
        text = output(["apt-cache", "show", f"{package}={version}"], env=self._env)
        match = re.search(r"^SHA256: (\w+)$", text, flags=re.M)
        return match[1] if match else ""

    def depends(self, package: str) -> list[str]:
        """Names of the packages that the newest version of a package depends on."""
        text = output(["apt-cache", "show", "--no-all-versions", package], env=self._env)
        match = re.search(r"^Depends: (.*)$", text, flags=re.M)
        return [entry.split()[0] for entry in match[1].split(",")] if match else []

    def download(self, package: str, version: str | None, folder: Path) -> Path:
        """Fetch one package into a folder."""
        before = set(folder.glob("*.deb"))
        wanted = f"{package}={version}" if version else package
        output(["sh", "-c", 'cd "$0" && exec apt-get download -q "$1"', folder, wanted], env=self._env)
        new = set(folder.glob("*.deb")) - before
        # apt leaves a package alone that is there already.
        candidates = new or set(folder.glob(f"{package}_*.deb"))
        return max(candidates, key=lambda path: path.stat().st_mtime)


def unpack(packages: Iterable[str], root: Path, client: Client | None = None) -> None:
    """Fetch packages and unpack them into a folder of the cache; nothing is installed."""
    client = client or Client()
    folder = cache("packages")
    with filling_cache():
        for directory in (folder, root):
            directory.mkdir(parents=True, exist_ok=True)
    for package in packages:
        output(["dpkg-deb", "-x", client.download(package, None, folder), root])


def libraries_in(root: Path) -> str:
    """Where programs that were unpacked there find their libraries, for ``LD_LIBRARY_PATH``."""
    return ":".join(str(path) for path in sorted(root.glob("usr/lib/*-linux-gnu*")))


@kept
def _client(suite: str) -> Client:
    """The client of a suite; its lists are read once in a process."""
    return Client(suite)


def _archive(name: str = "debian") -> tuple[str, str]:
    """Address and suite of a Debian archive that the system is configured for; of the base archive the base suite."""
    text = output(
        ["apt-get", "indextargets", "Created-By: Packages", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)"]
    )
    for row in text.splitlines():
        uri, suite, component = row.split()
        is_suite = re.fullmatch(r"[a-z]+" + name.removeprefix("debian"), suite)
        if component == "main" and is_suite and re.search(rf"/{name}/?$", uri):
            return uri, suite
    raise LinuxError(
        f"the package client of this system has no archive of the name {name}",
        hint="name a kernel tree with --source PATH (kernels from 6.12 on)",
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
