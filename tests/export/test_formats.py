"""The formats: what each file holds, and which files are never overwritten."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema_rs
import nbformat
import pytest
from hypothesis import HealthCheck, given, settings

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.export import FORMATS
from jupyter_toolcall.kitchen import FRIES
from tests.branching import branching_session
from tests.example_tools import fries_session
from tests.examples import examples
from tests.export.worlds import Plan, bare, exported, plans, play

ROOT = Path(__file__).parent.parent.parent


def lunch() -> Session:
    return fries_session(FRIES, name="lunch").tell("Bake me some fries.")


@pytest.fixture(scope="module")
def session() -> Session:
    return lunch().edit("call_4", shape="SLICES").run()


# -- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*FORMATS, "htm", "gv"])
def test_the_ending_of_a_file_says_its_format(session: Session, tmp_path: Path, name: str) -> None:
    known = {"htm": "html", "gv": "dot", "messages": "messages"}.get(name, name)
    ending = "messages.json" if name == "messages" else name
    path = session.export(tmp_path / f"Fries.{ending.upper()}")
    same = session.export(tmp_path / "other", to=known)
    assert path == tmp_path / f"Fries.{ending.upper()}"
    assert path.read_bytes() == same.read_bytes()


KNOWN = "py, ipynb, html, dot, svg, json, messages"


@pytest.mark.parametrize(
    ("name", "to", "said"),
    [
        ("fries.pdf", None, rf"ends in \.pdf, .* one of {KNOWN}$"),
        ("fries", None, rf"has no ending, .* one of {KNOWN}$"),
        ("fries", "htm", rf"no format 'htm'; there are {KNOWN}. .*mean html\?"),
        *((".", "py", "is a folder"), ("a/b.py", None, "there is no folder")),
    ],
)
def test_what_cannot_be_written_is_told_in_one_line_and_leaves_nothing(
    session: Session, tmp_path: Path, name: str, to: str | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        session.export(tmp_path / name, to=to)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_is_written_over_and_what_a_person_wrote_is_not(
    session: Session, tmp_path: Path, name: str
) -> None:
    path = session.export(tmp_path / "a", to=name)
    lunch().export(path, to=name)
    changed = lunch().export(path, to=name).read_text() + "\n# mine\n"
    path.write_text(changed)
    with pytest.raises(UsageError, match="is there already, and is no export, or was changed"):
        session.export(path, to=name)
    assert path.read_text() == changed
    session.export(path, to=name, force=True)
    assert path.read_text() != changed


def test_an_export_that_fails_leaves_what_was_there(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session.export(tmp_path / "a.py")
    before = path.read_bytes()

    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        session.export(path)
    assert [(each, each.read_bytes()) for each in tmp_path.iterdir()] == [(path, before)]


# -- notebook ---------------------------------------------------------------------------------

quick = settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)


@given(plans)
@quick
def test_a_notebook_has_the_code_of_the_script_and_words_are_no_markup(plan: Plan) -> None:
    session = play(plan)
    made = nbformat.read(exported(session, "ipynb"), as_version=4)
    nbformat.validate(made)
    code = [cell.source for cell in made.cells if cell.cell_type == "code"]
    script = exported(session).read_text().replace("asyncio.run(deepcopy", "(await deepcopy")
    for line in (line for line in script.splitlines() if re.match(r"\w+_\d+ = \w+\(", line)):
        assert any(line in source for source in code) or "await" in line
    # Nothing in a text is markup: each mark of Markdown in it is escaped.
    words = [cell.source for cell in made.cells if cell.cell_type == "markdown"][1:]
    for source in words:
        for line in source.splitlines():
            assert re.fullmatch(r"(\*\*\w+\*\*|(> ?)?(\\[!-/:-@\[-`{-~]|[^!-/:-@\[-`{-~])*)", line)
    assert bare("\n".join(code).replace("await ", "")) != ""


# -- picture and graph --------------------------------------------------------------------------


def test_the_picture_is_the_one_that_the_cell_keeps(session: Session, tmp_path: Path) -> None:
    text = session.export(tmp_path / "a.svg").read_text()
    kept = session._repr_mimebundle_()["image/svg+xml"]
    assert re.sub(r"<!--.*?-->\n", "", text) == kept
    ElementTree.fromstring(text)


def test_the_graph_is_graphvizs_language(session: Session, tmp_path: Path) -> None:
    lines = session.export(tmp_path / "a.dot").read_text().splitlines()
    assert lines[0].startswith("// jupyter-toolcall:")
    assert '\t"4 Potato_slice" -> "Potato#4"' in lines
    assert "\n".join([*lines[1:], ""]) == session.graph.source


# -- data ---------------------------------------------------------------------------------------


def every_field(schema: Any) -> Any:
    """Return a schema of documents that have all the fields which it names, and no others."""
    match schema:
        case {"properties": dict(fields)}:
            inner = {key: every_field(part) for key, part in schema.items()}
            return {**inner, "required": [*fields], "additionalProperties": False}
        case dict():
            return {key: every_field(part) for key, part in schema.items()}
    return schema


@given(plans)
@quick
def test_whatever_a_session_does_its_data_has_the_fields_of_the_schema(plan: Plan) -> None:
    schema = json.loads((ROOT / "docs" / "session.schema.json").read_text())
    data = json.loads(exported(play(plan), "json").read_text())
    jsonschema_rs.validator_for(every_field(schema)).validate(data)


def test_the_data_has_all_of_a_session(session: Session, tmp_path: Path) -> None:
    data = json.loads(session.export(tmp_path / "a.json").read_text())
    assert (data["format"], data["version"]) == ("jupyter-toolcall/session", 1)
    assert data["session"]["name"] == "lunch"
    assert data["session"]["prompts"] == ["Bake me some fries."]
    output = {"name": "fries", "type": "Plate", "description": "", "value": "Plate#2"}
    assert data["session"]["outputs"] == [output]
    assert [call["id"] for call in data["calls"]] == [call.id for call in session.calls]
    edited = data["calls"][3]
    assert edited["arguments"] == {"Potato": "Potato#3", "shape": "SLICES"}
    assert edited["asked"] == {"shape": "STICKS"}
    assert (edited["decision"], edited["decided_by"]) == ("edit", "person")
    assert [each["name"] for each in data["objects"]] == list(session.objects)
    plate = data["objects"][-1]
    assert (plate["made_by"], plate["saved_as"]) == ("call_7", "fries")
    assert plate["made_from"] == ["Fries#1", "Plate#1"]
    assert [branch["current"] for branch in data["branches"]] == [False, True]
    assert [m["role"] for m in data["messages"][:4]] == ["user", "assistant", "call", "tool"]


def test_the_messages_are_the_requests_that_the_model_got(tmp_path: Path) -> None:
    got: list[Any] = []

    def model(request: Any) -> Any:
        got.append(request)
        return FRIES(request)

    session = fries_session(model).tell("Bake.")
    data = json.loads(session.export(tmp_path / "a.messages.json").read_text())
    assert data["exact"] is True
    assert len(data["turns"]) == len(got) == 8
    for turn, request in zip(data["turns"], got, strict=True):
        assert turn["request"]["system"] == request.system
        assert turn["request"]["tools"] == [tool.definition() for tool in request.tools]
        assert len(turn["request"]["messages"]) == len(request.messages)
    assert data["turns"][1]["reply"]["calls"][0]["tool"] == "Potato_rinse"


# -- `session.graph`: a picture, DOT with all calls, and networkx -----------------------------


@dataclass(frozen=True)
class Dough:
    """Flour and water."""

    rested: int = 0

    def rest(self) -> Dough:
        """Let it rest."""
        if self.rested > 1:
            raise ValueError("it is dry")
        return Dough(self.rested + 1)

    def weigh(self) -> int:
        """Return its weight."""
        return 800


@pytest.fixture
def dough() -> Session:
    script = Scripted([*[("Dough_rest", {})] * 3, ("Dough_weigh", {}), "Done."])
    options: dict[str, Any] = {"inputs": {"starter": Dough()}, "scheme": "flat", "approve": "all"}
    return Session(Toolbox(Dough), script, **options).tell("Go.")


def test_dot_has_numbers_results_failures_and_the_names_of_sources(dough: Session) -> None:
    source = dough.graph.source
    assert '"Dough#2" -> "2 Dough_rest"' in source
    assert 'label="4 Dough_weigh = 800"' in source
    assert r'label="3 Dough_rest\nfailed"' in source
    assert "starter" in source
    assert source == dough.graph.to_graphviz().source


def test_edges_and_nodes_are_the_lineage_and_networkx_has_the_same(dough: Session) -> None:
    graph = dough.graph
    assert graph.nodes == dough.objects
    assert [(edge.source, edge.target, edge.tool) for edge in graph.edges] == [
        ("Dough#1", "Dough#2", "Dough_rest"),
        ("Dough#2", "Dough#3", "Dough_rest"),
    ]
    known = graph.to_networkx()
    assert [*known.nodes] == [*graph.nodes]
    assert [*known.edges(data="tool")] == [(e.source, e.target, e.tool) for e in graph.edges]


def test_without_networkx_the_error_says_how_to_install_it(
    dough: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(UsageError, match="pip install networkx"):
        dough.graph.to_networkx()


def test_a_notebook_shows_the_picture_that_the_session_keeps(dough: Session) -> None:
    shown = dough.graph._repr_mimebundle_()
    assert shown["image/svg+xml"] == dough._repr_mimebundle_()["image/svg+xml"]
    assert "3 objects" in shown["text/plain"]


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program dot")
@pytest.mark.parametrize("seed", range(5))
def test_the_program_dot_reads_it(seed: int) -> None:
    graph = branching_session(seed, 20, branches=4).graph
    done = subprocess.run(["dot", "-Tplain"], input=graph.source, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout.count("\nnode ")
        == len(graph.to_graphviz().body) - done.stdout.count("\nedge ") - 3
    )
