"""Schemes compared: the same tasks in each of them, and what each of them costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_toolcall import Session, Tool, Toolbox, cli
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.core.events import Call, Usage
from jupyter_toolcall.evaluation import SCHEMES, Ideal, Run, Task, compare, table, tasks_in
from jupyter_toolcall.evaluation.request_tokens import Tokens, as_sent, served, tokens
from jupyter_toolcall.kitchen import Potato
from jupyter_toolcall.schemes import scheme_named
from jupyter_toolcall.schemes.messages import Reply, Request

FILE = Path(__file__).parents[1] / "tasks.py"
TASKS = {task.name: task for task in tasks_in(FILE)}
OPENLY = ("select", "current", "flat")
"""The schemes that offer tools by the model's own interface."""


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def sum_task(**changes: Any) -> Task:
    given: dict[str, Any] = {
        "name": "sum",
        "prompt": "Add 1 and 2.",
        "toolbox": Toolbox(add),
        "outputs": {"total": int},
        "plan": [("add", {"a": 1, "b": 2}), ("save", {"total": 3})],
        **changes,
    }
    return Task(**given)


def one(task: Task, scheme: str = "flat", model: Any = "ideal", **options: Any) -> Run:
    (run,) = compare([task], [scheme], [model], **options)
    return run


def heard(task: Task, scheme: str) -> list[Request]:
    """What the ideal model was asked, turn by turn."""
    asked: list[Request] = []
    ideal = Ideal(task.course)

    def model(request: Request) -> Reply:
        asked.append(request)
        return ideal(request)

    opened(task, scheme, model).tell(task.prompt)
    return asked


def opened(task: Task, scheme: str, model: Any) -> Session:
    return Session(
        task.toolbox,
        model,
        scheme=scheme_named("native(flat)" if scheme == "native" else scheme),
        inputs=task.inputs,
        outputs=task.outputs,
        approve="all",
    )


# -- the model that makes no mistake -----------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", TASKS)
def test_the_ideal_model_solves_every_task_in_every_scheme(name: str, scheme: str) -> None:
    task = TASKS[name]
    session = opened(task, scheme, Ideal(task.course)).tell(task.prompt)
    assert {call.status for call in session.calls} == {"succeeded"}
    assert set(session.outputs) == set(task.outputs)
    assert task.accepts(session.outputs, session.text)
    mine = [call.tool for call in session.calls if not call.tool.startswith(("select", "_"))]
    assert mine == [tool for tool, _ in task.course]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_ideal_model_says_the_same_to_a_replay_and_after_a_fork(scheme: str) -> None:
    task = TASKS["picture"]
    session = opened(task, scheme, Ideal(task.course)).tell(task.prompt)
    entries = len(session.journal)
    assert session.replay().run().head == session.head
    assert len(session.journal) == entries
    third = session.fork(session.calls[2]).run()
    assert [(c.tool, c.arguments) for c in third.calls] == [
        (c.tool, c.arguments) for c in session.calls
    ]


def test_it_selects_at_once_all_that_is_listed_and_later_what_came_to_be() -> None:
    task = TASKS["fries"]
    session = opened(task, "select", Ideal(task.course)).tell(task.prompt)
    assert [call.arguments["tools"] for call in session.calls if call.tool == "selectTools"] == [
        ["Potato_rinse", "Potato_peel", "Potato_slice", "Oven_bake"],
        ["Fries_plate"],
    ]


def test_it_goes_to_another_object_only_where_that_is_not_current() -> None:
    task = TASKS["picture"]
    session = opened(task, "current", Ideal(task.course)).tell(task.prompt)
    went = [call for call in session.calls if call.tool.startswith("_use_")]
    assert [(c.tool, dict(c.arguments)) for c in went] == [
        ("_use_Picture", {"id": "Picture#1"}),
        ("_use_Picture", {"id": "Picture#1"}),
    ]
    assert [call.tool for call in session.calls][:2] == ["_use_Picture", "Picture_raise_light"]
    assert [call.tool for call in session.calls][4:6] == ["_use_Picture", "Picture_lower_noise"]


def test_it_ends_with_the_newest_objects_where_the_plan_does_not_say_what_to_save() -> None:
    assert TASKS["fries"].course[-1] == ("save", {"fries": "$Plate"})
    assert TASKS["bread"].course == tuple(TASKS["bread"].plan)


def test_without_outputs_it_says_the_last_result() -> None:
    task = sum_task(outputs={}, plan=[("add", {"a": 1, "b": 2})], check=lambda _, text: "3" in text)
    assert [one(task, scheme).solved for scheme in OPENLY] == [True, True, True]


# -- what is solved ------------------------------------------------------------------------------

WRONG_PLANS: dict[str, tuple[list[Any], str]] = {
    "a tool that there is not": ([("multiply", {}), ("save", {})], "there is no tool 'multiply'"),
    "an argument that does not fit": ([("add", {"a": "x", "b": 1}), ("save", {})], "add: "),
    "no save that fits": ([("save", {"total": "three"})], "must be a int"),
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("what", WRONG_PLANS)
def test_a_wrong_plan_is_not_solved_and_says_why(what: str, scheme: str) -> None:
    plan, said = WRONG_PLANS[what]
    run = one(sum_task(plan=plan), scheme)
    assert not run.solved
    assert run.reason.startswith("total was not saved; ")
    assert said in run.reason
    assert run.requests < 10


@pytest.mark.parametrize("scheme", OPENLY)
def test_a_plan_that_works_on_an_object_too_early_is_not_solved(scheme: str) -> None:
    fries = TASKS["fries"]
    plan = [("Fries_plate", {"Fries": "$Fries", "plate": "$Plate"}), *fries.plan]
    task = Task(
        "early", fries.prompt, fries.toolbox, fries.inputs, fries.outputs, fries.check, plan[:2]
    )
    run = one(task, scheme)
    assert not run.solved
    assert run.requests < 12


def test_a_check_decides_and_may_take_the_text_too() -> None:
    assert one(sum_task(check=lambda outputs: outputs == {"total": 3})).solved
    assert one(sum_task(check=lambda outputs, text: text == "")).solved
    assert one(sum_task(check=lambda outputs: False)).reason == "its check says no"


def failing(error: BaseException) -> Callable[..., Any]:
    def function(*_: Any) -> Any:
        raise error

    return function


def test_what_a_tool_a_check_or_a_model_raises_ends_no_more_than_its_run() -> None:
    def broken(a: int, b: int) -> int:
        """Fail."""
        raise SystemExit("out of order")

    plan = [("broken", {"a": 1, "b": 2}), ("save", {})]
    tool = one(sum_task(toolbox=Toolbox(broken), plan=plan))
    assert tool.reason == "total was not saved; broken: SystemExit: out of order"
    for error in (ValueError("no idea"), SystemExit("no idea")):
        check = one(sum_task(check=failing(error)))
        assert check.reason == f"{type(error).__name__}: no idea"
        assert (check.calls, check.turns) == (2, 2)
    model = one(sum_task(), model=failing(RuntimeError("no answer")))
    assert (model.reason, model.requests, model.turns) == ("RuntimeError: no answer", 1, 0)
    assert one(sum_task(), model=lambda request: None).reason == "the model did not reply"
    both = compare([sum_task(), sum_task(name="b")], ["flat"], [failing(KeyError("x")), "ideal"])
    assert [run.solved for run in both] == [False, False, True, True]


def test_a_model_that_finds_no_end_is_stopped() -> None:
    def forever(request: Request) -> Reply:
        return Reply(calls=(Call(f"c{request.turn}", "add", {"a": 1, "b": 1}),), stop="tools")

    run = one(sum_task(), model=forever, max_turns=7)
    assert (run.reason, run.turns) == ("it is not through after 7 turns", 7)


def test_a_request_to_a_person_is_not_solved() -> None:
    ask = Tool("ask_cook", "Ask the cook.", for_person=True)
    run = one(sum_task(toolbox=Toolbox(add, ask), plan=[("ask_cook", {}), ("save", {"total": 3})]))
    assert run.reason == "ask_cook waits for a person, and there is none"


def test_read_only_tells_the_model_that_the_rest_is_rejected() -> None:
    run = one(sum_task(plan=[("add", {"a": 1, "b": 2}), ("save", {})]), approve="read-only")
    assert run.reason == "total was not saved; add: Only read-only tools run in this session."


def test_runs_are_independent_of_one_another() -> None:
    first, second = compare([TASKS["fries"]], ["select"], attempts=2)
    assert (first.attempt, second.attempt) == (1, 2)
    assert (first.calls, first.tokens) == (second.calls, second.tokens)


# -- what it costs -------------------------------------------------------------------------------


def test_calls_turns_and_requests_of_a_tiny_task() -> None:
    """add, save; before them one selection in `select`, and nothing in `current`: add is plain."""
    counted = {run.scheme: run for run in compare([sum_task()])}
    assert {name: (run.calls, run.turns, run.requests) for name, run in counted.items()} == {
        "select": (3, 3, 3),
        "current": (2, 2, 2),
        "flat": (2, 2, 2),
        "native": (2, 2, 2),
    }


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("Peel the potato.", 4),
        ("Container_withExec", 3),
        ('{"a":1}', 5),
        ("2026", 2),
        ("HTTP", 2),
        ("internationalization", 2),
        ("für", 3),
        ("a\n\nb", 3),
    ],
)
def test_tokens_by_hand(text: str, count: int) -> None:
    assert tokens(text) == count


@given(st.lists(st.text("abAB 12_.{\n", max_size=30), max_size=6))
def test_the_cache_serves_no_more_than_was_sent_and_all_of_that(texts: list[str]) -> None:
    for text, count in zip(texts, served(texts), strict=True):
        assert count <= tokens(text)
    assert served([*texts, *texts])[len(texts) :] == [tokens(text) for text in texts]


@given(st.lists(st.text("abc", max_size=8), min_size=1, max_size=5))
def test_what_is_served_is_the_common_beginning(texts: list[str]) -> None:
    last = texts[-1]
    begun = (last[:length] for length in range(len(last) + 1))
    met = [each for each in begun if any(text.startswith(each) for text in texts[:-1])]
    assert served(texts)[-1] == tokens(max(met, key=len, default=""))


def test_what_a_provider_counted_is_taken_and_marked_as_no_estimate() -> None:
    usages = [Usage(100, 5, 0), Usage(140, 5, 90)]
    ideal = Ideal(sum_task().course)

    def counting(request: Request) -> Reply:
        reply = ideal(request)
        return Reply(reply.text, reply.calls, reply.stop, usages[request.turn])

    run = one(sum_task(), model=counting)
    assert (run.tokens, run.estimated) == (Tokens(240, 90), False)
    row = table([run]).splitlines()[-1].split()
    assert row[:8] == ["flat", "counting", "1/1", "2", "2", "2", "240", "38%"]
    assert row[8].startswith("~")


def test_an_estimate_counts_the_very_requests_that_the_model_saw() -> None:
    task = TASKS["fries"]
    texts = list(as_sent(heard(task, "flat")))
    run = one(task)
    assert run.tokens == Tokens(sum(map(tokens, texts)), sum(served(texts)))
    assert run.estimated
    assert '"Potato_slice"' in texts[0]
    assert texts[0].index('"Potato_slice"') < texts[0].index("Objects have names")
    assert texts[0].index("Objects have names") < texts[0].index("Bake me some fries")


@pytest.mark.parametrize("scheme", ["flat", "native"])
def test_a_scheme_with_the_same_tools_each_turn_keeps_its_whole_beginning(scheme: str) -> None:
    texts = list(as_sent(heard(TASKS["bread"], scheme)))
    assert all(later.startswith(text) for text, later in pairwise(texts))


def test_select_loses_its_beginning_anew_and_keeps_it_by_reference() -> None:
    requests = heard(TASKS["picture"], "select")
    anew = list(as_sent(requests))
    referred = list(as_sent(requests, by_reference=True))
    assert not anew[1].startswith(anew[0])
    pairs = list(pairwise(referred))
    assert len(pairs) == 5
    assert all(later.startswith(text) for text, later in pairs)


def test_by_reference_a_tool_is_read_where_it_was_selected_and_not_before() -> None:
    texts = list(as_sent(heard(TASKS["picture"], "select"), by_reference=True))
    definition = '"name":"Picture_blur_sky"'
    assert definition not in texts[0]
    assert texts[1].count(definition) == 1
    assert texts[1].index(definition) > texts[1].index("Raise the light of Picture#1")
    assert '"name":"Picture_invert_skin"' not in "".join(texts)


def test_select_pays_with_one_big_type_and_current_with_many_small_ones() -> None:
    runs = {(run.task, run.scheme): run.tokens.input for run in compare([*TASKS.values()], OPENLY)}
    assert runs["picture", "select"] < runs["picture", "current"] / 4
    assert runs["picture", "select"] < runs["picture", "flat"] / 4
    assert runs["bread", "current"] < runs["bread", "select"] < runs["bread", "flat"] / 2


# -- the table and the command line ----------------------------------------------------------------


def evaluated(capsys: pytest.CaptureFixture[str], *words: Any) -> tuple[int, str, str]:
    code = cli.main(["eval", *map(str, words)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_command_line_compares_all_schemes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = evaluated(capsys, FILE)
    assert (code, err) == (0, "")
    head, _, rows = out.partition("\n\n")
    assert "estimate" in head
    named = [row.split()[:3] for row in rows.splitlines()]
    assert named == [["scheme", "model", "solved"], *([name, "ideal", "3/3"] for name in SCHEMES)]


def test_each_has_a_row_for_each_task_and_json_has_every_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kept = tmp_path / "runs.json"
    options = ("--schemes", "flat,select", "--attempts", "2", "--each", "--json", kept)
    _, out, _ = evaluated(capsys, FILE, *options)
    rows = [row.split()[:4] for row in out.partition("\n\n")[2].splitlines()[1:]]
    assert rows == [
        [name, scheme, "ideal", "2/2"] for scheme in ("flat", "select") for name in TASKS
    ]
    runs = json.loads(kept.read_text())
    assert len(runs) == 12
    assert {run["attempt"] for run in runs} == {1, 2}
    assert all(run["tokens"]["input"] > run["tokens"]["cached"] >= 0 for run in runs)


def test_what_is_not_solved_stands_below_the_table() -> None:
    out = table(compare([sum_task(check=lambda outputs: False)], ["flat"], attempts=2))
    assert out.splitlines()[-2:] == [
        "",
        "not solved: 2 × its check says no (first: sum, flat, ideal)",
    ]
    assert "0/2" in out
    out = table(compare([sum_task(check=lambda outputs: False)], ["flat"]))
    assert out.splitlines()[-1] == "not solved: sum, flat, ideal: its check says no"


BAD_FILES = {
    "x = ": "bad.py, line 1: invalid syntax",
    "\nimport nothing_like_it": "bad.py, line 2: ModuleNotFoundError: No module named",
    "raise SystemExit(3)": "bad.py, line 1: SystemExit: 3",
    "open('/nowhere/at/all')": "bad.py, line 1: FileNotFoundError",
    "x = 1": "bad.py: it has no tasks; write TASKS = [Task(...), ...]",
    "TASKS = []": "it has no tasks",
    "TASKS = ['fries']": "bad.py: TASKS[0] is 'fries', and not a Task(...)",
    "TASKS = [task('a'), task('a')]": "two tasks are named 'a'",
    "\nTASKS = [task('a', prompt=' ')]": "bad.py, line 15: task 'a': its prompt is empty",
    "TASKS = [task('')]": "task '': its name is empty",
    "TASKS = [task('a', toolbox=3)]": "task 'a': its toolbox is 3; write Toolbox(...)",
    "TASKS = [task('a', outputs={})]": "task 'a': nothing tells whether it is solved",
    "TASKS = [task('a', check=3)]": "task 'a': its check is 3; give a function",
    "TASKS = [task('a', outputs=3)]": "task 'a': its outputs is 3; give a dict",
    "TASKS = [task('a', plan=3)]": "task 'a': its plan is 3; give a list",
    "TASKS = [task('a', plan=['peel'])]": "task 'a': step 1 of its plan is 'peel'; a step is",
    "TASKS = [task('a', plan=[('peel', {})])]": "its plan has to end with ('save', {...})",
    "TASKS = [task('a', plan=())]": "task 'a' has no plan, and the model ideal goes by it",
}
BEGIN = """
from functools import partial

from jupyter_toolcall import Toolbox
from jupyter_toolcall.evaluation import Task


def add(a: int) -> int:
    return a


task = partial(Task, prompt="go", toolbox=Toolbox(add), outputs={"n": int})
"""


@pytest.mark.parametrize("text", BAD_FILES)
def test_a_bad_file_is_told_in_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text if "task(" not in text else f"{BEGIN}\n{text}")
    code, out, err = evaluated(capsys, path)
    assert (code, out) == (1, "")
    assert BAD_FILES[text] in err
    assert len(err.splitlines()) == 1


def test_a_file_that_is_not_there_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, said in (("none.py", "No such file"), ("none.txt", "its name ends in .py")):
        code, _, err = evaluated(capsys, tmp_path / name)
        assert code == 1
        assert said in err
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--schemes", "sellect"], "no scheme 'sellect'"),
        (["--models", "person:me"], "what person:me asks for would run without waiting"),
        (["--models", "anthropic:some"], "say --approve all to allow that, or --approve read-only"),
        (["--models", "nobody:x", "--approve", "all"], "is no model"),
        (["--approve", "ask"], "approve='ask': nobody is there to ask; give all or read-only"),
        (["--attempts", "0"], "attempts is 0; give a whole number from 1 on"),
        (["--schemes", ","], "there is nothing to run"),
        (["--schemes", "native(select)"], "the model ideal cannot speak native(select)"),
    ],
)
def test_a_wrong_option_is_told_before_anything_runs(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = evaluated(capsys, FILE, *options)
    assert (code, out) == (1, "")
    assert said in err


def test_a_providers_model_runs_nothing_unasked_when_it_is_given_as_an_object() -> None:
    class Provided:
        name = "anthropic:some"
        asked = 0

        def __call__(self, request: Request) -> Reply:
            self.asked += 1
            return Reply("done")

    model = Provided()
    with pytest.raises(UsageError, match="what anthropic:some asks for would run without"):
        one(sum_task(), model=model)
    assert model.asked == 0
    assert not one(sum_task(), model=model, approve="read-only").solved
    assert model.asked > 0


def test_a_provider_without_a_key_is_not_solved_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    options = ("--schemes", "flat", "--models", "anthropic:claude-sonnet-5", "--approve", "all")
    code, out, _ = evaluated(capsys, FILE, *options)
    assert code == 0
    assert "0/3" in out
    assert out.count("ANTHROPIC_API_KEY is not set") == 1
    assert "not solved: 3 × " in out


def test_other_models_go_by_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--schemes", "select", "--models", "scripted:kitchen,ideal", "--each")
    _, out, _ = evaluated(capsys, FILE, *options)
    rows = [row.split()[:4] for row in out.splitlines() if row.startswith("fries")]
    assert rows == [["fries", "select", name, "1/1"] for name in ("scripted:kitchen", "ideal")]


def test_what_is_beside_a_file_of_tasks_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "tools_of_mine.py").write_text("def halve(a: int) -> int:\n    return a // 2\n")
    text = "TASKS = [task('a', toolbox=Toolbox(halve), plan=[('save', {'n': 1})])]"
    (tmp_path / "mine.py").write_text(f"{BEGIN}\nfrom tools_of_mine import halve\n{text}\n")
    (task,) = tasks_in(tmp_path / "mine.py")
    assert task.toolbox.names == ("halve",)


def test_a_task_says_at_once_what_is_wrong_with_it() -> None:
    with pytest.raises(UsageError, match="nothing tells whether it is solved"):
        Task("peel", "Peel it.", Toolbox(Potato))


def test_an_interrupt_shows_what_was_done_by_then(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.py"
    lines = [
        "def stop() -> int:\n    raise KeyboardInterrupt\n",
        "plan = [('save', {'n': 1})]",
        "TASKS = [task('a', plan=plan)]",
        "TASKS += [task('b', toolbox=Toolbox(stop), plan=[('stop', {}), *plan])]",
    ]
    path.write_text("\n".join([BEGIN, *lines]))
    code, out, err = evaluated(capsys, path, "--schemes", "flat")
    assert code == 0
    assert "stopped" in err
    assert out.splitlines()[-1].split()[:3] == ["flat", "ideal", "1/1"]
