"""A local model: what it is told, what is made of what it writes, and what can go wrong.

What it writes is given by plain functions; the process that holds the weights is real,
with a stand-in for the runtime in it. The real one is in test_local_real.py.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from jupyter_toolcall import Session, Toolbox
from jupyter_toolcall.core.errors import ModelError, UsageError
from jupyter_toolcall.core.events import Call, Usage
from jupyter_toolcall.kitchen import Fries, Oven, Plate, Potato, Sink
from jupyter_toolcall.models.local import Local, Weights, weights
from jupyter_toolcall.models.local_wire import End, Piece, Settings, reply
from jupyter_toolcall.models.local_wire import turn_body as body
from jupyter_toolcall.models.named import is_name, model_named
from jupyter_toolcall.schemes.messages import Assistant, Reply, Request, Result, Results, User
from jupyter_toolcall.tools.tool import Tool

PLAIN, CHAT = Settings(False, 100, 0.0), Settings(True, 100, 0.0)
PEEL = '{"tool":"Potato_peel","arguments":{"Potato":"Potato#1"}}'


# -- what it is told ---------------------------------------------------------------------------


def test_a_request_becomes_turns_that_alternate_and_end_with_the_person() -> None:
    call = Call("c1", "peel", {"n": 1})
    request = Request(
        "You cook.",
        (),
        (
            User("Peel."),
            Assistant("First I peel.", (call,)),
            Results((Result("c1", '{"result": 1}'),), "It is noon."),
            User("Go on, please."),
            Assistant("Done."),
            Assistant("Really."),
        ),
    )
    assert body(request, CHAT)["messages"] == [
        {"role": "system", "content": "You cook."},
        {"role": "user", "content": "Peel."},
        {"role": "assistant", "content": 'First I peel.\n{"tool":"peel","arguments":{"n":1}}'},
        {"role": "user", "content": 'peel: {"result": 1}\nIt is noon.\n\nGo on, please.'},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": "Really."},
        {"role": "user", "content": "Go on."},
    ]


def test_without_a_template_the_turns_are_written_out_and_the_model_carries_on() -> None:
    made = body(Request("You cook.", (), (User("Peel."), Assistant("No."), User("Do."))), PLAIN)
    heads = "### User\nPeel.\n\n### Assistant\nNo.\n\n### User\nDo.\n\n### Assistant\n"
    assert made["prompt"] == f"You cook.\n\n{heads}"
    assert made["stop"] == ["\n###"]
    assert "grammar" not in made


def test_the_tools_are_told_and_bound_by_a_grammar() -> None:
    tool = Tool("mix", "Mix all.", {"type": "object", "title": "T", "properties": {"x": {}}})
    made = body(Request("", (tool,), (User("Go."),), turn=3), PLAIN)
    told = '{"type":"object","properties":{"x":{}}}'
    line = f'{{"tool":"mix","description":"Mix all.","parameters":{told}}}'
    assert f"\n{line}\n" in made["prompt"]
    assert made["grammar"].startswith("%llguidance {}\nstart: ")
    assert made["seed"] == 3


def test_half_a_character_is_not_sent() -> None:
    tool = Tool("mix\ud800", "\ud800", {"type": "object"})
    str(body(Request("\ud800", (tool,), (User("\udfff"),)), PLAIN)).encode()


# -- what is made of what it writes ------------------------------------------------------------


def told(*pieces: Piece, calls: bool = True) -> tuple[Reply, list[str]]:
    heard: list[str] = []
    return reply(pieces, 4, calls, heard.append), heard


def test_text_streams_and_calls_do_not() -> None:
    said, heard = told("It is ", "clean.", "\n", PEEL[:9], PEEL[9:], End("stop", Usage(5, 2)))
    call = Call("call_5", "Potato_peel", {"Potato": "Potato#1"})
    assert said == Reply("It is clean.", (call,), "tools", Usage(5, 2))
    assert heard == ["It is ", "clean."]


def test_text_alone_ends_the_run_and_its_line_breaks_are_heard_in_time() -> None:
    said, heard = told("One.", "\n", "Two.", End("stop"))
    assert said == Reply("One.\nTwo.", (), "end")
    assert heard == ["One.", "\nTwo."]


def test_calls_of_one_turn_have_ids_of_their_own() -> None:
    said, _ = told(f"{PEEL}\n{PEEL}", End("stop"))
    assert [call.id for call in said.calls] == ["call_5_1", "call_5_2"]


@pytest.mark.parametrize("reason", ["length", "context"])
def test_nothing_runs_of_a_turn_that_came_to_no_end(reason: str) -> None:
    said, _ = told(f"Text.\n{PEEL}", End(reason))
    assert (said.text, said.calls, said.stop) == ("Text.", (), reason)


@pytest.mark.parametrize("at", range(len(PEEL)))
def test_nothing_runs_of_what_is_cut_at_any_character(at: int) -> None:
    with pytest.raises(ModelError, match="cut off before its end"):
        told(PEEL[:at])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not valid JSON"),
        ('{"tool":"a","arguments":{"n":NaN}}', "NaN"),
        ('{"tool":"a","arguments":{"n":1,"n":2}}', "twice"),
        ('{"tool":"a"}', "a call is"),
        ('{"tool":"a","arguments":[]}', "a call is"),
    ],
)
def test_what_is_no_call_is_told_and_not_guessed_at(line: str, said: str) -> None:
    (call,) = told(line, End("stop"))[0].calls
    assert said in call.broken


def test_spoken_calls_are_text() -> None:
    said, heard = told(PEEL, End("stop"), calls=False)
    assert said == Reply(PEEL, (), "end")
    assert heard == [PEEL]


# -- a model as any other ------------------------------------------------------------------------


class Says:
    """Writes one text a turn, and keeps what it was told."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.bodies: list[dict[str, Any]] = []

    def __call__(self, body: dict[str, Any]) -> Iterator[Piece]:
        self.bodies.append(body)
        yield from self.texts.pop(0)
        yield End("stop", Usage(10, 2, 4))


KITCHEN = Toolbox(Potato, Oven, Fries, types=(Sink, Plate))
XML = (
    '<tool-calls><tool-call tool="Potato" function="peel">'
    '<parameter name="Potato">Potato#1</parameter></tool-call></tool-calls>'
)


@pytest.mark.parametrize(
    ("scheme", "native", "texts"),
    [
        ("flat", False, [PEEL]),
        ("select", False, ['{"tool":"selectTools","arguments":{"tools":["Potato_peel"]}}', PEEL]),
        (
            "current",
            False,
            [
                '{"tool":"_use_Potato","arguments":{"id":"Potato#1"}}',
                '{"tool":"Potato_peel","arguments":{}}',
            ],
        ),
        ("flat", True, [XML]),
    ],
)
def test_it_is_a_model_in_every_scheme(scheme: Any, native: bool, texts: Sequence[str]) -> None:
    says = Says(*texts, "Done.")
    heard: list[str] = []
    model = Local(generate=says, on_text=heard.append)
    inputs = {"potato": Potato()}
    session = Session(
        KITCHEN, model, scheme=scheme, native=native, inputs=inputs, approve="all"
    ).tell("Peel it.")
    assert session["Potato#2"] == Potato(peeled=True)
    assert session.text == "Done."
    assert "".join(heard).endswith("Done.")
    assert session.usage.input == 10 * len(says.bodies)
    assert all(("grammar" in made) is not native for made in says.bodies)


def test_a_session_asks_for_the_same_words_again_from_the_same_place() -> None:
    says = Says("One.", "Two.")
    model = Local(generate=says)
    Session(KITCHEN, model, inputs={"potato": Potato()}).tell("Go.").tell("On.")
    first, second = (made["prompt"] for made in says.bodies)
    assert second.startswith(first + "One.")


def test_what_hears_the_text_can_end_the_turn() -> None:
    closed = []

    def endless(body: dict[str, Any]) -> Iterator[Piece]:
        try:
            while True:
                yield "and on "
        finally:
            closed.append(True)

    def stop(text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Local(generate=endless, on_text=stop)(Request("", (), (User("Go."),)))
    assert closed


def test_it_is_named_by_a_path_or_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUPYTER_TOOLCALL_GGUF", raising=False)
    named, bare = model_named("local:some/small.gguf"), model_named("local")
    assert getattr(named, "name", "") == "local:small.gguf"
    assert is_name("local")
    assert bare is not None
    with pytest.raises(ModelError, match="no model file is named: give -m local:PATH, or set"):
        bare(Request("", (), ()))
    with pytest.raises(UsageError, match="'anthropic' is no model"):
        model_named("anthropic")


# -- the file ------------------------------------------------------------------------------------


def packed(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def gguf(template: bool = False, context: int = 2048) -> bytes:
    """Return the head of a file, as such files begin."""
    entries = [
        packed("general.architecture") + struct.pack("<I", 8) + packed("toy"),
        packed("toy.context_length") + struct.pack("<II", 4, context),
        packed("tokenizer.tokens") + struct.pack("<IIQ", 9, 8, 2) + packed("a") + packed("ß"),
        packed("tokenizer.scores") + struct.pack("<IIQ2f", 9, 6, 2, 0.5, 1.5),
        packed("general.rate") + struct.pack("<Id", 12, 0.5),
    ]
    if template:
        entries.append(packed("tokenizer.chat_template") + struct.pack("<I", 8) + packed("{{ x }}"))
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries)


def test_a_file_says_its_context_and_whether_it_has_a_template(tmp_path: Path) -> None:
    file = tmp_path / "toy.gguf"
    file.write_bytes(gguf())
    assert weights(file) == Weights(2048, False)
    file.write_bytes(gguf(template=True, context=99) + b"weights")
    assert weights(file) == Weights(99, True)


@pytest.mark.parametrize("at", range(0, len(gguf()), 7))
def test_a_file_that_is_cut_anywhere_is_told_in_one_line(tmp_path: Path, at: int) -> None:
    file = tmp_path / "toy.gguf"
    file.write_bytes(gguf()[:at])
    with pytest.raises(ModelError, match=r"^toy\.gguf is (no GGUF file|broken).*$"):
        weights(file)


def test_a_file_that_lies_about_its_lengths_is_broken(tmp_path: Path) -> None:
    file = tmp_path / "toy.gguf"
    file.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 1 << 60))
    with pytest.raises(ModelError, match="broken"):
        weights(file)


def test_a_file_that_is_not_there_or_too_big_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"^there is no file nowhere\.gguf"):
        Local("nowhere.gguf")(GO)
    big = tmp_path / "big.gguf"
    with big.open("wb") as file:
        file.truncate(1 << 42)
    with pytest.raises(ModelError, match=r"^big\.gguf takes 4398\.0 GB of memory, and this"):
        Local(big)(GO)


# -- the process -----------------------------------------------------------------------------------

GO, AGAIN = Request("", (), (User("Go."),)), Request("", (), (User("And again."),))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of small files, and a runtime for them."""
    runtime = str(Path(__file__).parents[1] / "standin" / "llama")
    monkeypatch.syspath_prepend(runtime)
    monkeypatch.setenv("PYTHONPATH", runtime)
    return tmp_path


def held(place: Path, does: str, **options: Any) -> Local:
    file = place / f"{does}.gguf"
    file.write_bytes(gguf(template=does == "chats"))
    return Local(file, **options)


@pytest.mark.parametrize("does", ["talks", "chats"])
def test_a_model_in_its_process_talks_on_one_thread_with_the_files_context(
    place: Path, does: str
) -> None:
    heard: list[str] = []
    said = held(place, does, on_text=heard.append)(GO)
    assert said == Reply("Here I am, on 1 of 2048.", (), "end", Usage(7, 3, 2))
    assert heard == ["Here ", "I am, ", "on 1 of 2048."]


def test_without_the_runtime_what_to_install_is_said(tmp_path: Path) -> None:
    if find_spec("xllamacpp"):
        pytest.skip("xllamacpp is installed here")
    file = tmp_path / "toy.gguf"
    file.write_bytes(gguf())
    with pytest.raises(ModelError, match=r"pip install 'jupyter-toolcall\[local\]'"):
        Local(file)(GO)


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("bad", r"^bad\.gguf could not be loaded or run: unknown architecture$"),
        ("killed", r"^killed\.gguf: its process was ended by signal 9; .*too little memory"),
        ("refuses", r"^the model could not be asked: failed to parse grammar$"),
        ("unbound", r"^the model could not be asked: at 2\(8\): no such rule$"),
        ("cut", "cut off before its end"),
    ],
)
def test_what_goes_wrong_there_is_one_line_here_and_no_process_is_left_in_the_way(
    place: Path, does: str, said: str
) -> None:
    model = held(place, does)
    for _ in range(2):
        with pytest.raises(ModelError, match=said):
            model(GO)
    assert held(place, "talks")(GO).stop == "end"


def test_a_prompt_that_is_too_long_is_told_as_such(place: Path) -> None:
    assert held(place, "small")(GO) == Reply(stop="context")


@pytest.mark.parametrize("does", ["silent", "endless"])
def test_an_interrupt_passes_at_once_and_the_model_answers_again(place: Path, does: str) -> None:
    def interrupt(text: str) -> None:
        if text.startswith("and on"):
            raise KeyboardInterrupt

    model = held(place, does, on_text=interrupt)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            model(GO)
        assert model(AGAIN).text == "Here I am, on 1 of 2048."


def test_an_interrupted_session_continues(place: Path) -> None:
    session = Session(Toolbox(), held(place, "silent")).ask("Go.")
    with pytest.raises(KeyboardInterrupt):
        session.run()
    assert session.tell("And again.").text == "Here I am, on 1 of 2048."
