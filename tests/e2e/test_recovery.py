"""A kernel that is killed: the same cell goes on at the same call, and nothing happens twice."""

from __future__ import annotations

import os
import signal
import time

import pytest
from playwright.sync_api import Page, expect

from tests.e2e import kitchen
from tests.e2e.rig import (
    START,
    Place,
    dark_theme,
    open_notebook,
    restart_kernel,
    run_all,
    run_cell,
    screenshot,
    wait_idle,
)

POST = """%load_ext jupyter_toolcall
import os, time
from jupyter_toolcall import Scripted

def send(to: str, naps: int = 0) -> str:
    \"\"\"Send a letter.\"\"\"
    with open("sent", "a") as file:
        file.write(f"{to}\\n")
    time.sleep(naps if len(open("sent").readlines()) == 1 else 0)
    return f"sent to {to}"

"""
PID = "print(os.getpid())"
CELL = "%%toolchat -n post -m model -t send --scheme flat\nWrite to all of them."
STATUS = "%load_ext jupyter_toolcall\n%toolchat status -n post"


def sent(place: Place) -> list[str]:
    at = place.root / "sent"
    return at.read_text().splitlines() if at.exists() else []


def wait_sent(place: Place, count: int) -> None:
    """Returns when so many letters were sent."""
    deadline = time.monotonic() + START
    while len(sent(place)) < count:
        assert time.monotonic() < deadline, sent(place)
        time.sleep(0.05)


def kill_kernel(page: Page, cell: int) -> None:
    """Kill the kernel whose process a cell has printed; returns when the next one is idle."""
    pid = int(kitchen.text_of(page, cell).inner_text())
    os.kill(pid, signal.SIGKILL)
    page.get_by_role("button", name="Ok", exact=True).click()
    wait_idle(page)
    expect(kitchen.text_of(page, cell)).to_contain_text(str(pid))


def test_a_cell_that_waited_when_its_kernel_was_killed_waits_at_the_same_call(
    page: Page, lab: Place
) -> None:
    model = kitchen.script("model", '("send", {"to": "Ann"})', '("send", {"to": "Bob"})', '"Done."')
    view = kitchen.run_notebook(page, lab, "killed.ipynb", [POST + model + PID, CELL])
    kitchen.expect_waits(view, 1, "send")
    kitchen.press(view, "Approve")
    kitchen.expect_waits(view, 2, "send")
    kill_kernel(page, 0)

    run_all(page)
    view = kitchen.panel(page, 1)
    kitchen.expect_waits(view, 2, "send")
    kitchen.expect_step(view, 1, "send", "sent to Ann")
    assert sent(lab) == ["Ann"]
    screenshot(page, "recovered-waiting")
    dark_theme(page)
    screenshot(page, "recovered-waiting-dark")
    kitchen.press(view, "Approve")
    kitchen.expect_status(view, "Finished")
    wait_idle(page)
    expect(kitchen.steps(view)).to_have_count(2)
    assert sent(lab) == ["Ann", "Bob"]


@pytest.mark.parametrize("word", ["Run again", pytest.param("Answer", marks=pytest.mark.long)])
def test_a_call_that_ran_when_its_kernel_was_killed_is_asked_about_and_not_run(
    page: Page, lab: Place, word: str
) -> None:
    model = kitchen.script("model", '("send", {"to": "Ann", "naps": 600})', '"Done."')
    view = kitchen.run_notebook(page, lab, "cut.ipynb", [POST + model + PID, CELL])
    kitchen.expect_waits(view, 1, "send")
    kitchen.press(view, "Approve")
    kitchen.expect_step(view, 1, "running")
    wait_sent(lab, 1)
    kill_kernel(page, 0)

    run_all(page)
    view = kitchen.panel(page, 1)
    kitchen.expect_step(view, 1, "send", "outcome unknown")
    expect(view).to_contain_text("its end was not recorded")
    assert sent(lab) == ["Ann"]
    screenshot(page, "recovered-unknown")
    dark_theme(page)
    screenshot(page, "recovered-unknown-dark")
    kitchen.press(view, word)
    if word == "Answer":
        view.get_by_label("Result", exact=True).fill("sent to Ann, says the post")
        kitchen.press(view, "Answer")
    kitchen.expect_status(view, "Finished")
    assert sent(lab) == (["Ann"] if word == "Answer" else ["Ann", "Ann"])


def test_a_new_kernel_tells_what_rests_on_disk_before_any_cell_runs(page: Page, lab: Place) -> None:
    model = kitchen.script("model", '("send", {"to": "Ann"})', '"Done."')
    open_notebook(page, lab, "rests.ipynb", [POST + model + PID, CELL, STATUS, "%toolchat approve"])
    run_cell(page, 0)
    run_cell(page, 1)
    kitchen.expect_waits(kitchen.panel(page, 1), 1, "send")
    kill_kernel(page, 0)
    run_cell(page, 2)
    wait_idle(page)
    rests = "session 'post' is on disk: 1 calls, 0 objects, call_1 send(to='Ann') is not decided on"
    expect(kitchen.text_of(page, 2)).to_contain_text(rests)
    run_cell(page, 3)
    wait_idle(page)
    expect(kitchen.text_of(page, 3)).to_contain_text("run its cell, and it goes on there")
    assert sent(lab) == []


LOST_KEY = """from jupyter_toolcall.storage.journal_file import journals_folder as home
(home() / "key").unlink()
print("deleted")"""
ALL = CELL.replace("flat", "flat --approve all")


@pytest.mark.parametrize(
    "choice",
    [
        "Run again",
        pytest.param("Keep all recorded results", marks=pytest.mark.long),
        pytest.param("Begin a new session", marks=pytest.mark.long),
    ],
)
def test_with_a_deleted_key_nothing_runs_again_before_a_person_chooses(
    page: Page, lab: Place, choice: str
) -> None:
    model = kitchen.script("model", '("send", {"to": "Ann"})', '("send", {"to": "Bob"})', '"Done."')
    kitchen.run_notebook(page, lab, f"key-{choice[:3]}.ipynb", [POST + model, ALL, LOST_KEY])
    expect(kitchen.text_of(page, 2)).to_contain_text("deleted")
    restart_kernel(page)
    run_cell(page, 0)
    run_cell(page, 1)
    view = kitchen.panel(page, 1)
    kitchen.expect_step(view, 1, "send", "waits for you")
    expect(view.get_by_role("button", name="Run again", exact=True)).to_be_enabled()
    expect(view).to_contain_text("sent to Ann")
    expect(view).to_contain_text("written with another key")
    assert sent(lab) == ["Ann", "Bob"]
    screenshot(page, f"lost-key-{choice[:3]}")
    kitchen.press(view, choice)
    if choice == "Run again":
        kitchen.expect_step(view, 2, "send", "waits for you")
        assert sent(lab) == ["Ann", "Bob", "Ann"]
        kitchen.press(view, "Keep the recorded result")
    kitchen.expect_status(view, "Finished")
    wait_idle(page)
    runs = {"Run again": ["Ann"], "Begin a new session": ["Ann", "Bob"]}.get(choice, [])
    assert sent(lab) == ["Ann", "Bob", *runs]
    screenshot(page, f"lost-key-{choice[:3]}-after")
