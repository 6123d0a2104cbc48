"""The contract between Python and TypeScript is one: generating it again changes nothing."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from jupyter_toolcall.view.contract import VERSION
from tests.lessons import NAMES

ROOT = Path(__file__).parents[2]
SAVED = "application/vnd.jupyter-toolcall.session+json"


@pytest.fixture(scope="module")
def definitions() -> dict[str, Any]:
    """The schemas of the contract, in which no field stands that is not named."""
    names: dict[str, Any] = runpy.run_path(str(ROOT / "labextension" / "contract.py"))
    definitions: dict[str, Any] = names["schema"]()["$defs"]
    for schema in definitions.values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return definitions


def validator(definitions: dict[str, Any], name: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for({"$ref": f"#/$defs/{name}", "$defs": definitions})


def outputs(notebook: Path) -> list[Any]:
    """Return the sessions that a notebook keeps, as its file has them."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    bundles = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
    return [bundle[SAVED] for bundle in bundles if SAVED in bundle]


@pytest.mark.parametrize("lesson", NAMES)
def test_what_a_notebook_keeps_fits_the_contract(definitions: dict[str, Any], lesson: str) -> None:
    saved, rows = validator(definitions, "Saved"), validator(definitions, "Rows")
    sessions = outputs(ROOT / "notebooks" / lesson)
    assert sessions
    for session in sessions:
        saved.validate(session)
        assert (session["version"], session["journal"]["version"]) == (VERSION, 3)
        rows.validate({name: [*map(json.loads, table)] for name, table in session["rows"].items()})
        for parent, event, *meta in map(json.loads, session["journal"]["events"]):
            assert (type(parent), type(event["type"]), len(meta)) in {(int, str, 0), (int, str, 1)}


def test_the_types_that_are_checked_in_are_those_of_the_rows() -> None:
    command = [sys.executable, str(ROOT / "labextension" / "contract.py"), "--check"]
    made = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
