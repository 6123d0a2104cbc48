"""The line below the picture of a session, and the steps: how it ended, and what was changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.kitchen import Potato, Sink
from jupyter_toolcall.models import Scripted
from jupyter_toolcall.storage.notebook_files import MIME, with_parsed_rows
from jupyter_toolcall.teaching import guesses
from jupyter_toolcall.teaching.magic_commands import TeachingPanel
from jupyter_toolcall.view.contract import Rows
from jupyter_toolcall.view.contract_rows import CallRow
from jupyter_toolcall.view.saved_output import mime_bundle
from jupyter_toolcall.view.text_summary import session_text


def test_the_line_below_the_picture_says_which_value_took_which_ones_place() -> None:
    model = Scripted([("Potato_peel", {}), ("Potato_slice", {"shape": "STICKS"}), "Done."])
    inputs = {"potato": Potato(), "sink": Sink()}
    session = Session(Toolbox(Potato), model, scheme="flat", inputs=inputs, approve="all")
    session.tell("Cut it.")
    shown = session.edit(session.calls[-1], shape="SLICES").run()._repr_mimebundle_()
    assert 'call 2 edited: shape "SLICES" for "STICKS"' in shown["text/plain"]
    assert "call 2 edited" in shown["image/svg+xml"]


def test_a_run_that_saved_an_input_unchanged_after_failed_calls_says_so() -> None:
    script = [
        ("Potato_slice", {"shape": "STICKS"}),
        ("Potato_peal", {}),
        ("save", {"peeled": "$Potato"}),
    ]

    def line(turns: list[tuple[str, dict[str, str]]]) -> str:
        session = Session(
            Toolbox(Potato),
            Scripted(turns),
            scheme="flat",
            inputs={"potato": Potato()},
            outputs={"peeled": Potato},
            approve="all",
        ).tell("Peel it.")
        return str(session._repr_mimebundle_()["text/plain"]).partition("\n")[0]

    phrase = "saved Potato#1 as peeled: an input, unchanged; 2 calls failed before"
    assert line(script) == f"Finished · 3 calls, 2 failed · {phrase}"
    assert line(script[2:]) == "Finished · 1 call · saved Potato#1 as peeled"
    repaired = [*script[:2], ("Potato_peel", {}), script[2]]
    assert line(repaired) == "Finished · 4 calls, 2 failed · saved Potato#2 as peeled"


def test_the_line_names_every_argument_that_was_edited_and_calls_rejected_or_answered() -> None:
    calls = (
        CallRow("a", "a", "sell", 1, 1, status="answered"),
        CallRow(
            "b", "b", "sell", 2, 2, edited=True, asked={"x": 1, "y": 2}, arguments={"x": 3, "y": 4}
        ),
        CallRow("c", "c", "sell", 3, 3, status="rejected"),
    )
    line = session_text(Rows(calls=calls)).splitlines()[0]
    decided = "call 1 answered · call 2 edited: x 3 for 1, y 4 for 2 · call 3 rejected"
    assert line == f"Session · 3 calls · {decided}"


def test_the_picture_marks_an_edited_call_and_names_the_branches() -> None:
    model = Scripted([("Potato_peel", {}), ("Potato_slice", {"shape": "STICKS"}), "Done."])
    session = Session(
        Toolbox(Potato), model, scheme="flat", inputs={"potato": Potato()}, approve="all"
    )
    first = session.tell("Cut it.")
    pencil, branch = "M3 13l.7-3 7-7 2.3 2.3-7 7z", ">main</text>"
    before = first._repr_mimebundle_()["image/svg+xml"]
    after = first.edit(first.calls[-1], shape="SLICES").run()._repr_mimebundle_()["image/svg+xml"]
    assert (before.count(pencil), before.count(branch)) == (0, 0)
    assert (after.count(pencil), after.count(branch)) == (1, 1)
    assert after.count("Cut it. · 2 calls, 2 branches</") == 2
    # The shown line is drawn after the muted one, so over it.
    pale, shown = (f"stroke='{ink}' stroke-width='1.3'" for ink in ("#949494", "#6b6b6b"))
    assert after.index(shown) > after.rindex(pale)


@dataclass(frozen=True)
class Card:
    """Who it is for."""

    name: str


def write(name: str) -> Card:
    """Write a card."""
    return Card(name)


def save(note: str) -> str:
    """Save a note of one's own."""
    return f"kept: {note}"


def lose(card: str) -> Card:
    """Lose a card."""
    raise ValueError(f"{card} is lost")


def send(card: Card) -> str:
    """Send a card."""
    return f"sent to {card.name}"


def rows(bundle: dict[str, Any]) -> Any:
    """Return the tables of a MIME bundle."""
    return with_parsed_rows(bundle[MIME])["rows"]


def test_letters_of_any_language_are_seen_as_they_are() -> None:
    model = Scripted([("write", {"name": "José"}), "Done."])
    session = Session(Toolbox(write, send, types=[Card]), model, scheme="flat", approve="all").tell(
        "Write."
    )
    edited = session.edit(session.calls[-1], name="小红 😀").run()
    shown = edited._repr_mimebundle_()
    assert 'call 1 edited: name "小红 😀" for "José"' in shown["text/plain"]
    [card] = [row for row in rows(shown)["objects"] if not row.get("branch")]
    assert card["preview"]["fields"] == [["name", '"小红 😀"']]
    told = " ".join(str(row["text"]) for row in rows(shown)["messages"])
    assert "小红 😀" in told
    assert "\\u" not in told


def test_a_call_that_failed_on_the_way_is_told_beside_the_end() -> None:
    model = Scripted([("lose", {"card": "a"}), ("write", {"name": "b"}), "Done."])
    session = Session(Toolbox(write, lose), model, scheme="flat", approve="all").tell("Write.")
    shown = session._repr_mimebundle_()
    assert shown["text/plain"].splitlines()[0] == "Finished · 2 calls, 1 failed"
    assert "Finished · 2 calls, 1 failed" in shown["image/svg+xml"]
    model = Scripted([("write", {"name": "b"}), "Done."])
    well = Session(Toolbox(write), model, scheme="flat", approve="all").tell("Write.")
    assert well._repr_mimebundle_()["text/plain"].splitlines()[0] == "Finished · 1 call"


def test_a_tool_of_the_persons_own_that_is_named_save_saves_nothing() -> None:
    model = Scripted([("save", {"note": "milk"}), "Done."])
    own = Session(Toolbox(save), model, scheme="flat", approve="all").tell("Keep it.")
    (row,) = rows(own._repr_mimebundle_())["calls"]
    assert ("saves" in row, row["what"], row["result"]) == (False, "note milk", "kept: milk")
    hands = Scripted([("write", {"name": "a"}), ("save", {"card": "$Card"}), "Done."])
    out = Session(Toolbox(write), hands, scheme="flat", outputs={"card": Card}, approve="all")
    last = rows(out.tell("Write.")._repr_mimebundle_())["calls"][-1]
    assert (last["saves"], last["what"]) == (True, "card = Card#1")
    tools = rows(out._repr_mimebundle_())["tools"]
    (told,) = (row["description"] for row in tools if row["id"] == "save")
    assert told.endswith("with all of:\n- card (Card)")


def test_ok_is_shown_where_a_tool_answers_it_and_not_where_save_does() -> None:
    def check() -> str:
        """Say how it is."""
        return "ok"

    script = [("selectTools", {"tools": ["check"]}), ("check", {}), ("save", {"card": "$Card"})]
    box, inputs = Toolbox(check), {"card": Card("a")}
    session = Session(box, Scripted(script), approve="all", inputs=inputs, outputs={"card": Card})
    picture = session.tell("Check it.")._repr_mimebundle_()
    assert [row.get("result", "") for row in rows(picture)["calls"]] == ["", "ok", ""]
    assert "2 check = ok" in picture["image/svg+xml"]
    assert picture["text/plain"].count("ok") == 1


def test_a_picture_of_nothing_yet_says_what_running_the_cell_is_good_for() -> None:
    asked = Session(Toolbox(write), "person", scheme="flat").ask("Write.")
    drive = PanelController(asked, lambda notice: None)
    drive.run_to_pause()
    played = mime_bundle(drive.session.cursor, drive.whole(), None)["image/svg+xml"]
    assert "Run the cell: you are the model" in played
    guessed = Session(Toolbox(write), Scripted(["Done."]), scheme="flat").ask("Write.")
    extensions = (TeachingPanel(guesses.begin(guessed)),)
    drive = PanelController(guessed, lambda notice: None, extensions=extensions)
    drive.run_to_pause()
    held = mime_bundle(drive.session.cursor, drive.whole(), None)["image/svg+xml"]
    assert "guess each call before it is made" in held
    extensions[0].guesses.is_over = True
    assert "Run the cell" not in guessed.run()._repr_mimebundle_()["image/svg+xml"]
