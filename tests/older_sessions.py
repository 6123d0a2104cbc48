"""Sessions whose journals an older version of this package wrote: `data/v1/`.

`python -m tests.older_sessions FOLDER` writes them as the code at hand does: with the code of
commit 46aa32d it wrote those of version 1. The versions of the tools are fixed, since a digest
of Python's code is another one with each Python.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jupyter_toolcall import Scripted, Session, Tool, Toolbox, tool
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.models.scripted import Item
from jupyter_toolcall.storage.journal_file import journal_file
from jupyter_toolcall.tools.tool import Changed
from jupyter_toolcall.view.saved_output import mime_bundle
from jupyter_toolcall.view.view_rows import all_rows

KEY = b"the key of the older sessions ok"
"""What their lines are sealed with."""
RAN: list[str] = []
"""The tools that ran, in order."""


@dataclass(frozen=True)
class Jar:
    """Something with a mass."""

    grams: int


@dataclass(frozen=True)
class Shelf:
    """Where jars stand."""

    jars: int


class Till:
    """Money."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, coins: int) -> int:
        """Put coins in."""
        RAN.append(f"add {coins}")
        self.total += coins
        return self.total


def fill(jar: Jar, grams: int) -> Jar:
    """Fill a jar."""
    RAN.append(f"fill {grams}")
    return Jar(jar.grams + grams)


def split(jar: Jar) -> list[Jar]:
    """Make two of one."""
    RAN.append("split")
    return [Jar(jar.grams // 2), Jar(jar.grams - jar.grams // 2)]


def stack(jars: list[Jar], on: Shelf) -> Shelf:
    """Put jars on a shelf."""
    RAN.append("stack")
    return Shelf(on.jars + len(jars))


@tool(read_only=True)
def weigh(jar: Jar) -> int:
    """Weigh a jar."""
    return jar.grams


def send(jar: Jar, to: str) -> str:
    """Send a jar."""
    RAN.append(f"send {to}")
    return f"sent {jar.grams} g to {to}"


def speak(language: str) -> Changed:
    RAN.append(f"speak {language}")
    return Changed({"ok": True}, {"language": language})


def greet(name: str, variables: Mapping[str, Any]) -> str:
    RAN.append(f"greet {name}")
    return f"{variables['language']}: {name}"


def _text(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


VARIABLES = (
    Tool("speak", "Set the language.", _text("language"), speak),
    Tool(
        "greet",
        "Greet somebody.",
        _text("name"),
        greet,
        reads=("language",),
        variables={"language": "en"},
    ),
)


def box() -> Toolbox:
    """Return the tools of all these sessions, in versions that never change."""
    types = [Jar, Shelf]
    found = Toolbox(fill, split, stack, weigh, send, Till(), *VARIABLES, types=types)
    return Toolbox(*(replace(each, version=lambda: "1") for each in found), types=types)


# -- what is played -------------------------------------------------------------------------


@dataclass
class Kernel:
    """A kernel of a notebook, and the cells that ran in it."""

    notebook: str
    name: str
    script: tuple[Item, ...]
    approve: str = "all"
    shown: list[tuple[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cells = Cells(self.notebook)

    def cell(self, prompt: str, grams: int = 10, more: str = "") -> Session:
        """Run a cell; `grams` is what is in the jar that the notebook has."""
        line = f"-n {self.name} -m model -t box -i jar -i shelf --scheme flat"
        chosen = parse_options(f"{line} --approve {self.approve} {more}")
        variables = {"box": box(), "model": Scripted(self.script), "jar": Jar(grams)}
        session = self.cells.session(chosen, {**variables, "shelf": Shelf(0)})
        since = session.head
        session = self.cells.keep(add_prompt(session, prompt, chosen.fresh).run())
        source = f"%%toolchat {line}\n{prompt}"
        self.shown.append((source, (session, since)))
        return session

    def save(self, path: Path) -> None:
        """Save the notebook with what its cells show."""
        cells: list[dict[str, Any]] = []
        for source, (session, since) in self.shown:
            data = mime_bundle(session.cursor, all_rows(session.cursor, self.name), since)
            output = {"output_type": "display_data", "data": data, "metadata": {}}
            held = {"cell_type": "code", "source": source, "outputs": [output], "metadata": {}}
            cells.append({**held, "execution_count": None, "id": f"cell{len(cells)}"})
        whole = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        path.write_text(json.dumps(whole, indent=1) + "\n")


@dataclass(frozen=True)
class Story:
    """A session: what the model says, who decides, and what the person does."""

    script: tuple[Item, ...]
    play: Callable[[Kernel], Session]
    approve: str = "all"


def _decide(kernel: Kernel) -> Session:
    session = kernel.cell("Go.")
    session.decide("call_1").run()
    session.decide("call_2_1", "edit", arguments={"jar": "Jar#2", "grams": 7}).run()
    session.decide("call_2_2", "reject", reason="too much").run()
    session.decide("call_2_3", "answer", result="sent by hand").run()
    session.decide("call_3").run()
    session.decide("call_4").run()
    return session


def _whole(kernel: Kernel) -> Session:
    return kernel.cell("Go.")


def _branches(kernel: Kernel) -> Session:
    first = kernel.cell("Go.")
    first.edit("call_1", grams=3).run()
    first.name_branch("plain")
    first.fork("call_2").tell("Send it to Ben.")
    session = first.decide_anew("call_1", "reject", reason="no").run()
    kernel.cells.keep(session)
    return session


def _other_input(kernel: Kernel) -> Session:
    kernel.cell("Go.")
    return kernel.cell("And the other jar.", 50)


def _approve(kernel: Kernel) -> Session:
    return kernel.cell("Go.").decide("call_1", "approve")


def _wait(kernel: Kernel) -> Session:
    session = kernel.cell("Go.").decide("call_1", "approve").run()
    assert [call.id for call in session.pending] == ["call_2"]
    return session


FILL = ("fill", {"jar": "$Jar", "grams": 1})
SEND = ("send", {"jar": "$Jar", "to": "Ann"})
STORIES: Mapping[str, Story] = {
    "decided": Story(
        (FILL, [FILL, FILL, SEND], ("weigh", {"jar": "$Jar"}), SEND, "done"), _decide, "none"
    ),
    "everything": Story(
        (
            ("split", {"jar": "$Jar"}),
            ("stack", {"jars": ["Jar#2", "Jar#3"], "on": "$Shelf"}),
            [("Till_add", {"coins": 2}), ("Till_add", {"coins": 3})],
            [("greet", {"name": "Ann"}), ("speak", {"language": "fr"}), ("greet", {"name": "Ann"})],
            [("fill", {"jar": "Jar#9", "grams": 1}), ("nothing", {})],
            ("fill", {"jar": "Jar#3", "grams": 2}),
            SEND,
            "done",
        ),
        _whole,
    ),
    "branches": Story(
        (FILL, ("split", {"jar": "Jar#2"}), ("fill", {"jar": "Jar#3", "grams": 4}), SEND, "done"),
        _branches,
    ),
    "inputs": Story(
        (FILL, SEND, "done", ("fill", {"jar": "Jar#3", "grams": 2}), SEND, "done"), _other_input
    ),
    "waiting": Story((FILL, SEND, "done"), _wait, "ask"),
    "approved": Story((SEND, "done"), _approve, "ask"),
    "cut": Story((FILL, SEND, "done"), _whole),
}

NOTEBOOKS = ("everything", "inputs")
"""The sessions of which a notebook is written too, as it is saved."""


def load(path: Path, name: str, **more: Any) -> Session:
    """Load a session from a file, with its tools."""
    inputs = {"jar": Jar(10), "shelf": Shelf(0)}
    return Session.load(path, box(), Scripted(STORIES[name].script), inputs=inputs, **more)


def shown(session: Session) -> Any:
    """Return what a session shows: messages, objects, steps, graph, as JSON."""
    rows = all_rows(session.cursor, session.name)
    names = {row.id: row.name for row in rows.objects}
    steps = [(c.id, c.tool, dict(c.arguments), c.status, c.result, c.error) for c in session.calls]
    of_branches = sorted((row.name, row.calls, row.hidden) for row in rows.branches)
    whole = {
        "messages": [(row.role, row.text) for row in rows.messages],
        "objects": list(session.objects),
        "steps": steps,
        "graph": [
            (row.call, sorted((use.parameter, names.get(use.object, "")) for use in row.uses))
            for row in rows.calls
            if not row.branch
        ],
        "branches": of_branches,
        "variables": dict(session.state.variables),
        "text": session.text,
    }
    return json.loads(json.dumps(whole))


def played(name: str, notebook: Path | None = None) -> str:
    """Play a session in the data directory, and return its journal; save its notebook too."""
    story = STORIES[name]
    kernel = Kernel("/notebook.ipynb", name, story.script, story.approve)
    story.play(kernel)
    if notebook is not None:
        kernel.save(notebook)
    kernel.cells.close()
    lines = journal_file("/notebook.ipynb", name).read_text().splitlines(keepends=True)
    starts = [number for number, line in enumerate(lines) if '"started"' in line]
    return "".join(lines[: starts[1] + 1] if name == "cut" else lines)


def write(folder: Path) -> None:
    """Write all sessions to a folder: journals, notebooks, and what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in STORIES:
        with tempfile.TemporaryDirectory() as data:
            os.environ["JUPYTER_TOOLCALL_DATA"] = data
            key = Path(data) / "key"
            key.write_bytes(KEY)
            key.chmod(0o600)
            path = folder / f"{name}.jsonl"
            saved = path.with_suffix(".ipynb") if name in NOTEBOOKS else None
            path.write_text(played(name, saved))
            told = shown(load(path, name))
            (folder / f"{name}.shown.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    # By its name, which is part of what the classes of this module are.
    importlib.import_module("tests.older_sessions").write(Path(sys.argv[1]))
