"""The tables of the five systems: what they name exists, and nothing of a scheme is left out."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from docs._ext.generated_reference import SYSTEMS, five_systems

ROOT = Path(__file__).parents[2]
TABLES: list[dict[str, Any]] = tomllib.loads(SYSTEMS.read_text(encoding="utf-8"))["systems"]
RULES = [
    pytest.param(rule, id=f"{number}.{place}")
    for number, system in enumerate(TABLES)
    for place, rule in enumerate(system["rules"], 1)
]
NO_RULES = {"__init__.py", "messages.py", "requests.py"}
"""The files of the schemes that are about requests of any scheme."""


@cache
def names_of_tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_names_files_and_tests_that_exist(rule: dict[str, Any]) -> None:
    assert rule.keys() == {"says", "files", "tests"}
    assert rule["says"].endswith(".")
    assert rule["files"]
    assert all((ROOT / "jupyter_toolcall" / name).is_file() for name in rule["files"])
    for name in rule["tests"]:
        file, _, test = name.partition("::")
        assert test in names_of_tests(ROOT / "tests" / file)
    assert rule["tests"]


def test_the_page_has_a_section_for_each_of_the_five_systems_and_a_row_for_each_rule() -> None:
    page = five_systems()
    assert len(TABLES) == 5
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        f"## {system['title']}" for system in TABLES
    ]
    assert len([line for line in page.splitlines() if line.startswith("| ")]) == len(RULES) + 10


def test_no_rule_stands_twice_and_every_file_of_the_schemes_has_one() -> None:
    rules = [rule for system in TABLES for rule in system["rules"]]
    assert len({rule["says"] for rule in rules}) == len(rules)
    named = {name for rule in rules for name in rule["files"]}
    schemes = (ROOT / "jupyter_toolcall" / "schemes").glob("*.py")
    assert {f"schemes/{path.name}" for path in schemes if path.name not in NO_RULES} <= named
