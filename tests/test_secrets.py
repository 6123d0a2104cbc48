"""What is secret in the environment reaches no sink."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.rows.contract import SessionRow
from jupyter_toolcall.secrets import hiding, is_named_secret
from jupyter_toolcall.view.saving import bundle
from jupyter_toolcall.view.watch import Watch

CANARY = "sk-canary-0123456789abcdef"
MARKER = "{secret:SOME_API_KEY}"


@dataclass(frozen=True)
class Letter:
    """Something that was written."""

    text: str


def leak(how: str) -> str:
    """Give the secret away in one of many ways."""
    if how == "raise":
        raise ValueError(f"401 with {CANARY}")
    print(f"printing {CANARY}")
    return f"the key is {CANARY}"


def write(to: str) -> Letter:
    """Write it down in an object."""
    return Letter(f"dear {to}, {CANARY}")


def test_a_secret_of_the_environment_is_in_no_artefact_and_is_told_to_no_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    turns = [("leak", {"how": "return"}), ("leak", {"how": "raise"}), ("write", {"to": "you"})]
    session = Session(
        Toolbox(leak, write, Letter), Scripted([*turns, "done"]), scheme="flat", approve="all"
    )
    session.tell("Go.")
    root = session.journal.path(session.head)[0].id
    made = bundle(session.cursor, Watch().whole(session.cursor, SessionRow()), root)
    told = repr(list(session.cursor.request.messages))
    assert CANARY not in session.journal.dumps() + json.dumps(made) + told
    assert MARKER in session.journal.dumps()
    assert MARKER in told
    # The live value is the analyst's own, and is as it was made.
    assert CANARY in session["Letter#1"].text


@pytest.mark.parametrize(
    "name", ["ANTHROPIC_API_KEY", "GH_TOKEN", "db_password", "KEY", "MY_SECRET_2"]
)
def test_names_that_say_secret_are_known(name: str) -> None:
    assert is_named_secret(name)


@pytest.mark.parametrize("name", ["KEYBOARD", "monkey", "tokens_spent_on", "PATH", "passenger"])
def test_names_that_only_look_like_it_are_not(name: str) -> None:
    assert not is_named_secret(name)


def test_what_is_nested_is_searched_and_short_values_are_left() -> None:
    hide = hiding({"A_TOKEN": "l0ng-en0ugh-1", "B_TOKEN": "sh0rt"})
    data = {"a": ["x l0ng-en0ugh-1 y", 3], "sh0rt": ("l0ng-en0ugh-1", None)}
    marker = "{secret:A_TOKEN}"
    assert hide(data) == {"a": [f"x {marker} y", 3], "sh0rt": (marker, None)}
