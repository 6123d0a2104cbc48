"""The catalogues of the interface's texts: up to date, complete, and found by language."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import Field

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.interface_text import joined, on_wire, t, tn
from jupyter_toolcall.core.json_data import sendable_data
from jupyter_toolcall.jupyter.panel import catalogue
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.view.contract import Notice, Refused, Whole

ROOT = Path(__file__).parents[2]


def test_every_text_of_the_sources_is_in_the_catalogues_and_german_is_complete() -> None:
    command = [sys.executable, str(ROOT / "labextension" / "translations.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("language", ["de", "de_DE", "de-AT"])
def test_a_language_is_found_with_and_without_its_country(language: str) -> None:
    texts = catalogue(language)
    assert texts[""]["language"] == "de-DE"
    assert texts["Approve"] == ["Genehmigen"]
    assert texts["%1 call"] == ["%1 Aufruf", "%1 Aufrufe"]


def test_english_needs_no_catalogue_and_an_unknown_language_names_those_there_are() -> None:
    assert catalogue("") == catalogue("en-GB") == {}
    with pytest.raises(UsageError, match=r"'tlh'; there are en, de_DE"):
        catalogue("tlh")


def test_jupyterlab_is_told_where_the_catalogues_are() -> None:
    (entry,) = entry_points(group="jupyterlab.locale", name="jupyter_toolcall")
    package = Path(str(entry.load().__file__)).parent
    assert (package / "locale/de_DE/LC_MESSAGES/jupyter_toolcall.json").exists()


def test_a_text_is_english_in_python_and_sent_with_its_values() -> None:
    text = t("%1 of %2", 1200, tn("%1 call", "%1 calls", 2000))
    assert text == "1,200 of 2,000 calls"
    assert on_wire(text) == ["%1 of %2", 1200, [["%1 call", "%1 calls"], 2000]]
    assert on_wire(joined("; ", [t("saved"), "%1"])) == ["", ["saved"], "; ", "%1"]
    assert on_wire(joined("; ", ["a", "b"])) == "a; b"


def test_a_panel_is_sent_interface_texts_to_translate_and_what_the_model_said_as_it_is() -> None:
    notices = list[Notice]()
    session = Session(Toolbox(), Scripted(["Finished"]), scheme="flat").tell("Hello")
    PanelController(session, notices.append).run_to_pause()
    (whole,) = (each for each in notices if isinstance(each, Whole))
    (row,) = sendable_data(whole)["rows"]["session"]
    assert row["says"] == ["Finished"]
    assert row["text"] == "Finished"


def fill(grams: Annotated[int, Field(le=500)]) -> int:
    """Fill a jar."""
    return grams


def test_what_is_wrong_with_an_edit_is_sent_to_translate_and_a_model_reads_it_in_english() -> None:
    notices = list[Notice]()
    script = Scripted([("fill", {"grams": 20}), ("fill", {"grams": 900}), "Done."])
    session = Session(Toolbox(fill), script, scheme="flat").ask("Fill a jar.")
    controller = PanelController(session, notices.append)
    controller.run_to_pause()
    (digest,) = (row.approval_digest for row in controller.whole().calls)
    call, arguments = session.pending[0].id, {"grams": 900}
    controller.receive(
        {"type": "edit", "call": call, "arguments": arguments, "approval_digest": digest}
    )
    controller.apply_commands()
    (refused,) = (each for each in notices if isinstance(each, Refused))
    problem = ["input should be less than or equal to %1", "500"]
    data = sendable_data(refused)
    assert data["fields"] == {"grams": problem}
    assert data["reason"] == ["", "fill", ": ", ["", ["", "grams", ": ", problem]]]
    english = "fill: grams: input should be less than or equal to 500"
    assert refused.reason == english
    assert session.decide(session.pending[0]).run().calls[1].error == english
