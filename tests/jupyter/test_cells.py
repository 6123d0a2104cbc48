"""What a cell's line does to the sessions of its kernel."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from jupyter_toolcall import Scripted, Session
from jupyter_toolcall.core.errors import ModelError, NotKept, UsageError
from jupyter_toolcall.core.events import Asked
from jupyter_toolcall.jupyter.cell_prompts import add_prompt, filled_prompt
from jupyter_toolcall.jupyter.cells import Cells
from jupyter_toolcall.jupyter.input_line import split
from jupyter_toolcall.jupyter.options import parse_options
from jupyter_toolcall.jupyter.subcommands import carry_out
from jupyter_toolcall.kitchen import Potato, Sink
from jupyter_toolcall.schemes.messages import Reply, Request
from tests.faults.disks import Faulty


@dataclass
class Kernel:
    """The sessions of a kernel, and its variables."""

    cells: Cells
    variables: dict[str, Any]

    def run(self, line: str, text: str = "Go.") -> Session:
        chosen = parse_options(line)
        session = self.cells.session(chosen, self.variables)
        said = add_prompt(session, filled_prompt(text, session, self.variables), chosen.fresh)
        return self.cells.keep(said.run())

    def line(self, text: str) -> Any:
        made = carry_out(split(text), self.cells, {})
        return self.cells.keep(made) if isinstance(made, Session) else None


SCRIPT = [("Potato_rinse", {"sink": "$Sink"}), "one", ("Potato_peel", {}), "two", "three", "four"]


@pytest.fixture
def kernel() -> Kernel:
    model = Scripted(SCRIPT)
    variables = {"Potato": Potato, "potato": Potato(), "sink": Sink(), "m": model}
    return Kernel(Cells(), variables)


UNNAMED = "-m m -t Potato -i potato sink --scheme flat"
OPEN = f"-n a {UNNAMED}"


def test_a_later_cell_changes_what_it_says_and_keeps_the_rest(kernel: Kernel) -> None:
    kernel.run(f"{OPEN} --approve all")
    later = kernel.run("-n a --approve none", "Again.")
    assert [call.status for call in later.calls] == ["succeeded", "proposed"]
    assert later.state.opened.scheme == "flat"
    kernel.cells.keep(later.decide(later.pending[0], "reject").run())
    kernel.variables["other"] = Scripted([*[""] * 4, ("Potato_peel", {}), "done"])
    assert kernel.run("-n a -m other --approve all", "Peel.").calls[-1].status == "succeeded"


def test_next_continues_a_session_that_is_at_its_limit_of_turns(kernel: Kernel) -> None:
    assert kernel.run(f"{OPEN} --approve all --max-turns 1").run().text == ""
    assert kernel.line("next").text == "one"


def test_the_tools_of_a_toolset_or_a_variable_are_listed_before_there_is_a_session(
    kernel: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    carry_out(["tools", "tables", "Potato"], kernel.cells, {}, kernel.variables)
    listed = capsys.readouterr().out
    assert "tables_aggregate: Group rows by columns" in listed
    assert "Potato_peel: " in listed
    with pytest.raises(UsageError, match=r"in this kernel; %%toolchat opens one"):
        carry_out(["tools"], kernel.cells, {}, kernel.variables)
    with pytest.raises(UsageError, match="no variable tabels in this notebook"):
        carry_out(["tools", "tabels"], kernel.cells, {}, kernel.variables)


class Pot:
    """What water is in."""


def fill(pot: Pot) -> Pot:
    """Fill it."""
    return pot


def fill_to_the_brim(pot: Pot) -> Pot:
    """Fill it."""
    return Pot()


fill_to_the_brim.__name__ = "fill"


def test_a_name_of_data_in_a_prompt_is_its_text_with_and_without_an_input(kernel: Kernel) -> None:
    kernel.variables |= {"content": "I'm a strawberry!", "limit": 3, "rows": [1, 2]}
    text = "Read {content} {limit} times, and {rows}."
    without = kernel.run(f"{OPEN} --approve all", text)
    line = "-n b -m m -t Potato --scheme flat -i content limit:often rows --approve all"
    given = kernel.run(line, text)
    asked = "Read I'm a strawberry! 3 times, and [1, 2]."
    assert without.state.prompt == given.state.prompt == asked
    description = given.requests[0].request.system
    assert '- str#1: "I\'m a strawberry!" (content)' in description
    assert "- int#1: 3 (often)" in description
    kernel.variables["content"] = "second"
    later = kernel.run("-n b -i content", "Again.")
    assert '- str#2: "second" (content)' in later.requests[-1].request.system
    assert (later["str#1"], later["str#2"]) == ("I'm a strawberry!", "second")


def test_a_bound_method_is_a_tool_of_a_cell(kernel: Kernel) -> None:
    session = kernel.run("-m m -t potato.peel --scheme flat --approve all")
    assert session.cursor.context.toolbox.names == ("peel",)
    with pytest.raises(UsageError, match=r"no variable potato\.peal"):
        kernel.run("-m m -t potato.peal")


@dataclass
class Guest:
    name: str


def test_a_line_names_lists_and_records_as_outputs(kernel: Kernel) -> None:
    saved = {"names": ["a"], "guests": [{"name": "Ann"}], "table": {"x": "1"}, "n": "2"}
    kernel.variables |= {"Guest": Guest, "m": Scripted([("save", saved)])}
    outputs = "names:list[str] guests:list[Guest]:people 'table:dict[str, int]' n:int|None"
    session = kernel.run(f"-n b -m m -o {outputs}")
    assert session.calls[0].error == ""
    assert session.outputs == {"names": ["a"], "guests": [Guest("Ann")], "table": {"x": 1}, "n": 2}


@pytest.mark.parametrize("kind", ["list[Gest]", "list[", "lists[str]", "__import__('os')"])
def test_an_output_of_an_unknown_type_is_refused_in_a_line(kernel: Kernel, kind: str) -> None:
    kernel.variables["Guest"] = Guest
    with pytest.raises(UsageError, match="no type") as error:
        kernel.run(f'-n b -m m -o "x:{kind}"')
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["Pot", "Pot.Pot"])
def test_a_module_named_as_the_type_in_it_is_not_in_its_way(kernel: Kernel, kind: str) -> None:
    module = ModuleType("Pot")
    vars(module)["Pot"] = Pot
    script = Scripted([("fill", {"pot": "Pot#1"}), ("save", {"full": "Pot#1"})])
    kernel.variables |= {"Pot": module, "pot": Pot(), "fill": fill, "m": script}
    made = kernel.run(f"-m m -t fill -i pot -o full:{kind} --scheme flat --approve all")
    assert isinstance(made.outputs["full"], Pot)
    with pytest.raises(UsageError, match="no type fill"):
        kernel.run("-m m -t fill -i pot -o full:fill --scheme flat")


@pytest.mark.parametrize("line", ["-n a", "-n a --jobs 2", "-n a -t fill"])
def test_a_later_cell_counts_on_the_same_budget(kernel: Kernel, line: str) -> None:
    script = Scripted([("fill", {"pot": "Pot#1"}), "Filled."] * 3)
    kernel.variables |= {"fill": fill, "pot": Pot(), "m": script}
    kernel.run("-n a -m m -t fill -i pot --scheme flat --approve all --budget calls=1")
    kernel.variables["fill"] = fill_to_the_brim
    later = kernel.run(line, "Again.")
    assert [call.status for call in later.calls] == ["succeeded", "proposed"]
    kernel.cells.keep(later.decide(later.pending[0], "reject").run())
    assert kernel.run("-n a --budget calls=9", "Once more.").calls[-1].status == "succeeded"


def test_an_input_that_is_named_again_is_the_same_object_unless_it_changed(kernel: Kernel) -> None:
    kernel.run(f"{OPEN} --approve all")
    later = kernel.run("-n a -i potato", "Again.")
    assert [name for name, _ in later.state.opened.inputs] == ["potato", "sink"]
    assert later.objects.count("Potato#1") == 1
    assert filled_prompt("{potato}", later, kernel.variables) == "Potato#1"
    kernel.variables["potato"] = Potato(rinsed=True, cut="STICKS")
    later = kernel.run("-n a -i potato", "Look at {potato}.")
    assert later[filled_prompt("{potato}", later, kernel.variables)].cut == "STICKS"
    assert later["Potato#1"] == Potato()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Peel {potatoe}.", r"no object or variable `potatoe`\. Did you mean {potato}\?"),
        ("Peel {Potto}, {potato}.", r"`Potto`\. Did you mean {Potato}\? Write {{Potto}} to send"),
        ("Peel {SINK}.", r"`SINK`\. Did you mean {sink}\?"),
    ],
)
def test_a_mistyped_name_fails_before_any_call(kernel: Kernel, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as failed:
        kernel.run(OPEN, text)
    assert "\n" not in str(failed.value)
    assert not kernel.cells.current().state.turns


@pytest.mark.parametrize(
    "text",
    [
        "{} { } {weather}",
        '{"potatoe": {"sinks": [1, {}]}} and {"a": {{b}}}',
        "{{potatoe}} {{potato}}",
        "f'{potatoe!r} {potatoe:>3} {potatoe.x}' ${p}$ {sinke: 1}",
        "{_i1} {out}",
    ],
)
def test_other_braces_stay_text(kernel: Kernel, text: str) -> None:
    session = kernel.run(OPEN)
    assert filled_prompt(text, session, {**kernel.variables, "Out": {}, "_potatos": 1}) == text


def approved(kernel: Kernel, options: str = "", text: str = "Go.") -> Session:
    """Return the session of a cell whose call a person approved."""
    return kernel.cells.keep(kernel.run(f"{UNNAMED}{options}", text).decide("call_1").run())


def test_a_cell_that_runs_again_adds_nothing_unless_it_is_fresh(kernel: Kernel) -> None:
    done = approved(kernel)
    count = len(done.journal)
    again = kernel.run(UNNAMED)
    assert (again.head, len(again.journal)) == (done.head, count)
    assert [call.status for call in kernel.run(f"{UNNAMED} --fresh").calls] == ["proposed"]
    fresh = approved(kernel, " --fresh")
    again = kernel.run(UNNAMED)
    assert (again.head, again.pending) == (fresh.head, ())


def test_a_cell_continues_with_the_last_run_that_has_a_reply(kernel: Kernel) -> None:
    script, is_offline = Scripted(SCRIPT), False

    def model(request: Request) -> Reply:
        if is_offline:
            raise ModelError("offline")
        return script(request)

    kernel.variables["m"] = model
    done = approved(kernel)
    is_offline = True
    with pytest.raises(ModelError):
        kernel.run(f"{UNNAMED} --fresh")
    assert kernel.run(UNNAMED).head == done.head


def test_a_policy_that_was_tightened_asks_about_what_the_old_one_allowed(kernel: Kernel) -> None:
    kernel.run(f"{UNNAMED} --approve all")
    assert [call.status for call in kernel.run(f"{UNNAMED} --approve ask").calls] == ["proposed"]


@pytest.mark.parametrize("text", ["Bearer {held}", "{api_key}"])
def test_a_prompt_has_no_secret(kernel: Kernel, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "canary-0123456789")
    kernel.variables |= {"held": "x canary-0123456789 y", "api_key": "short"}
    with pytest.raises(UsageError, match="holds a secret"):
        kernel.run(OPEN, text)


def test_a_cell_whose_prompt_holds_a_secret_runs_again_and_adds_nothing(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "canary-0123456789"
    monkeypatch.setenv("SOME_TOKEN", secret)
    done = approved(kernel, text=f"Log in with {secret}.")
    count = len(done.journal)
    again = kernel.run(UNNAMED, f"Log in with {secret}.")
    assert (again.head, len(again.journal)) == (done.head, count)
    assert secret not in done.journal.dumps()
    # What stands for nothing is another prompt.
    assert kernel.run(UNNAMED, "Log in with {secret:SOME_TOKEN}.").head != done.head


def test_a_named_session_that_is_not_kept_is_noted_once(kernel: Kernel, tmp_path: Path) -> None:
    for name in ("a", "a", ""):
        kernel.cells.warn_not_on_disk(name)
        kernel.run(f"{OPEN} --approve all" if name else UNNAMED)
    (note,) = kernel.cells.notes()
    assert "session 'a' ends with the kernel; _.save('a.jsonl')" in note
    known = Cells(str(tmp_path / "a.ipynb"))
    known.warn_not_on_disk("a")
    assert known.notes() == []


def test_a_note_on_a_journal_comes_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path))
    ours, theirs = Cells("/a.ipynb"), Cells("/a.ipynb")
    for cells in (ours, theirs):
        cells.journal("x")
    assert ours.notes() == []
    (note,) = theirs.notes()
    assert note.startswith("Another kernel writes this session,")
    assert theirs.notes() == []
    ours.close()


# -- lines --------------------------------------------------------------------------------


def test_a_line_without_a_call_is_for_the_one_that_waits(kernel: Kernel) -> None:
    kernel.variables["m"] = Scripted([("Potato_slice", {"shape": "STICKS"}), "done"])
    kernel.variables["potato"] = Potato(peeled=True)
    kernel.run(OPEN)
    assert kernel.line("edit shape=SLICES")["Potato#2"].cut == "SLICES"
    kernel.run(f"{OPEN} --fresh")
    call = kernel.line("reject it's too dirty").state.call("call_1")
    assert call.decided.reason == "it's too dirty"


def test_calls_are_named_by_number_everywhere_and_a_fresh_replay_by_none(kernel: Kernel) -> None:
    kernel.run(f"{OPEN} --approve all")
    assert [call.status for call in kernel.line("replay --fresh").calls] == ["succeeded"]
    for line in ("replay 1", "fork 1", "edit 1 sink=Sink#1"):
        assert kernel.line(line) is not None
    with pytest.raises(UsageError, match="no call '7'"):
        kernel.line("fork 7")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('answer 1 {"a": [1, 2]}', ["answer", "1", '{"a": [1, 2]}']),
        ('edit 4 sizes=[1, 2] shape="STICKS"', ["edit", "4", "sizes=[1, 2]", "shape=STICKS"]),
        ("answer {not json}", ["answer", "{not", "json}"]),
        ("reject it's raw", ["reject", "it's", "raw"]),
    ],
)
def test_json_is_one_word_of_a_line(line: str, words: list[str]) -> None:
    assert split(line) == words


# -- recordings ---------------------------------------------------------------------------


@pytest.fixture
def shelf(kernel: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    """The kernel of a notebook in a folder; it runs somewhere else."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "data"))
    kernel.cells.notebook = str(tmp_path / "work" / "a.ipynb")
    yield kernel
    kernel.cells.close()


ALL = f"{OPEN} --approve all"


def test_a_recording_beside_its_notebook_is_replayed(shelf: Kernel, tmp_path: Path) -> None:
    first = shelf.run(f"{ALL} --record takes/one.jsonl")
    assert (tmp_path / "work" / "takes" / "one.jsonl").is_file()
    for name, who in ("b", "--replay takes/one.jsonl"), ("c", "-m recorded:takes/one.jsonl"):
        again = shelf.run(ALL.replace("-m m", who).replace("-n a", f"-n {name}"))
        assert (again.text, again.calls) == (first.text, first.calls)


def test_a_recording_makes_no_folder_outside_the_notebooks(shelf: Kernel, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no folder .*; make it first"):
        shelf.run(f"{ALL} --record ../takes/one.jsonl")
    (tmp_path / "takes").mkdir()
    shelf.run(f"{ALL} --record ../takes/one.jsonl")
    assert (tmp_path / "takes" / "one.jsonl").is_file()


def test_a_break_that_no_tool_fits_and_a_wrong_option_of_values_are_errors(kernel: Kernel) -> None:
    with pytest.raises(UsageError, match=r"break Potato_peal: .*Did you mean Potato_peel\?"):
        kernel.run(f"{OPEN} --break Potato_peal")
    for name, glob in zip("bcd", ("Potato_*", "Potato_peel(*)", "[P]otato_peel[(]*"), strict=True):
        assert kernel.run(f"-n {name} {UNNAMED} --break '{glob}'").pending
    with pytest.raises(UsageError, match=r"values knows no --forgett\. Did you mean --forget\?"):
        kernel.line("values --forgett")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--record a.ipynb", "is a notebook; name a file of its own"),
        ("--record .", "cannot be written"),
        ("-n b -m person --record a.jsonl", "--replay NOTEBOOK replays it"),
        ("-n b --replay no.jsonl", "there is no recording no.jsonl"),
        ("-n b -m recorded:no.jsonl", "there is no recording no.jsonl"),
    ],
)
def test_what_cannot_be_recorded_is_said_at_once(shelf: Kernel, line: str, said: str) -> None:
    shelf.run(ALL)
    with pytest.raises(UsageError, match=said):
        shelf.run(f"-n a {line}")


def test_a_later_cell_records_and_another_model_does_not(shelf: Kernel, tmp_path: Path) -> None:
    tape = tmp_path / "work" / "one.jsonl"
    shelf.run(f"{ALL} --record one.jsonl")
    shelf.run("-n a", "Again.")
    assert tape.read_text().count("\n") == 4
    shelf.run("-n a -m m", "And again.")
    assert tape.read_text().count("\n") == 4


def test_a_new_kernel_adds_nothing_to_a_recording(shelf: Kernel, tmp_path: Path) -> None:
    line = f"{ALL} --record one.jsonl"
    shelf.run(line)
    shelf.cells.close()
    before = (tmp_path / "work" / "one.jsonl").read_bytes()
    for data in ("data", "other"):
        cells = Cells(shelf.cells.notebook)
        again = Kernel(cells, shelf.variables)
        with pytest.MonkeyPatch.context() as home:
            home.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / data))
            assert again.run(line).text == "one"
        cells.close()
    assert (tmp_path / "work" / "one.jsonl").read_bytes() == before


def test_a_torn_recording_is_said_to_be_torn_once(shelf: Kernel, tmp_path: Path) -> None:
    shelf.run(f"{ALL} --record one.jsonl")
    tape = tmp_path / "work" / "one.jsonl"
    tape.write_bytes(tape.read_bytes()[:-9])
    line = f"{ALL} --replay one.jsonl".replace("-m m ", "")
    shelf.cells.session(parse_options(line), shelf.variables)
    torn = "the last line of one.jsonl is torn and is left out; 1 turn before it is whole"
    assert [shelf.cells.notes(), shelf.cells.notes()] == [[torn], []]


# -- a new kernel -----------------------------------------------------------------------------


@pytest.fixture
def notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path))
    return str(tmp_path / "a.ipynb")


def test_a_new_kernel_continues_at_the_call_that_waits(kernel: Kernel, notebook: str) -> None:
    kernel.cells = Cells(notebook)
    waits = kernel.run(OPEN)
    kernel.cells.close()
    kernel.cells = Cells(notebook)
    again = kernel.run(OPEN)
    assert (again.head, [call.id for call in again.pending]) == (waits.head, ["call_1"])
    assert again.decide("call_1").run().text == "one"


def test_a_session_that_rests_on_disk_is_told_before_its_cell_runs(
    kernel: Kernel, notebook: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel.cells = Cells(notebook)
    kernel.run(OPEN)
    kernel.cells.close()
    kernel.cells = Cells(notebook)
    rests = (
        "session 'a' is on disk: 1 calls, 2 objects, call_1 Potato_rinse(sink='Sink#1') is not "
        "decided on. Its tools are not in this kernel: run its cell, and it goes on there"
    )
    for line in ("status -n a", "status", "sessions"):
        assert kernel.line(line) is None
        assert capsys.readouterr().out.strip() == rests
    for line in ("approve -n a", "next -n a"):
        with pytest.raises(UsageError, match=re.escape(rests)):
            kernel.line(line)


def test_a_full_disk_refuses_the_call_and_is_noted_meanwhile(kernel: Kernel, notebook: str) -> None:
    disk = Faulty()
    kernel.cells = Cells(notebook, files=disk)
    session = kernel.run(OPEN)
    disk.raises(errno.ENOSPC, "append")
    with pytest.raises(NotKept, match="the disk is full; the call did not run"):
        session.decide("call_1")
    assert [call.status for call in session.calls] == ["proposed"]
    session.decide("call_1", "reject").run()
    for _ in range(2):
        assert [note[:16] for note in kernel.cells.notes()] == ["Not on disk sinc"]
    disk.raises(0)
    assert kernel.cells.notes() == []
    kernel.cells.close()
    kernel.cells = Cells(notebook)
    assert kernel.run(OPEN).calls[0].status == "rejected"


def prompts(session: Session) -> list[str]:
    """Return what was said to the model on this branch."""
    path = session.journal.path(session.head)
    return [entry.event.text.strip() for entry in path if isinstance(entry.event, Asked)]


def test_a_cell_run_again_begins_at_its_prompt_with_its_present_options(kernel: Kernel) -> None:
    kernel.variables["m"] = Scripted(["one", "two", "three"])
    kernel.run(OPEN, "First.")
    wrong = kernel.run("-n a", "Then.")
    fresh = kernel.run("-n a --fresh", "Then.")
    assert prompts(wrong) == prompts(fresh) == ["First.", "Then."]
    assert {fresh.head, wrong.head} == {*fresh.journal.leaves()}
    fresh = kernel.run("-n a --fresh --system Slowly.", "Then.")
    assert prompts(fresh) == ["First.", "Then."]
    assert fresh.state.opened.system == "Slowly."
    assert prompts(kernel.run("-n a --fresh", "More.")) == ["First.", "Then.", "More."]
