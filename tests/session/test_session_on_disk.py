"""`Session(journal=PATH)` writes as it goes, and `Session.load` continues it: no effect twice."""

from __future__ import annotations

import contextlib
import copy
import gc
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Rule, Scripted, Session, Toolbox, tool, verify
from jupyter_toolcall.core.errors import Absent, NotKept, ToolcallError, UsageError
from jupyter_toolcall.evaluation import compare
from jupyter_toolcall.rules.approval_policy import Approve
from jupyter_toolcall.teaching import check

SERVICE = '''
import os, sys
from jupyter_toolcall import Scripted, Session, Toolbox, tool
effects, path = sys.argv[1:]

class Order:
    """An order."""

    def __init__(self, n: int) -> None:
        self.n = n

def effect(name: str) -> int:
    with open(effects, "a") as file:
        print(name, file=file)
    if name == os.environ.get("DIES_IN"):
        os._exit(9)
    return 1

@tool(read_only=True)
def find(n: int) -> Order:
    """Find."""
    return Order(n)

def pay(order: Order) -> int:
    """Pay."""
    return effect("pay")

def ship(order: Order) -> int:
    """Ship."""
    return effect("ship")

box = Toolbox(find, pay, ship)
one = {"order": "Order#1"}
model = Scripted([("find", {"n": 1}), ("pay", one), ("ship", one), "ok"])
if os.path.exists(path):
    session = Session.load(path, box, model, approve="all").run()
else:
    session = Session(box, model, scheme="flat", approve="all", journal=path).tell("go")
print(*(call.tool for call in session.pending), session.text)
'''


def service(folder: Path, dies_in: str = "") -> str:
    """Return what a process prints that opens or continues the session in a folder."""
    files = [str(folder / "effects"), str(folder / "a.jsonl")]
    program = [sys.executable, "-c", SERVICE, *files]
    environment = {**os.environ, "DIES_IN": dies_in}
    ended = subprocess.run(program, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    return str(ended.stdout).strip()


@pytest.mark.parametrize(
    ("dies_in", "before", "then", "after"),
    [
        *(("", "ok", "ok", ["pay", "ship"]), ("pay", "", "pay", ["pay"])),
        ("ship", "", "ship", ["pay", "ship"]),
    ],
)
def test_a_killed_process_leaves_a_session_that_continues_and_no_effect_comes_twice(
    tmp_path: Path, dies_in: str, before: str, then: str, after: list[str]
) -> None:
    assert service(tmp_path, dies_in) == before
    assert service(tmp_path) == then
    assert service(tmp_path) == then
    assert (tmp_path / "effects").read_text().split() == after
    assert verify(str(tmp_path / "a.jsonl"))


class Thing:
    def __init__(self, n: int = 0) -> None:
        self.n = n


@tool(read_only=True)
def make(n: int) -> Thing:
    return Thing(n)


def use(thing: Thing) -> int:
    return thing.n


BOX = Toolbox(make, use)
CALLS = [("make", {"n": 3}), ("use", {"thing": "Thing#1"}), "ok"]


ASKS: Approve = [("use", "ask"), ("*", "approve")]


def begun(path: Path | None = None, approve: Approve = ASKS) -> Session:
    return Session(BOX, Scripted(CALLS), scheme="flat", approve=approve, journal=path).tell("go")


def loaded(path: Path) -> Session:
    return Session.load(path, BOX, Scripted(CALLS), approve=ASKS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def test_a_loaded_session_has_its_values_and_its_file_has_what_it_does(path: Path) -> None:
    begun(path)
    session = loaded(path)
    assert session["Thing#1"].n == 3
    session.decide(session.pending[0]).run()
    session.save(path)
    del session
    assert [call.result for call in loaded(path).calls] == ["Thing#1", 3]
    assert loaded(path).text == "ok"


def test_an_approval_starts_no_call_in_another_process(path: Path) -> None:
    session = begun(path)
    session.decide(session.pending[0])
    del session
    gc.collect()
    session = loaded(path).run()
    assert [call.tool for call in session.pending] == ["use"]
    assert session.decide(session.pending[0]).run().calls[1].result == 3


@pytest.mark.parametrize("take", [shutil.copy, shutil.move])
def test_a_copy_of_the_file_is_read_and_asks_about_what_was_approved(
    path: Path, tmp_path: Path, take: Callable[[Path, Path], object]
) -> None:
    session = begun(path)
    session.decide(session.pending[0])
    take(path, copied := tmp_path / "b.jsonl")
    size = copied.stat().st_size
    other = loaded(copied)
    with pytest.raises(Absent, match="replay"):
        other.run()
    assert [call.tool for call in other.replay().run().pending] == ["use"]
    assert copied.stat().st_size == size
    if not path.exists():
        copied.rename(path)
    assert session.run().calls[1].result == 3


def test_loading_adds_nothing_to_the_file_also_where_the_tools_are_not_there(path: Path) -> None:
    begun(path)
    gc.collect()
    before = path.read_text()
    session = Session.load(path, Toolbox())
    assert [call.status for call in session.calls] == ["succeeded", "proposed"]
    assert path.read_text() == before


def test_a_file_is_that_of_one_session(path: Path, tmp_path: Path) -> None:
    session = begun(path)
    with pytest.raises(UsageError, match=r"has a session already; Session\.load continues it"):
        begun(path)
    with pytest.raises(UsageError, match="the journal of another session"):
        begun().save(path)
    assert loaded(path).journal is session.journal
    session.save(tmp_path / "b.jsonl")
    with pytest.raises(UsageError, match="has a session already"):
        begun(tmp_path / "b.jsonl")
    code = "import sys; from jupyter_toolcall import *; Session.load(sys.argv[1], Toolbox())"
    run = [sys.executable, "-c", code, str(path)]
    other = subprocess.run(run, capture_output=True, text=True, check=False)
    assert "another process writes it" in other.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="No process can be forked here.")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("is_on_disk", [False, True])
def test_a_forked_process_acts_on_no_approval_and_leaves_the_file_to_the_one_that_writes_it(
    path: Path, is_on_disk: bool
) -> None:
    session, code = begun(path if is_on_disk else None), 1
    session.decide(session.pending[0])
    if not (child := os.fork()):
        try:
            waiting = (*session.run().pending, *session.fork().run().pending)
            assert [call.tool for call in waiting] == ["use", "use"]
            # A person may decide again here, where nothing has to be written.
            code = 7 if session.decide(waiting[0]).run().text == "ok" and not is_on_disk else 2
        except NotKept:
            code = 7 if is_on_disk else 3
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert session.run().text == "ok"
    del session
    gc.collect()
    assert not is_on_disk or loaded(path).text == "ok"


def test_a_damaged_end_is_set_aside_with_a_warning_and_asked_about(path: Path) -> None:
    session = begun(path, "all")
    assert session.text == "ok"
    del session
    # A session is in cycles of references.
    gc.collect()
    lines = path.read_text().splitlines(keepends=True)
    # What a failing disk leaves may be no text.
    path.write_bytes("".join([*lines[:-3], lines[-1].replace("a", "b")]).encode() + b"\xff\n")
    with pytest.warns(UserWarning, match="The journal was damaged"):
        session = loaded(path)
    assert [call.tool for call in session.run().pending] == ["use"]
    del session
    gc.collect()
    # Warnings are errors: what was mended is not told again.
    loaded(path)


def _replace(path: Path) -> None:
    """Put another file of the same bytes in the place of a file."""
    shutil.copy(path, other := path.with_suffix(".new"))
    other.replace(path)


@pytest.mark.parametrize("lose", [Path.unlink, _replace, lambda path: path.rename(f"{path}.old")])
def test_no_tool_with_an_effect_runs_once_the_file_is_not_that_of_the_session(
    lose: Callable[[Path], object], tmp_path: Path
) -> None:
    effects = list[str]()

    def pay(what: str) -> str:
        effects.append(what)
        return what

    path, box = tmp_path / "a.jsonl", Toolbox(pay)
    model = Scripted([("pay", {"what": "rent"}), ("pay", {"what": "gas"}), "ok"])
    session = Session(box, model, scheme="flat", journal=path, approve=[("*", "ask")]).tell("go")
    session.decide(session.pending[0]).run()
    lose(path)
    problem = re.escape(
        "its file was deleted, moved or replaced; the call did not run. Put it back, or save a "
        "copy with session.save(PATH) and load that, then Run (or %toolchat next) goes on"
    )
    for _ in range(2):
        with pytest.raises(NotKept, match=f"^{problem}$"):
            session.decide(session.pending[0]).run()
    assert effects == ["rent"]
    session.save(tmp_path / "copy.jsonl")
    copied = Session.load(tmp_path / "copy.jsonl", box, model)
    assert [call.status for call in copied.calls] == ["succeeded", "proposed"]
    if (old := Path(f"{path}.old")).exists():
        old.rename(path)
        assert session.decide(session.pending[0]).run().text == "ok"
        assert effects == ["rent", "gas"]


@pytest.mark.parametrize("take", [copy.deepcopy, pickle.dumps])
def test_a_session_is_not_copied(take: Callable[[Any], object]) -> None:
    with pytest.raises(UsageError, match=r"session\.fork\(\)"):
        take(begun())


def test_the_text_is_that_of_the_latest_prompt() -> None:
    session = Session(BOX, Scripted(["one", "", "two", ("make", {"n": 1})]), scheme="flat")
    empty = "[The reply has no text: the model stopped without one.]"
    assert [session.tell(str(n)).text for n in range(4)] == ["one", empty, "two", ""]


@pytest.mark.parametrize(
    ("approve", "what"), [("ask", "waits for your approval"), ("read-only", "is rejected")]
)
def test_verify_says_why_a_call_may_not_run_here(approve: str, what: str, path: Path) -> None:
    begun(approve="all").save(path)
    assert str(Session.load(path, BOX, approve=approve).verify()) == (
        f"call 2, use {what} here, so it did not run again; "
        "open the session with the approve= that it ran with"
    )
    assert Session.load(path, BOX, approve="all").verify()
    lost = str(Session.load(path, Toolbox(make), approve="all").verify())
    assert re.fullmatch("call 2, use cannot run here: there is no tool .*", lost)


WRONG: list[Any] = [None, 5, b"x", [], [1], {}, object(), str, True, "a\ud800", "a\0b"]
USES: list[Callable[[Session, Any], object]] = [
    lambda session, wrong: session.approve_all(wrong),
    lambda session, wrong: session.decide("call_1", wrong),
    lambda session, wrong: session.fork(wrong),
    lambda session, wrong: session.replay(wrong),
    lambda session, wrong: session.value(wrong),
    lambda session, wrong: session.export("a.py", wrong),
    lambda session, wrong: session.export(wrong, "py"),
    lambda session, wrong: session.save(wrong),
    lambda session, wrong: verify(wrong),
    lambda session, wrong: Session.load(wrong, BOX),
    lambda session, wrong: Session(BOX, wrong, approve=wrong),
    lambda session, wrong: Session(BOX, journal=wrong),
    lambda session, wrong: Rule("double", wrong),
    lambda session, wrong: Rule("double", "run", origins=wrong),
    lambda session, wrong: Scripted(wrong),
    lambda session, wrong: Toolbox(types=[wrong]),
    lambda session, wrong: BOX.get(wrong) or wrong in BOX or BOX[wrong],
    lambda session, wrong: check(wrong),
    lambda session, wrong: compare(wrong),
    lambda session, wrong: compare([wrong]),
    lambda session, wrong: compare([], attempts=wrong),
]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("wrong", WRONG, ids=type)
def test_a_value_of_a_wrong_type_is_refused_in_one_line(
    use: Callable[[Session, Any], object], wrong: Any, tmp_path: Path
) -> None:
    error = ""
    try:
        with contextlib.chdir(tmp_path):
            use(begun(), wrong)
    except ToolcallError as refused:
        error = str(refused)
    assert (error.count("\n"), len(error) > 300) == (0, False)


@pytest.mark.parametrize("wrong", [lambda: None, lambda a, b, c: None, lambda *, a: None])
def test_a_model_or_policy_with_other_parameters_is_refused_when_it_is_given(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"^the model <.*> has to take \(request\): .*$"):
        Session(BOX, wrong)
    with pytest.raises(UsageError, match=r"^the policy <.*> has to take \(tool, arguments\): .*$"):
        Session(BOX, approve=wrong)
