"""A journal of an older version is shown as history, and nothing of it runs again unasked.

`data/v1` was written by the code of version 1 (`older_sessions`).
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Scripted, Session, cli
from jupyter_toolcall.core.digests import digest
from jupyter_toolcall.core.errors import Absent, NewerJournal, UnreadableJournal
from jupyter_toolcall.core.events import (
    Decided,
    Event,
    Failed,
    Finished,
    Missing,
    Producer,
    from_json,
)
from jupyter_toolcall.core.journal import Journal
from jupyter_toolcall.core.journal_entries import HEADER, VERSION, Label, line
from jupyter_toolcall.core.older_versions import Upgrade, upgraded_event
from jupyter_toolcall.engine.approval_policy import Approve
from jupyter_toolcall.export.session_files import sessions
from jupyter_toolcall.jupyter.cell_prompts import add_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.storage import signatures as seal
from jupyter_toolcall.storage.file_system import DISK, LocalFiles
from jupyter_toolcall.storage.journal_file import (
    JournalHandle,
    journal_file,
    journal_names,
    journals_folder,
    open_journal,
)
from jupyter_toolcall.storage.notebook_files import MIME, saved_sessions
from jupyter_toolcall.storage.signatures import signer
from jupyter_toolcall.view.saved_output import mime_bundle
from jupyter_toolcall.view.view_rows import all_rows
from tests.faults.disks import Watched
from tests.faults.keepsakes import apart_from_policy
from tests.faults.platter import empty
from tests.older_sessions import KEY, NOTEBOOKS, RAN, STORIES, Jar, Shelf, box, load, played, shown

FOLDER = Path(__file__).parents[1] / "data" / "v1"
TODAY = {"3": "grams=3 (call 1)", "rejected": "rejected (call 1)"}
"""How branches are named today that nobody has named."""
OLDER = "It was recorded by an older version of jupyter-toolcall, and may have run."
HISTORY = "An older version of jupyter-toolcall recorded this session"
every_session = pytest.mark.parametrize("name", STORIES)


def older(name: str) -> Path:
    return FOLDER / f"{name}.jsonl"


def as_written(name: str) -> Any:
    """Return what a session showed to those who wrote it."""
    written = _without_reasons(json.loads((FOLDER / f"{name}.shown.json").read_text()))
    for branch in written.get("branches", ()):
        branch[0] = TODAY.get(branch[0], branch[0])
    return written


def now_shown(session: Session) -> Any:
    return _without_reasons(shown(session))


def _without_reasons(told: Any) -> Any:
    """Return what is shown without why an object was not made: that is told in today's words."""
    return json.loads(re.sub(r" \(not made on this branch[^)]*\)", "", json.dumps(told)))


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give the user of the test the key that sealed the older journals."""
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    (journals_folder() / "key").write_bytes(KEY)
    (journals_folder() / "key").chmod(0o600)
    seal._key.cache_clear()
    RAN.clear()
    yield
    seal._key.cache_clear()


# -- it is shown --------------------------------------------------------------------------------


@every_session
@pytest.mark.parametrize("key", ["the same key", "another key"])
def test_a_journal_of_version_1_shows_the_same_messages_objects_and_steps_as_when_it_was_written(
    name: str, key: str, tmp_path: Path
) -> None:
    if key == "another key":
        (journals_folder() / "key").write_bytes(b"k" * 32)
    session = load(older(name), name)
    assert now_shown(session) == as_written(name)
    session.save(tmp_path / "saved.jsonl")
    assert now_shown(load(tmp_path / "saved.jsonl", name)) == as_written(name)
    assert RAN == []


@every_session
def test_an_older_journal_keeps_its_entries_and_none_of_them_is_this_machines_own(
    name: str,
) -> None:
    text = older(name).read_text()
    written = [json.loads(line) for line in text.splitlines()]
    events = {each["id"]: each for each in written if "id" in each}
    journal = Journal.loads(text, signer(journals_folder()))
    assert len(journal) == len(events)
    assert not any(entry.verified or entry.is_effective for entry in journal)
    again = Journal.loads(journal.dumps(signer(journals_folder())), signer(journals_folder()))
    assert [*again] == [*journal]
    assert not any(entry.verified for entry in again)
    kinds = [each["event"]["type"] for each in events.values()]
    assert [type(entry.event).__name__.lower() for entry in journal] == kinds


@every_session
def test_an_older_journal_has_the_events_that_today_are_written_of_the_same_session(
    name: str,
) -> None:
    then, today = Journal.loads(older(name).read_text()), Journal.loads(played(name))
    assert [*_without_errors(then)] == [*_without_errors(today)]


def _without_errors(journal: Journal) -> Iterator[Event]:
    """What an error says of a missing object is worded otherwise today."""
    for event in apart_from_policy(journal):
        match event:
            case Finished(outcome=Failed()):
                yield replace(event, outcome=Failed(""))
            case _:
                yield event


def test_what_refers_to_another_entry_refers_to_it_by_its_new_id() -> None:
    text = older("branches").read_text()
    written = [json.loads(line) for line in text.splitlines()]
    ids = [each["id"] for each in written if "id" in each]
    journal = Journal.loads(text)
    today = dict(zip(dict.fromkeys(ids), [entry.id for entry in journal], strict=True))
    referred = 0
    for was in (each for each in written if "id" in each):
        for key in {"of", "replays"} & was.get("meta", {}).keys():
            assert journal[today[was["id"]]].meta[key] == today[was["meta"][key]]
            referred += 1
    assert referred > 5
    branches = {today[each["branch"]]: each["name"] for each in written if "branch" in each}
    assert {key: label.name for key, label in journal.labels.items()} == branches != {}


def test_an_argument_that_was_a_sentence_says_by_fields_which_call_would_have_made_it() -> None:
    calls = load(older("branches"), "branches").state.all_calls()
    missing = [(call.call.arguments["jar"], call.call.missing) for call in calls]
    assert missing == [
        ("Jar#1", ()),
        ("Jar#2", (Missing(("jar",), Producer("call_1")),)),
        ("Jar#3", (Missing(("jar",), Producer("call_2")),)),
        ("Jar#5", (Missing(("jar",), Producer("call_3")),)),
    ]


@pytest.mark.parametrize(
    ("text", "producer"),
    [
        ("Jar#3 (not made on this branch: call 2, part 3, failed)", Producer("b", 2)),
        ("Jar#3 (not made on this branch: call 1 has not run)", Producer("a")),
        ("Jar#3 (not made on this branch: call 3 failed)", Producer()),
        ("Jar#3 (not made on this branch)", Producer()),
    ],
)
def test_an_argument_that_was_a_sentence_is_missing(text: str, producer: Producer) -> None:
    event = {"type": "decided", "call_id": "c", "arguments": {"jars": [1, {"a": text}], "b": text}}
    today = from_json(upgraded_event(event, 1, lambda: ["a", "b"]))
    assert isinstance(today, Decided)
    assert today.arguments == {"jars": [1, {"a": "Jar#3"}], "b": "Jar#3"}
    paths = ("jars", "1", "a"), ("b",)
    assert today.missing == tuple(Missing(path, producer) for path in paths)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_that_version_1_saved_is_shown_and_exported(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "saved.ipynb"
    path.write_bytes((FOLDER / f"{name}.ipynb").read_bytes())
    journal = Journal.loads(older(name).read_text())
    for saved in saved_sessions(path):
        part = saved.data["journal"]
        assert (part["version"], part["head"] in journal) == (VERSION, True)
    held = sessions(path, lambda line: ())[-1]
    assert [*held.session.cursor.state.names] == as_written(name)["objects"]
    assert cli.main(["show", str(path), str(older(name))]) == 0
    assert "of format 1" in capsys.readouterr().out
    for form in ("json", "html", "py", "messages"):
        assert cli.main(["export", str(path), "--to", form, "--force"]) == 0
    assert cli.main(["verify", str(older(name))]) == 0
    assert "of format 1" in capsys.readouterr().out
    assert RAN == []


# -- nothing of it runs again unasked -------------------------------------------------------------

POLICIES: Mapping[str, Approve] = {
    **{name: name for name in ("ask", "read-only", "all", "none")},
    "a list": [("*", "approve")],
    "a function": lambda tool, arguments: ("approve", "yes"),
}


def keep_all(session: Session) -> list[str]:
    """Keep what is recorded of each call that waits; return the calls that were asked about.

    Ends where a value is not at hand: the journals of these tests come without their values.
    """
    asked = []
    while session.pending:
        call = session.pending[0]
        asked.append(call.id)
        rows = {
            row.call: row for row in PanelController(session, lambda notice: None).whole().calls
        }
        row = rows[call.id]
        try:
            if row.recorded:
                assert (row.why, row.may_have_run) == (OLDER, True)
                session.keep_result(call, bound=row.bound).run()
            else:
                session.decide(call, "reject").run()
        except Absent:
            break
    return asked


@every_session
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("how", ["resumed", "replayed", "answered"])
def test_nothing_of_a_version_1_journal_runs_again_unasked_under_any_policy(
    name: str, policy: str, how: str
) -> None:
    session = load(older(name), name, approve=POLICIES[policy])
    # A call that waits for an object whose value is not at hand asks for a replay.
    with suppress(Absent):
        session.run()
    if how == "replayed":
        session = session.replay().run()
    if how == "answered" and session.calls[0].status == "succeeded":
        # The person gives what is recorded, and asks for nothing else.
        session = session.decide_anew(session.calls[0], "answer", result=Jar(11)).run()
    asked = keep_all(session)
    assert RAN == []
    assert asked or how != "replayed" or name == "branches"


def kernel(notebook: Path, name: str, files: Any = DISK) -> Cells:
    seal._key.cache_clear()
    return Cells(str(notebook), files=files)


def run_cell(cells: Cells, name: str, approve: str = "all", prompt: str = "Go.") -> Session:
    """Run a cell that version 1 ran, in today's kernel."""
    line = f"-n {name} -m model -t box -i jar -i shelf --scheme flat --approve {approve}"
    variables = {"box": box(), "model": Scripted(STORIES[name].script)}
    grams = 10 if prompt == "Go." else 50
    given = {**variables, "jar": Jar(grams), "shelf": Shelf(0)}
    session = cells.session(parse_options(line), given)
    return cells.keep(add_prompt(session, prompt, False).run())


def on_disk(notebook: Path, name: str) -> Path:
    """Put a journal of version 1 where a notebook's session has its own; return that place."""
    path = journal_file(str(notebook), name)
    path.parent.mkdir(parents=True)
    path.write_bytes(older(name).read_bytes())
    return path


@every_session
@pytest.mark.parametrize("approve", ["all", "ask"])
def test_restart_and_run_all_runs_nothing_of_a_version_1_journal_unasked(
    name: str, approve: str, tmp_path: Path
) -> None:
    notebook = tmp_path / "a.ipynb"
    path = on_disk(notebook, name)
    for restart in range(2):
        cells = kernel(notebook, name)
        session = run_cell(cells, name, approve)
        notes = cells.notes()
        assert [note[: len(HISTORY)] for note in notes] == ([] if restart else [HISTORY])
        assert path.with_suffix(".v1.jsonl").read_bytes() == older(name).read_bytes()
        if session.pending:
            assert session.state.calls[session.pending[0].id].history == "older"
        cells.close()
        assert RAN == []


def test_what_a_person_keeps_of_it_stays_kept_and_nobody_is_asked_twice(tmp_path: Path) -> None:
    notebook, name = tmp_path / "a.ipynb", "approved"
    on_disk(notebook, name)
    cells = kernel(notebook, name)
    session = run_cell(cells, name)
    assert [call.id for call in session.pending] == ["call_1"]
    session.decide("call_1", "approve").run()
    assert (RAN, session.text) == (["send Ann"], "done")
    cells.close()
    again = run_cell(kernel(notebook, name), name)
    assert (RAN, again.text, again.pending) == (["send Ann"], "done", ())


def test_a_kept_result_has_its_value_where_the_store_of_this_computer_has_it(
    tmp_path: Path,
) -> None:
    notebook, name = tmp_path / "a.ipynb", "everything"
    cells = kernel(notebook, name)
    run_cell(cells, name)
    cells.close()
    assert RAN != []
    path = journal_file(str(notebook), name)
    path.write_bytes(older(name).read_bytes())
    RAN.clear()
    session = run_cell(kernel(notebook, name), name)
    while session.pending:
        call = session.pending[0]
        session.keep_result(call).run()
    assert RAN == []
    assert session["Jar#4"] == Jar(7)
    assert now_shown(session) == as_written(name)


def test_a_call_that_is_run_again_runs_once_and_those_behind_it_are_asked_about(
    tmp_path: Path,
) -> None:
    session = load(older("inputs"), "inputs", approve="all").replay().run()
    session.decide("call_1", "approve").run()
    assert RAN == ["fill 1"]
    assert [call.id for call in session.pending] == ["call_2"]


def test_an_approval_of_version_1_that_was_not_used_allows_nothing(tmp_path: Path) -> None:
    session = load(older("approved"), "approved", approve="all").run()
    assert [(call.id, call.status) for call in session.pending] == [("call_1", "approved")]
    assert RAN == []


def test_a_call_that_started_and_never_finished_is_of_unknown_outcome(tmp_path: Path) -> None:
    session = load(older("cut"), "cut", approve="all").run()
    assert [(call.id, call.status) for call in session.pending] == [("call_2", "unknown")]
    assert RAN == []


def test_sealed_lines_of_version_1_below_todays_first_line_allow_nothing(tmp_path: Path) -> None:
    """Whoever changes the first line of an older file makes no approval of it."""
    first, *lines = older("approved").read_text().splitlines()
    assert first != HEADER
    path = tmp_path / "forged.jsonl"
    path.write_text("".join(f"{line}\n" for line in (HEADER, *lines)))
    journal, _ = Journal.salvage(path.read_text(), signer(journals_folder()))
    assert not any(entry.verified for entry in journal)


def test_in_a_renamed_notebook_a_session_of_version_1_continues_and_asks(tmp_path: Path) -> None:
    name = "everything"
    on_disk(tmp_path / "a.ipynb", name)
    notebook = tmp_path / "b.ipynb"
    notebook.write_bytes((FOLDER / f"{name}.ipynb").read_bytes())
    cells = kernel(notebook, name)
    session = run_cell(cells, name)
    assert (len(session.pending), RAN) == (1, [])
    assert any("copied or renamed" in note for note in cells.notes())


# -- on disk ------------------------------------------------------------------------------------


def opened(path: Path, files: Any = DISK) -> JournalHandle:
    return open_journal(path, signer(journals_folder()), files)


@every_session
def test_the_old_file_stays_as_it_was_and_the_session_continues_in_a_new_one(
    name: str, tmp_path: Path
) -> None:
    path = on_disk(tmp_path / "a.ipynb", name)
    kept = opened(path)
    assert kept.note.startswith(HISTORY)
    assert str(path.with_suffix(".v1.jsonl")) in kept.note
    assert "\n" not in kept.note
    kept.close()
    assert path.with_suffix(".v1.jsonl").read_bytes() == older(name).read_bytes()
    assert path.read_text().splitlines()[0] == HEADER
    again = opened(path)
    assert (again.note, again.doubt) == ("", "")
    assert [*again.journal] == [*Journal.loads(older(name).read_text())]
    again.close()
    assert journal_names(str(tmp_path / "a.ipynb")) == (name,)
    assert sorted(each.name for each in path.parent.glob("*.jsonl*")) == [
        f"{name}.jsonl",
        f"{name}.jsonl.lock",
        f"{name}.v1.jsonl",
    ]


def test_another_older_file_of_that_name_is_kept_too(tmp_path: Path) -> None:
    path = on_disk(tmp_path / "a.ipynb", "cut")
    opened(path).close()
    for name in ("waiting", "cut", "waiting"):
        path.write_bytes(older(name).read_bytes())
        opened(path).close()
    first, second = path.with_suffix(".v1.jsonl"), path.with_suffix(".v1-2.jsonl")
    assert first.read_bytes() == older("cut").read_bytes()
    assert second.read_bytes() == older("waiting").read_bytes()
    assert not path.with_suffix(".v1-3.jsonl").exists()


def test_a_damaged_older_file_is_kept_whole_and_what_can_be_read_of_it_continues(
    tmp_path: Path,
) -> None:
    path = on_disk(tmp_path / "a.ipynb", "cut")
    damaged = older("cut").read_bytes()[:-20] + b"\xff\n"
    path.write_bytes(damaged)
    kept = opened(path)
    kept.close()
    assert "The journal was damaged" in kept.note
    assert path.with_suffix(".v1.jsonl").read_bytes() == damaged
    assert len(kept.journal) == len(Journal.loads(older("cut").read_text())) - 1
    assert not path.with_suffix(".torn").exists()


class ReadOnly(LocalFiles):
    """Files of a disk that cannot be written."""

    def lock(self, path: Path) -> Any:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))


class Full(LocalFiles):
    """Files of a disk on which a new file has no room."""

    def rename(self, path: Path, to: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("files", [ReadOnly, Full])
def test_where_nothing_can_be_written_an_older_session_is_history_in_memory(
    files: type[LocalFiles], tmp_path: Path
) -> None:
    notebook = tmp_path / "a.ipynb"
    path = on_disk(notebook, "waiting")
    cells = kernel(notebook, "waiting", files())
    session = run_cell(cells, "waiting")
    assert (len(session.pending), RAN) == (1, [])
    assert cells.notes()[0].startswith("This session is not kept on disk")
    assert path.read_bytes() == older("waiting").read_bytes()
    cells.files = DISK
    cells.close()
    assert len(run_cell(kernel(notebook, "waiting"), "waiting").pending) == 1
    assert RAN == []


def test_what_happened_while_the_disk_was_full_is_in_the_new_file_too(tmp_path: Path) -> None:
    path = on_disk(tmp_path / "a.ipynb", "waiting")
    full = Stop(acts_of_a_conversion().index("append") + 1, OSError(errno.ENOSPC, "full"))
    kept = opened(path, Watched(DISK, full.act))
    assert kept.again is not None
    before = len(kept.journal)
    kept.journal.label(next(iter(kept.journal)).id, Label("mine"))
    again = kept.again()
    assert again.again is None
    again.close()
    found = Journal.loads(path.read_text(), signer(journals_folder()))
    assert (len(found), len(found.labels)) == (before, 1)
    assert path.with_suffix(".v1.jsonl").read_bytes() == older("waiting").read_bytes()


# -- killed between the steps ----------------------------------------------------------------------


class Killed(BaseException):
    """The kernel is gone, or the power: nothing that follows happens."""


@dataclass
class Stop:
    """Raises in place of the `at`-th act on a disk; an act of which there is a `half` does that."""

    at: int = 0
    error: BaseException = field(default_factory=Killed)
    half: bool = False
    acts: list[str] = field(default_factory=list)

    def act(self, name: str, do: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        self.acts.append(name)
        if len(self.acts) == self.at:
            if half is not None and self.half:
                half()
            raise self.error
        return do()


def acts_of_a_conversion() -> list[str]:
    """Return what is done to the disk, twice a whole new file; the lock and the key are there."""
    whole = ["open", "cut", "append", "sync", "rename", "sync folder"]
    return ["lock", "read", "read", *whole, *whole, "open"]


def test_these_are_the_acts_of_a_conversion(tmp_path: Path) -> None:
    stop = Stop()
    opened(on_disk(tmp_path / "a.ipynb", "cut"), Watched(DISK, stop.act))
    assert stop.acts == acts_of_a_conversion()


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("at", range(1, len(acts_of_a_conversion()) + 1))
def test_a_kernel_that_is_killed_while_it_converts_leaves_the_old_journal_or_the_new_one(
    at: int, half: bool, tmp_path: Path
) -> None:
    path, was = on_disk(tmp_path / "a.ipynb", "cut"), older("cut").read_bytes()
    with pytest.raises(Killed):
        opened(path, Watched(DISK, Stop(at, half=half).act))
    there = path.read_bytes()
    kept_beside = path.with_suffix(".v1.jsonl")
    assert there == was or kept_beside.read_bytes() == was
    assert there == was or there.decode().startswith(HEADER)
    kept = opened(path)
    kept.close()
    assert kept.note.startswith(HISTORY) == (there == was)
    assert kept_beside.read_bytes() == was
    assert [*kept.journal] == [*Journal.loads(was.decode())]
    names = {f"cut{ending}" for ending in (".jsonl", ".jsonl.lock", ".v1.jsonl")}
    assert {each.name for each in path.parent.iterdir()} == names


@pytest.mark.parametrize("at", range(1, len(acts_of_a_conversion()) + 1))
def test_a_loss_of_power_while_it_converts_leaves_the_old_journal_or_the_new_one(
    at: int, tmp_path: Path
) -> None:
    was, path = older("waiting").read_bytes(), tmp_path / "data" / "a.jsonl"
    disk = empty(path.parent)
    disk.now[path] = disk.safe[path] = was
    with pytest.raises(Killed):
        opened(path, Watched(disk, Stop(at).act))
    for left in disk.left():
        there = left.now[path]
        assert there == was or left.now[path.with_suffix(".v1.jsonl")] == was
        assert there == was or there.decode().startswith(HEADER)
        assert [*opened(path, left).journal] == [*Journal.loads(was.decode())]


# -- a version from the future ---------------------------------------------------------------------

NEWER = f"format {VERSION + 1}, and this one reads {VERSION}"


def test_a_version_from_the_future_is_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = line({"journal": VERSION + 1}) + '\n{"what": "nobody knows"}\n'
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    with pytest.raises(NewerJournal, match=NEWER):
        load(path, "cut")
    for command in (["show"], ["verify"], ["export", "--to", "json"]):
        assert cli.main([command[0], str(path), *command[1:]]) == 1
        captured = capsys.readouterr()
        assert NEWER in captured.out + captured.err
    with pytest.raises(UnreadableJournal, match=NEWER):
        opened(path)
    assert path.read_text() == text


@pytest.mark.parametrize("version", [VERSION + 1, 999])
def test_a_notebook_from_the_future_is_refused_by_name(
    version: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = json.loads((FOLDER / "inputs.ipynb").read_text())
    held["cells"][0]["outputs"][0]["data"][MIME]["journal"]["version"] = version
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(held))
    for command in (["show"], ["export", "--to", "json"]):
        assert cli.main([command[0], str(path), *command[1:]]) == 1
        captured = capsys.readouterr()
        assert f"format {version}, and this one reads" in captured.out + captured.err


@pytest.mark.parametrize("version", ["2", True, -1, 1.5, None, [1]])
def test_a_version_that_is_no_number_is_damage(version: Any, tmp_path: Path) -> None:
    journal, left = Journal.salvage(line({"journal": version}) + "\n")
    assert (len(journal), left != "") == (0, True)
    held = json.loads((FOLDER / "inputs.ipynb").read_text())
    held["cells"][0]["outputs"][0]["data"][MIME]["journal"]["version"] = version
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(held))
    assert cli.main(["show", str(path)]) == 1


def test_what_is_written_today_says_its_version() -> None:
    session = load(older("inputs"), "inputs")
    data: Any = mime_bundle(session.cursor, all_rows(session.cursor, ""), None)
    assert data[MIME]["journal"]["version"] == VERSION
    assert json.loads(session.journal.dumps().splitlines()[0])["journal"] == VERSION


# -- random journals of version 1, as raw JSON -----------------------------------------------------

texts = st.text("ab#~[]:($é", max_size=4)
ids = st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True)
inputs = st.one_of(
    st.builds("input:{}".format, ids), st.builds("input:{}~{}".format, ids, st.integers(2, 12))
)
makers = st.one_of(ids, st.builds("{}[{}]".format, ids, st.integers(0, 12)), inputs)
data = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return objects with some of these fields: what has its default was left out."""
    return st.fixed_dictionaries({}, optional=fields)


def _typed(kind: str, needed: Any = None, **fields: st.SearchStrategy[Any]) -> Any:
    def whole(one: Any, other: Any) -> Any:
        return {"type": kind, **one, **other}

    return st.builds(whole, st.fixed_dictionaries(needed or {}), _some(**fields))


def _made(maker: st.SearchStrategy[str]) -> Any:
    needed = {"kind": texts, "maker": maker, "digest": texts}
    return _typed("made", needed, content=texts, description=texts)


made = _made(st.just("") | makers)
variables = st.dictionaries(texts, data, max_size=2)
outcomes = st.one_of(
    _typed("data", data=data, variables=variables),
    made,
    _typed("many", objects=st.lists(made, max_size=3)),
    _typed("failed", {"message": texts}),
    _typed("interrupted"),
)
places = st.one_of(
    st.from_regex(r"[a-z]{1,4}(\.[0-9a-z]{1,3})?", fullmatch=True),
    st.builds("({})".format, ids),
    st.builds("${}".format, ids),
)
used = st.dictionaries(places, makers, max_size=3)
call = _typed("call", {"id": ids, "tool": texts}, arguments=variables, broken=texts)
usage = _typed("usage", input=st.integers(0), output=st.integers(0))
older_events = st.one_of(
    _typed(
        "opened",
        scheme=texts,
        inputs=st.lists(st.tuples(ids, _made(inputs)).map(list), max_size=2),
        outputs=st.dictionaries(texts, _typed("output", {"kind": texts}), max_size=2),
        system=texts,
        instances=st.lists(st.tuples(st.builds("({})".format, ids), texts).map(list), max_size=2),
        aside=st.booleans(),
        secrets=st.lists(texts, max_size=2),
    ),
    _typed("asked", {"text": texts}, by=st.just("session"), again=st.integers(1)),
    _typed("replied", text=texts, calls=st.lists(call, max_size=2), usage=usage, raw=data),
    _typed(
        "decided",
        {"call_id": ids},
        decision=st.sampled_from(["edit", "reject", "answer"]),
        arguments=variables,
        result=outcomes,
        reason=texts,
    ),
    _typed("started", {"call_id": ids}, arguments=variables, used=used),
    _typed("finished", {"call_id": ids, "outcome": outcomes}, by=st.just("program"), used=used),
)


@st.composite
def older_journals(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return the entries of a journal of version 1, each behind any other one."""
    entries: list[dict[str, Any]] = []
    for event in draw(st.lists(older_events, min_size=1, max_size=8)):
        at = draw(st.integers(-1, len(entries) - 1))
        parent = entries[at]["id"] if at >= 0 else None
        entry: dict[str, Any] = {
            "id": digest("entry", parent or "", event),
            "parent": parent,
            "event": event,
        }
        meta = {
            key: entries[draw(st.integers(0, len(entries) - 1))]["id"]
            for key in draw(st.sets(st.sampled_from(["of", "replays"])))
            if entries
        }
        meta |= {"by": "person"} if draw(st.booleans()) else {}
        if entry["id"] not in [each["id"] for each in entries]:
            entries.append(entry | ({"meta": meta} if meta else {}))
    return entries


def older_line(entry: Mapping[str, Any]) -> str:
    """Return an entry as version 1 wrote it: sealed by its own rule."""
    written = signer(journals_folder())
    assert written is not None
    text = json.dumps(entry, separators=(",", ":"))
    return line({**entry, "seal": written(text)})


@given(older_journals())
def test_an_older_journal_is_read_the_same_however_often_it_is_written(
    entries: list[dict[str, Any]],
) -> None:
    text = "".join(f"{each}\n" for each in (line({"journal": 1}), *map(older_line, entries)))
    journal = Journal.loads(text, signer(journals_folder()))
    again = Journal.loads(journal.dumps(signer(journals_folder())), signer(journals_folder()))
    assert [*again] == [*journal]
    assert [entry.id for entry in journal] == [entry.id for entry in Journal.loads(text)]
    assert again.dumps(signer(journals_folder())) == journal.dumps()
    assert not any(entry.verified for entry in journal)
    # Two events that mean the same may have been written in two ways.
    assert len(journal) <= len(entries)
    assert all(entry.parent is None or entry.parent in journal for entry in journal)


@given(older_journals())
def test_a_notebook_and_a_journal_of_one_session_are_converted_alike(
    entries: list[dict[str, Any]],
) -> None:
    text = "".join(f"{each}\n" for each in (line({"journal": 1}), *map(older_line, entries)))
    journal, index = Journal.loads(text), {each["id"]: n for n, each in enumerate(entries)}
    rows = [
        [index.get(each["parent"], -1), each["event"], each.get("meta", {})] for each in entries
    ]
    part = {"parent": None, "head": entries[-1]["id"], "events": rows, "texts": {}}
    upgrade = Upgrade()
    saved = upgrade.saved_part(part)
    assert set(upgrade.ids.values()) == {entry.id for entry in journal}
    assert saved["head"] in journal
    assert saved == Upgrade().saved_part(part)


@given(older_journals(), st.integers(0, 10_000), st.integers(0, 6))
def test_an_older_line_that_was_changed_ends_what_is_read(
    entries: list[dict[str, Any]], at: int, bit: int
) -> None:
    text = "".join(f"{each}\n" for each in (line({"journal": 1}), *map(older_line, entries)))
    at %= len(text)
    changed = text[:at] + chr(ord(text[at]) ^ (1 << bit)) + text[at + 1 :]
    whole, (kept, left) = Journal.loads(text), Journal.salvage(changed)
    assert changed.endswith(left)
    assert left != ""
    assert [entry.id for entry in kept] == [entry.id for entry in whole][: len(kept)]


def test_the_lessons_are_of_todays_version() -> None:
    held = [path.read_text() for path in (Path(__file__).parents[2] / "notebooks").glob("*.ipynb")]
    cells = [cell for text in held for cell in json.loads(text)["cells"]]
    outputs = [
        output["data"] for cell in cells for output in cell.get("outputs", ()) if "data" in output
    ]
    parts = [data[MIME]["journal"] for data in outputs if "journal" in data.get(MIME, {})]
    assert len(parts) > 20
    assert {part.get("version") for part in parts} == {VERSION}
