"""Crates that may be published: what a registry asks of their manifests; what they use is published, too."""

from __future__ import annotations

import tomllib
from typing import Any

from shoal_dev import ROOT

HINT = "Cargo.toml of crates/core/bottleneck has all keys; versions of inner crates stand in the workspace's Cargo.toml"
# What a reader of the registry sees; the project has no address yet, so that none is asked for.
KEYS = ("description", "license", "readme", "keywords", "categories")


def problems(_: list[str]) -> list[str]:
    """What keeps a crate with ``publish = true`` from a registry."""
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    manifests = {folder: tomllib.loads((ROOT / folder / "Cargo.toml").read_text()) for folder in workspace["members"]}
    published = {
        each["package"]["name"]: folder for folder, each in manifests.items() if each["package"].get("publish") is True
    }
    wrong = []
    for folder in published.values():
        manifest = manifests[folder]
        wrong += [f"{folder}/Cargo.toml: no {key}" for key in KEYS if not manifest["package"].get(key)]
        # A package has nothing from above its folder: licences are links there.
        needed = ("README.md", "LICENSE-APACHE", "LICENSE-MIT")
        wrong += [f"{folder}: no {name}" for name in needed if not (ROOT / folder / name).exists()]
        wrong += [
            f"{folder}/Cargo.toml: {used} {why}"
            for used in manifest.get("dependencies", {})
            if (why := unfit(used, workspace["dependencies"].get(used), published))
        ]
    return wrong


def unfit(used: str, dependency: Any, published: dict[str, str]) -> str:
    """Why a published crate cannot use this one; empty if it can."""
    if not isinstance(dependency, dict) or "path" not in dependency:
        return ""
    if used not in published:
        return "is not published itself"
    return "" if "version" in dependency else "has no version in the workspace"
