"""How much of the package one approved call touches: files, functions and Python calls.

A `%%toolchat` cell runs in an IPython shell of this process, with a panel in front of it. The
model asks for one call, a click on Edit runs it with another argument, and the session ends.
A first cell does the same uncounted, so that imports and caches do not count.

python tests/benchmarks/path_of_a_call.py [--list]
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

import jupyter_toolcall
from jupyter_toolcall.jupyter.panel import Panel

PACKAGE = str(Path(jupyter_toolcall.__file__).parent)
GOAL_FILES, GOAL_FUNCTIONS, GOAL_CALLS = 35, 295, 2_234
SETUP = """
%load_ext jupyter_toolcall
from jupyter_toolcall import Scripted
from jupyter_toolcall.kitchen import Potato, Sink
potato = Potato().rinse(Sink()).peel()
model = Scripted([("Potato_slice", {"shape": "SLICES"}), "Sliced."])
"""
CELL = "%%toolchat -m model -t Potato -i potato --scheme flat -n {}\nSlice it."
EDITED = {"shape": "STICKS"}
COMPREHENSIONS = ("comp>", "<genexpr>")
"""The ends of names that Python gives to parts of a function."""


class Kernel:
    """As much of a kernel as a cell asks for: somebody is there, and the cell has an id."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell

    def get_parent(self, channel: str) -> dict[str, Any]:
        """Return the message of the cell that runs."""
        return {"content": {"allow_stdin": True}, "metadata": {"cellId": "a"}}

    def do_inspect(self, code: str, cursor_pos: int) -> None:
        """Answer nothing."""


class Person:
    """Greets each panel, and edits the call that waits."""

    def __init__(self) -> None:
        self.clicks: list[Callable[[], None]] = []
        self.clicked: set[str] = set()

    def __call__(self, panel: Panel, content: dict[str, Any]) -> None:
        """Take what the kernel sends to the page, and click."""
        for row in content.get("rows", {}).get("calls", ()):
            if row.get("why") and row["bound"] not in self.clicked:
                self.clicked.add(row["bound"])
                edit = {"type": "edit", "call": row["call"], "bound": row["bound"]}
                edit["arguments"] = {**row.get("arguments", {}), **EDITED}
                self.clicks.append(partial(panel._receive, panel, edit, []))


async def ran(shell: InteractiveShell, cell: str, person: Person) -> None:
    """Run a cell to its end, with the clicks of the person in front of its panel."""
    text = shell.transform_cell(cell)
    task = asyncio.ensure_future(
        shell.run_cell_async(cell, transformed_cell=text, store_history=False)
    )
    while not task.done():
        await asyncio.sleep(0.005)
        while person.clicks:
            person.clicks.pop(0)()
    shell.events.trigger("post_run_cell", task.result())
    task.result().raise_error()


def counted(shell: InteractiveShell, cell: str, person: Person) -> Counter[CodeType]:
    """Return how often each function of the package is called while a cell runs."""
    calls: Counter[CodeType] = Counter()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        if not code.co_name.endswith(COMPREHENSIONS):
            calls[code] += 1

    sys.setprofile(profile)
    try:
        asyncio.run(ran(shell, cell, person))
    finally:
        sys.setprofile(None)
    return calls


def main() -> None:
    """Print the figures, and with `--list` every file with its functions."""
    shell = InteractiveShell.instance()
    setattr(shell, "kernel", Kernel(shell))  # noqa: B010
    person = Person()
    original = Panel.bundle

    def displayed(panel: Panel) -> dict[str, Any]:
        setattr(panel, "send", lambda content, *more: person(panel, content))  # noqa: B010
        person.clicked.clear()
        person.clicks.append(partial(panel._receive, panel, {"type": "hello"}, []))
        return original(panel)

    setattr(Panel, "bundle", displayed)  # noqa: B010
    shell.run_cell(SETUP).raise_error()
    asyncio.run(ran(shell, CELL.format("warm"), person))
    calls = counted(shell, CELL.format("measured"), person)
    files = {code.co_filename for code in calls}
    print(f"files      {len(files):6,}   goal {GOAL_FILES}")
    print(f"functions  {len(calls):6,}   goal {GOAL_FUNCTIONS}")
    print(f"calls      {sum(calls.values()):6,}   goal {GOAL_CALLS:,}")
    if "--list" in sys.argv:
        for file in sorted(files):
            own = {code.co_qualname: n for code, n in calls.items() if code.co_filename == file}
            print(f"{file[len(PACKAGE) + 1 :]}: {len(own)} functions, {sum(own.values())} calls")
            print("   ", ", ".join(f"{name} {n}" for name, n in sorted(own.items())))


if __name__ == "__main__":
    main()
