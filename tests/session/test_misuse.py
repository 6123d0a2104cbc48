"""What a caller of the library can get wrong: it is refused in a line, and nothing runs unasked."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Rule, Scripted, Session, Tool, Toolbox, tool
from jupyter_toolcall.core.errors import DefinitionError, NotYourTurn, ToolcallError, UsageError
from jupyter_toolcall.engine.cursor import SessionHooks
from jupyter_toolcall.jupyter.input_line import ask_by_input
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.models import Reply, Request
from jupyter_toolcall.schemes.messages import Model
from jupyter_toolcall.session.sessions_together import SessionsTogether

PAID: list[int] = []
"""The amounts that were paid."""


@pytest.fixture(autouse=True)
def _nothing_paid() -> None:
    PAID.clear()


def pay(amount: int) -> str:
    PAID.append(amount)
    return f"paid {amount}"


BOX = Toolbox(pay)


def script(*amounts: int) -> Model:
    return Scripted([*(("pay", {"amount": amount}) for amount in amounts), "Done."])


def waiting(*amounts: int, **options: Any) -> Session:
    """Return a session whose first payment waits."""
    return Session(BOX, script(*amounts or (5,)), scheme="flat", **options).tell("Pay.")


@pytest.mark.parametrize(
    ("decision", "given"),
    [
        ("approve", {"arguments": {"amount": 1}}),
        ("approve", {"result": "not paid"}),
        ("approve", {"reason": "too expensive"}),
        ("reject", {"arguments": {"amount": 1}}),
        ("reject", {"result": "paid"}),
        ("edit", {"arguments": {"amount": 1}, "result": "paid"}),
        ("answer", {"arguments": {"amount": 1}, "result": "paid"}),
    ],
)
def test_a_decision_refuses_what_it_does_not_take(decision: Any, given: dict[str, Any]) -> None:
    session = waiting()
    with pytest.raises(UsageError, match=f"^'{decision}' takes no "):
        session.decide(session.pending[0], decision, **given)
    session.run()
    done = session.decide(session.pending[0], "answer", result="paid by hand").run()
    with pytest.raises(UsageError, match=f"^'{decision}' takes no "):
        done.decide_anew(done.calls[0], decision, **given)
    assert PAID == []


@pytest.mark.parametrize(
    "line", ["abort", "amount=5", "are you sure?", "no", "never", "not now", "exit", "remove it"]
)
def test_only_a_choice_or_its_letter_decides_on_the_input_line(
    line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    session = waiting()
    ask_by_input(session, session.pending[0], lambda question: line)
    assert [call.status for call in session.run().calls] == ["proposed"]
    assert (PAID, capsys.readouterr().out) == ([], "please answer a, e, n, r or s\n")
    ask_by_input(session, session.pending[0], lambda question: "approve")
    assert session.run().calls[0].result == "paid 5"


@pytest.mark.parametrize("forks", [False, True])
def test_two_sessions_of_a_journal_start_an_approved_call_once(tmp_path: Path, forks: bool) -> None:
    path = tmp_path / "a.jsonl"
    first = waiting(journal=None if forks else path)
    one, other = (first.fork() if forks else Session.load(path, BOX, script(5)) for _ in range(2))
    one.decide(one.pending[0], "approve").run()
    with pytest.raises(NotYourTurn, match="in another session of this journal, and ran: check out"):
        other.decide(other.pending[0], "approve")
    assert (PAID, len(first.journal)) == ([5], len(other.journal))
    assert other.checkout(other.branches[-1]).calls[0].result == "paid 5"


@pytest.mark.parametrize("forks", [False, True])
def test_threads_start_an_approved_call_once(forks: bool) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for number in range(1, 21):
            session = waiting()
            session.decide(session.pending[0], "approve")
            barrier = threading.Barrier(2)
            sessions = session, session.fork() if forks else session

            def run(one: Session, barrier: threading.Barrier = barrier) -> None:
                barrier.wait()
                one.run()

            threads = [threading.Thread(target=run, args=[one]) for one in sessions]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(PAID) == number
    finally:
        sys.setswitchinterval(interval)


def test_the_record_of_another_session_decides_on_nothing() -> None:
    session, other = waiting(5), waiting(9999)
    for decide in (session.decide, lambda call: session.approve_all([call])):
        with pytest.raises(NotYourTurn, match="another session"):
            decide(other.pending[0])
    assert (PAID, [call.status for call in session.calls]) == ([], ["proposed"])


def test_all_waiting_calls_are_approved_as_they_are_listed() -> None:
    calls = [("pay", {"amount": amount}) for amount in (1, 2)]
    session = Session(BOX, Scripted([calls, "Done."]), scheme="flat").tell("Pay.")
    assert len({*session.pending}) == 2
    session.approve_all(session.pending).run()
    assert PAID == [1, 2]


MARKS: list[tuple[dict[str, Any], str]] = [
    ({"read_only": True, "destructive": True}, "changes nothing"),
    ({"pure": True, "destructive": True}, "changes nothing"),
    ({"pure": True, "external": True}, "changes nothing"),
    ({"max_result": 0}, "max_result is 0"),
    ({"max_result": "x"}, "max_result is 'x'"),
    ({"read_only": "no"}, "read_only is 'no'; write True or False"),
    ({"sees_withheld": 0}, "sees_withheld is 0"),
]


@pytest.mark.parametrize(("marks", "message"), MARKS)
def test_a_tool_and_its_decorator_refuse_wrong_marks(marks: dict[str, Any], message: str) -> None:
    with pytest.raises(DefinitionError, match=f"@tool: .*{message}"):
        tool(**marks)(print)
    with pytest.raises(DefinitionError, match=f"'p': .*{message}"):
        Tool("p", "", {"type": "object"}, print, **marks)


@dataclass
class Plan:
    city: str


def test_a_loaded_session_keeps_the_limits_and_the_types_that_it_is_given(tmp_path: Path) -> None:
    path, outputs = tmp_path / "a.jsonl", {"plans": list[Plan]}
    limits: dict[str, Any] = {"approve": "all", "breaks": "pay"}
    model = Scripted([("pay", {"amount": 1}), ("save", {"plans": [{"city": "Bonn"}]})])
    Session(BOX, model, scheme="flat", outputs=outputs, journal=path, **limits).tell("Pay.")
    loaded = Session.load(path, BOX, model, outputs=outputs, **limits).run()
    assert (PAID, [call.status for call in loaded.calls]) == ([], ["proposed"])
    assert loaded.decide(loaded.pending[0]).run().outputs == {"plans": [Plan("Bonn")]}
    with pytest.raises(UsageError, match=r"has the output 'plans' as list\[Plan\], not as str"):
        Session.load(path, BOX, model, outputs={"plans": str})
    with pytest.raises(UsageError, match=r"break pya: .* Did you mean pay"):
        Session.load(path, BOX, model, breaks="pya")
    with pytest.raises(UsageError, match="'other' among plans"):
        Session.load(path, BOX, model, outputs={"other": str})
    with pytest.raises(UsageError, match="outputs: 5 is no dict by names"):
        Session.load(path, BOX, model, outputs=5)  # type: ignore[arg-type]


def test_a_substitute_stays_in_a_toolbox_with_more_types() -> None:
    def pay(amount: int) -> str:
        return "nothing"

    substitute = BOX.with_tools({"pay": Toolbox(pay)["pay"]})
    for inputs in ({}, {"plan": Path()}, {"plan": Plan("Bonn")}, {"lock": threading.Event()}):
        session = Session(substitute, script(5), scheme="flat", approve="all", inputs=inputs).tell(
            "Pay."
        )
        assert session.calls[0].result == "nothing"
    assert PAID == []
    with pytest.raises(DefinitionError, match="'other' is given a tool that is named 'pay'"):
        BOX.with_tools({"other": BOX["pay"]})


def test_sessions_of_one_toolbox_have_output_types_of_their_own() -> None:
    classes = [type("Plan", (Plan,), {"__module__": __name__}) for _ in range(2)]
    model = Scripted([("save", {"plans": [{"city": "Bonn"}]})])
    kinds: list[Any] = [list.__class_getitem__(cls) for cls in classes]
    sessions = [Session(BOX, model, scheme="flat", outputs={"plans": kind}) for kind in kinds]
    for session, cls in zip(sessions, classes, strict=True):
        assert type(session.tell("Plan.").outputs["plans"][0]) is cls


def test_an_interrupt_closes_all_sessions_though_one_cannot_be_reported() -> None:
    ended, closed, interrupted = list[int](), list[int](), threading.Event()

    def reply(request: Request) -> Reply:
        interrupted.wait(10)
        return Reply("late")

    @contextmanager
    def opened(number: int) -> Iterator[Session]:
        if number == 2:
            os.kill(os.getpid(), signal.SIGINT)
        try:
            yield Session(BOX, reply, scheme="flat").ask("Hello")
        finally:
            closed.append(number)

    def on_end(number: int, session: Session | None, error: BaseException | None) -> None:
        ended.append(number)
        if number == 0:
            raise RuntimeError("the disk is full")

    try:
        with pytest.raises(KeyboardInterrupt):
            SessionsTogether(opened, on_end, 3).run(range(3))
    finally:
        interrupted.set()
    assert sorted(ended) == sorted(closed)
    assert {0, 1} <= {*closed}


@pytest.mark.parametrize("broken", ["policy", "model"])
def test_a_panel_says_that_a_run_failed_whatever_was_raised(broken: str) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("boom")

    options: dict[str, Any] = {"approve": fail} if broken == "policy" else {}
    session = Session(BOX, fail if broken == "model" else script(5), scheme="flat", **options)
    controller = PanelController(session.ask("Pay."), lambda notice: None)
    with pytest.raises(RuntimeError):
        controller.run_to_pause()
    assert controller.phase == "failed"


def test_a_rule_that_cannot_be_kept_approves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = waiting()
    call = session.state.call("call_1")
    digest = session.cursor.prepared(call, session.state)[0].approval_digest
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_TOOLCALL_DATA", str(tmp_path / "file"))
    controller = PanelController(session, lambda notice: None)
    command = {"type": "add_rule", "call": call.id, "approval_digest": digest, "number": 0}
    controller.receive({**command, "scope": "computer", "until": "removed"})
    controller.apply_commands()
    assert [call.status for call in controller.session.run().calls] == ["proposed"]
    assert PAID == []


def test_the_hooks_of_calls_that_run_together_are_closed_after_an_error() -> None:
    events, ended = list[str](), threading.Event()

    class Watch(SessionHooks):
        @contextmanager
        def around_execution(self, call: Any) -> Iterator[Any]:
            events.append(f"open {call.call_id}")
            try:
                yield lambda outcome: None
            finally:
                events.append(f"close {call.call_id}")

    @tool(read_only=True)
    def look(x: int) -> int:
        # The second ends after the policy has failed for the end of the first.
        assert x == 1 or ended.wait(10)
        return x

    def policy(tool: Tool, arguments: Any) -> Any:
        if any(event.startswith("close") for event in events):
            ended.set()
            raise RuntimeError("boom")
        return "approve", "read-only"

    calls = [("look", {"x": 1}), ("look", {"x": 2})]
    session = Session(Toolbox(look), Scripted([calls]), scheme="flat", approve=policy, jobs=2)
    session.cursor.context.hooks = (Watch(),)
    with pytest.raises(RuntimeError, match="boom"):
        session.tell("Look.")
    assert sorted(events) == ["close call_1_1", "close call_1_2", "open call_1_1", "open call_1_2"]


def test_save_replaces_a_session_and_nothing_else(tmp_path: Path) -> None:
    session, file = waiting(), tmp_path / "analysis.py"
    file.write_text("precious")
    for path in (file, tmp_path):
        with pytest.raises(UsageError, match="is no session, and stays as it is"):
            session.save(path)
    with pytest.raises(UsageError, match="is a folder"):
        Session.load(tmp_path, BOX)
    assert file.read_text() == "precious"
    session.save(tmp_path / "a.jsonl")
    session.save(tmp_path / "a.jsonl")


def test_the_names_of_objects_are_what_a_session_holds() -> None:
    session = waiting(inputs={"plan": Plan("Bonn")})
    assert ([*session], "Plan#1" in session, "Plan#2" in session) == (["Plan#1"], True, False)


def test_a_branch_is_found_by_name_though_a_call_has_that_id() -> None:
    session = waiting(approve="all")
    edited = session.edit("call_1", amount=7).run()
    edited.name_branch("call_1")
    assert edited.checkout("main").checkout("call_1").calls[0].result == "paid 7"


@pytest.mark.parametrize(
    "misuse",
    [
        lambda session: session.query(3, None),
        lambda session: session.transform(3, None),
        lambda session: session.approve_all("call_1"),
        lambda session: session.approve_all(3),
    ],
)
def test_what_is_of_another_type_is_refused_in_a_line(misuse: Callable[[Session], object]) -> None:
    session = waiting(approve="all")
    with pytest.raises(ToolcallError) as raised:
        misuse(session)
    assert "\n" not in str(raised.value)


def test_a_rule_judges_by_what_it_shows() -> None:
    conditions = {"amount": {"maximum": 20}}
    rule = Rule("pay", "run", conditions)
    conditions["amount"]["maximum"] = 5000
    assert rule.arguments == {"amount": {"maximum": 20}}
    assert replace(rule).arguments == rule.arguments
