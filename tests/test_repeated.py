"""A cell that runs again says how much is as it was, and how to begin anew: in a real kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel

from jupyter_toolcall.view.saving import MIME

SETUP = """%load_ext jupyter_toolcall
from jupyter_toolcall import Scripted
from jupyter_toolcall.kitchen import Potato, Sink
potato, sink = Potato(), Sink()
m = Scripted([("Potato_rinse", {"sink": "Sink#1"}), ("Potato_peel", {}), "Done."])
silent = Scripted(["Nothing to do."])
"""
OPEN = "%%toolchat -m m -t Potato -i potato sink --scheme flat"
ALLOWED = f"{OPEN} --approve all\nPrepare it."
ASKED = f"{OPEN} --no-wait\nPrepare it."
ANEW = "--fresh begins anew"


@dataclass
class Kernel:
    """A kernel without a front end, and what its cells show."""

    client: Any
    shown: list[dict[str, Any]] = field(default_factory=list)

    def run(self, source: str) -> str:
        """Return the text of the session that a cell leaves."""
        before = len(self.shown)
        reply = self.client.execute_interactive(
            source, timeout=60, allow_stdin=False, output_hook=self._take
        )
        assert reply["content"]["status"] == "ok", reply["content"]
        return self.shown[-1]["text/plain"] if len(self.shown) > before else ""

    def _take(self, message: Any) -> None:
        data = message["content"].get("data", {})
        if MIME in data:
            self.shown.append(data)


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[Kernel]:
    manager, client = start_new_kernel(cwd=str(tmp_path))
    made = Kernel(client)
    made.run(SETUP)
    yield made
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_only_a_cell_that_ran_before_says_what_is_as_it_was(kernel: Kernel) -> None:
    assert ANEW not in kernel.run(ALLOWED)
    assert f"  2 calls as before; {ANEW}" in kernel.run(ALLOWED).splitlines()
    fresh = ALLOWED.replace("--approve", "--fresh --approve")
    assert ANEW not in kernel.run(fresh)


def test_what_a_person_decided_is_counted_also_where_the_cell_still_waits(kernel: Kernel) -> None:
    kernel.run(ASKED)
    kernel.run("%toolchat approve")
    assert f"  1 call and 1 decision as before; {ANEW}" in kernel.run(ASKED).splitlines()
    kernel.run('%toolchat reject 2 "The skin stays on."')
    assert f"  2 calls and 2 decisions as before; {ANEW}" in kernel.run(ASKED).splitlines()


def test_an_answer_without_calls_is_said_to_be_the_one_of_before(kernel: Kernel) -> None:
    cell = "%%toolchat -m silent -t Potato -i potato --scheme flat\nGo."
    assert ANEW not in kernel.run(cell)
    assert f"  All as before; {ANEW}" in kernel.run(cell).splitlines()


def test_what_is_saved_for_the_panel_says_it_too(kernel: Kernel) -> None:
    kernel.run(ALLOWED)
    kernel.run(ALLOWED)
    (row,) = kernel.shown[-1][MIME]["rows"]["session"]
    assert row["detail"] == f"2 calls as before; {ANEW}"
