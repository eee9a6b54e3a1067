"""Where the sources that models cite can be read: RFCs, and files of Linux, iproute2 and FreeBSD in fixed versions.

`linked` turns the name of a source, as the descriptions of models and keys write it, into Markdown with links. A file
is linked in the version that the text names ("Linux 3.18 net/ipv4/tcp_dctcp.c"), else in the one of `VERSIONS`. A file
"before 5.1" is not linked, and neither is one of FreeBSD-CURRENT, which has no tag.
"""

import re

RFC_URL = "https://www.rfc-editor.org/rfc/rfc{number}"
LINUX_URL = "https://elixir.bootlin.com/linux/v{version}/source/{path}"
IPROUTE2_URL = "https://git.kernel.org/pub/scm/network/iproute2/iproute2.git/tree/{path}?h=v{version}.0"
FREEBSD_URL = "https://cgit.freebsd.org/src/tree/{path}?h=release/{version}"

# Versions of files where a text names none; files of their own have been added since.
VERSIONS = {"linux": "6.12", "iproute2": "6.12", "freebsd": "14.0.0", "sch_dualpi2.c": "6.18", "q_dualpi2.c": "6.18"}
# Files outside the kernel's tree.
ELSEWHERE = {
    "sch_pi2.c": "https://github.com/olgabo/dualpi2/blob/d609f2cd7528065da34a9559f1c9cc910c05b136/sch_pi2/sch_pi2.c",
}
# Folders of files that are cited by their name alone.
FOLDERS = (
    (r"sch_\w+\.c", "net/sched"),
    (r"tcp_\w+\.c", "net/ipv4"),
    (r"(?:q|tc)_\w+\.c", "tc"),
    (r"(?:red|pie|codel|codel_impl)\.h", "include/net"),
)
RFC = re.compile(r"\bRFC (?P<number>\d{3,5})(?: (?P<kind>section|appendix) (?P<part>[A-Z\d]+(?:\.\d+)*))?")
FILE = re.compile(
    r"(?<![\w/.-])(?:(?:net|include|kernel|sys|tc)/[\w./-]+\.[ch]\b|"
    + "|".join(f"{name}\\b" for name, _ in FOLDERS)
    + ")"
)
NAMED_VERSION = {
    "linux": re.compile(r"\bLinux (\d+\.\d+)\b"),
    "iproute2": re.compile(r"\biproute2 (\d+\.\d+)\b"),
    "freebsd": re.compile(r"(?!)"),
}


def rfc_url(number: str, kind: str | None = None, part: str | None = None) -> str:
    """URL of an RFC, or of a `section` or `appendix` of it."""
    return RFC_URL.format(number=number) + (f"#{kind}-{part}" if part else "")


def file_url(name: str, clause: str = "") -> str | None:
    """URL of a file by its path or its bare name; `clause` is the text around it, which may name tree and version.

    None if the text means a state of the file that has no tag, or if nothing says in which folder it lies.
    """
    bare = name.rsplit("/", 1)[-1]
    if re.search(r"\bbefore \d|FreeBSD-CURRENT", clause):
        return None
    if bare in ELSEWHERE:
        return ELSEWHERE[bare]
    if "FreeBSD" in clause or name.startswith("sys/"):
        tree, path = "freebsd", name if "/" in name else f"sys/netinet/{name}"
    else:
        folder = next((folder for pattern, folder in FOLDERS if re.fullmatch(pattern, name)), None)
        if folder is None and "/" not in name:
            return None
        path = f"{folder}/{name}" if folder else name
        tree = "iproute2" if path.startswith("tc/") else "linux"
    named = NAMED_VERSION[tree].search(clause)
    version = named[1] if named else VERSIONS.get(bare, VERSIONS[tree])
    return {"linux": LINUX_URL, "iproute2": IPROUTE2_URL, "freebsd": FREEBSD_URL}[tree].format(
        path=path, version=version
    )


def linked(source: str) -> str:
    """The name of a source in Markdown, with a link for each RFC and each file that it names."""

    def rfc(match: re.Match[str]) -> str:
        return f"[{match[0]}]({rfc_url(match['number'], match['kind'], match['part'])})"

    def linked_clause(clause: str) -> str:
        def file(match: re.Match[str]) -> str:
            url = file_url(match[0], clause)
            return f"[{match[0]}]({url})" if url else match[0]

        return RFC.sub(rfc, FILE.sub(file, clause))

    return ";".join(linked_clause(clause) for clause in source.split(";"))
