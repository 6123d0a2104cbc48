"""`session.graph`: a picture, DOT with all calls, and networkx."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import UsageError
from tests.branching import branching_session


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
def session() -> Session:
    names = ("Dough_rest", "Dough_rest", "Dough_rest", "Dough_weigh")
    script = Scripted([*((name, {}) for name in names), "Done."])
    inputs = {"starter": Dough()}
    return Session(Toolbox(Dough), script, scheme="flat", inputs=inputs, approve="all").tell("Go.")


def test_dot_has_numbers_results_failures_and_the_names_of_sources(session: Session) -> None:
    source = session.graph.source
    assert '"Dough#2" -> "2 rest"' in source
    assert 'label="4 weigh = 800"' in source
    assert r'label="3 rest\nfailed"' in source
    assert "starter" in source
    assert source == session.graph.to_graphviz().source


def test_edges_and_nodes_are_the_lineage_and_networkx_has_the_same(session: Session) -> None:
    graph = session.graph
    assert graph.nodes == session.objects
    assert [(edge.source, edge.target, edge.tool) for edge in graph.edges] == [
        ("Dough#1", "Dough#2", "Dough_rest"),
        ("Dough#2", "Dough#3", "Dough_rest"),
    ]
    known = graph.to_networkx()
    assert [*known.nodes] == [*graph.nodes]
    assert [*known.edges(data="tool")] == [(e.source, e.target, e.tool) for e in graph.edges]


def test_without_networkx_the_error_says_how_to_install_it(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(UsageError, match="pip install networkx"):
        session.graph.to_networkx()


def test_a_notebook_shows_the_picture_that_the_session_keeps(session: Session) -> None:
    shown = session.graph._repr_mimebundle_()
    assert shown["image/svg+xml"] == session._repr_mimebundle_()["image/svg+xml"]
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
