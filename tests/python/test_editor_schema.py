"""The JSON Schema that editors read: every shipped scenario names it, and it accepts what shoal accepts."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from shoal import Scenario, _native
from shoal.errors import ScenarioError

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "scenarios" / "schema.json"
FILES = sorted(
    [*ROOT.glob("scenarios/**/*.toml"), *(path for path in ROOT.glob("papers/*/*.toml") if path.name != "paper.toml")]
)


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(_native.schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def problems(validator: jsonschema.Draft202012Validator, document: object) -> Iterator[str]:
    for error in validator.iter_errors(document):
        yield f"{error.json_path}: {error.message[:200]}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).with_suffix("").as_posix())
def test_every_shipped_scenario_names_the_schema_and_follows_it(
    path: Path, validator: jsonschema.Draft202012Validator
) -> None:
    text = path.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    assert first.startswith("#:schema "), "the first line names the schema"
    assert (path.parent / first.removeprefix("#:schema ")).resolve() == SCHEMA
    assert list(problems(validator, tomllib.loads(text))) == []
    assert list(problems(validator, Scenario.from_file(path).resolved)) == []


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("bottleneck.rat", "10 Mbit/s", "$.bottleneck"),
        ("bottleneck.rate", "10 Mbit", "$.bottleneck.rate"),
        ("bottleneck.aqm.targett", "2 ms", "$.bottleneck.aqm"),
        ("flows[0].cc", "dctpc", "$.flows[0].cc"),
    ],
)
def test_what_shoal_refuses_is_marked(
    key: str, value: str, place: str, validator: jsonschema.Draft202012Validator
) -> None:
    document = tomllib.loads((ROOT / "scenarios" / "dualpi2.toml").read_text(encoding="utf-8"))
    *path, last = key.split(".")
    table = document
    for name in path:
        table = table[name.partition("[")[0]]
        table = table[0] if name.endswith("[0]") else table
    table[last] = value
    with pytest.raises(ScenarioError):
        Scenario.from_resolved(document)
    assert any(problem.startswith(f"{place}: ") for problem in problems(validator, document))
