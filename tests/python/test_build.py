"""A build says which commit it was made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal import build

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def checkout(place: Path, head: str) -> Path:
    git = place / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text(head, encoding="ascii")
    return git


def test_the_commit_of_a_branch(tmp_path: Path) -> None:
    git = checkout(tmp_path, "ref: refs/heads/main\n")
    (git / "refs" / "heads" / "main").write_text(f"{COMMIT}\n", encoding="ascii")
    assert build._head(git) == COMMIT


def test_the_commit_of_a_branch_that_git_has_packed(tmp_path: Path) -> None:
    git = checkout(tmp_path, "ref: refs/heads/main\n")
    (git / "packed-refs").write_text(f"# pack-refs\n{'f' * 40} refs/heads/domain\n{COMMIT} refs/heads/main\n")
    assert build._head(git) == COMMIT


def test_a_commit_without_a_branch(tmp_path: Path) -> None:
    assert build._head(checkout(tmp_path, f"{COMMIT}\n")) == COMMIT


def test_a_work_tree_beside_the_repository(tmp_path: Path) -> None:
    main = checkout(tmp_path / "main", "ref: refs/heads/main\n")
    (main / "refs" / "heads" / "other").write_text(f"{COMMIT}\n", encoding="ascii")
    own = main / "worktrees" / "beside"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/other\n", encoding="ascii")
    (own / "commondir").write_text("../..\n", encoding="ascii")
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / ".git").write_text(f"gitdir: {own}\n", encoding="ascii")
    assert build._head(beside / ".git") == COMMIT


def test_a_wheel_says_what_it_was_made_from_and_anything_else_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "shoal"
    (package / "_data").mkdir(parents=True)
    monkeypatch.setattr(build, "_package", package)
    assert build.commit() is None
    assert build.described() == build.__version__
    (package / "_data" / "commit").write_text(f"{COMMIT}\n", encoding="ascii")
    assert build.described() == f"{build.__version__} (commit {COMMIT[:10]})"
