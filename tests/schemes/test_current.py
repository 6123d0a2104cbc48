"""Scheme `current`, sentence by sentence of what it promises: one object, and its functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict

from jupyter_toolcall import Scripted, Session, Toolbox
from jupyter_toolcall.core.errors import UsageError
from jupyter_toolcall.engine.replay import advance
from tests.example_tools import names, results


@dataclass(frozen=True)
class File:
    """A text with a name."""

    name: str
    text: str = ""

    def contents(self) -> str:
        """Read the text."""
        return self.text

    def size(self) -> int:
        """Count the characters."""
        return len(self.text)

    def file(self, path: str) -> File:
        """Rename this file."""
        return replace(self, name=path)


@dataclass(frozen=True)
class Directory:
    """Files by name."""

    files: tuple[File, ...] = ()

    def with_file(self, file: Annotated[File, "What to put there."]) -> Directory:
        """Put a file there."""
        return Directory((*self.files, file))

    def file(self, path: str) -> File:
        """Return a file."""
        return next(file for file in self.files if file.name == path)

    def all(self) -> list[File]:
        """Return every file."""
        return list(self.files)

    def is_empty(self) -> bool:
        """Say whether there is nothing."""
        return not self.files


class Mount(BaseModel):
    """A directory at a path."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    directory: Directory
    path: str = "/"
    notes: list[File] = []


@dataclass(frozen=True)
class Container:
    """A place in which commands run."""

    log: tuple[str, ...] = ()

    def with_exec(self, args: list[str]) -> Container:
        """Run a command."""
        return Container((*self.log, " ".join(args)))

    def with_files(self, files: list[File], into: Directory | None = None) -> Container:
        """Put files somewhere."""
        names = ",".join(file.name for file in files)
        return Container((*self.log, f"{names} to {len(into.files) if into else 'nowhere'}"))

    def mount(self, mount: Mount) -> Container:
        """Mount a directory."""
        counts = len(mount.directory.files), len(mount.notes)
        return Container((*self.log, f"{mount.path} {counts}"))

    def stdout(self) -> str:
        """Say what was printed."""
        return "\n".join(self.log)

    def directory(self) -> Directory:
        """Return the directory of the log."""
        return Directory((File("log", self.stdout()),))


def empty() -> Directory:
    """Return a directory in which there is nothing."""
    return Directory()


class Clock:
    """Counts."""

    def __init__(self) -> None:
        self.time = 0

    def tick(self) -> int:
        """Count one more."""
        self.time += 1
        return self.time


USE: Any = ("_use_Container", {"id": "Container#1"})
STEP: Any = ("Container_with_exec", {"args": ["ls"]})
DIRECTORY: Any = ("_use_Directory", {"id": "Directory#1"})


def work(script: Sequence[Any], **options: Any) -> Session:
    given: dict[str, Any] = {
        "inputs": {
            "base": (Container(("start",)), "Where to begin."),
            "readme": File("readme", "Read me."),
            "folder": Directory((File("a", "A"), File("b", "BB"))),
        },
        "scheme": "current",
        "approve": "all",
        **options,
    }
    toolbox = Toolbox(Container, Directory, File, empty, Clock())
    return Session(toolbox, Scripted(script), **given)


def told(session: Session) -> list[Any]:
    return [json.loads(result.content) for result in results(session)]


def errors(session: Session) -> list[str]:
    return [call.error for call in session.calls]


OWN = ["_saveAs", "_use_Container", "_use_Directory", "_use_File"]
PLAIN = ["empty", "Clock_tick"]


# -- one current object, whose functions are the tools ------------------------------------------


FUNCTIONS = {
    "Container": ("with_exec", "with_files", "mount", "stdout", "directory"),
    "Directory": ("with_file", "file", "all", "is_empty"),
}


def test_the_tools_are_the_functions_of_the_current_object_and_no_others() -> None:
    turns: list[Any] = [USE, ("Container_directory", {})]
    for count, kind in enumerate(("", *FUNCTIONS)):
        session = work(turns[:count]).tell("go")
        of_kind = [f"{kind}_{name}" for name in FUNCTIONS.get(kind, ())]
        assert names(session) == [*OWN, *PLAIN, *of_kind]
    assert told(session) == [{"current": "Container#1"}, {"current": "Directory#2"}]


def test_a_scalar_is_a_result_and_the_current_object_stays() -> None:
    script = [
        DIRECTORY,
        *(("Directory_is_empty", {}), ("Clock_tick", {}), ("Directory_file", {"path": "b"})),
        *(("File_contents", {}), ("File_size", {}), ("File_size", {})),
    ]
    assert told(work(script).tell("go")) == [
        *({"current": "Directory#1"}, {"result": False}, {"result": 1}, {"current": "File#2"}),
        *({"result": "BB"}, {"result": 2}, {"result": 2}),
    ]


def test_a_list_of_objects_names_them_and_the_current_object_stays() -> None:
    script: list[Any] = [DIRECTORY, ("Directory_all", {})]
    script += [("Directory_is_empty", {}), ("_use_File", {"id": "File#3"}), ("File_contents", {})]
    assert told(work(script).tell("go"))[1:] == [
        *({"objects": ["File#2", "File#3"]}, {"result": False}),
        *({"current": "File#3"}, {"result": "BB"}),
    ]


def test_a_tool_is_named_by_type_and_function_and_takes_no_receiver() -> None:
    session = work([USE, ("Container_with_exec", {"args": ["ls", "-l"]})]).tell("go")
    shown = next(t for t in session.cursor.request.tools if t.name == "Container_with_exec")
    assert set(shown.definition()["parameters"]["properties"]) == {"args"}
    assert shown.definition()["parameters"]["required"] == ["args"]
    assert session["Container#2"].log == ("start", "ls -l")


def test_what_ran_has_its_receiver_so_the_lineage_is_whole() -> None:
    session = work([USE, STEP, "Well.", STEP]).tell("go").tell("and now?")
    assert session.calls[2].arguments == {"Container": "Container#2", "args": ["ls"]}
    assert session.deps("Container#3", all=True) == ("Container#2", "Container#1")


def test_a_failure_and_a_rejection_leave_the_current_object_as_it_is() -> None:
    look = ("Directory_file", {"path": "nowhere"})
    script = [DIRECTORY, look, ("Directory_is_empty", {})]
    session = work(script).tell("go")
    assert [call.status for call in session.calls] == ["succeeded", "failed", "succeeded"]
    waits = work(script, approve=[("Directory_file*", "ask"), ("*", "approve")]).tell("go")
    waits.decide(waits.pending[0], "reject", reason="no").run()
    assert told(waits)[2] == {"result": False}


def test_what_a_person_gives_in_place_of_a_result_is_current_as_a_result_is() -> None:
    script = [USE, ("Container_directory", {}), ("Directory_is_empty", {})]
    session = work(script, approve=[("Container_directory*", "ask"), ("*", "approve")]).tell("go")
    session.decide(session.pending[0], "answer", result=Directory()).run()
    assert told(session)[1]["current"] == "Directory#2"
    assert told(session)[2] == {"result": True}


# -- _use_TYPE ---------------------------------------------------------------------------------


def test_use_tells_of_the_functions_and_of_the_objects_of_its_type() -> None:
    session = work([USE, STEP]).tell("go")
    shown = next(t for t in session.cursor.request.tools if t.name == "_use_Container")
    first, functions, *objects = shown.description.splitlines()
    assert "Container" in first
    assert functions.endswith("Container_stdout, Container_directory.")
    made_by = '- Container#2: Container#1.with_exec(args: ["ls"])'
    assert objects == ["- Container#1: Where to begin.", made_by]


def test_use_lists_the_newest_of_many_objects_and_takes_the_others_too() -> None:
    script = [USE, *[STEP] * 11]
    session = work([*script, ("_use_Container", {"id": "Container#2"})]).tell("go")
    shown = next(t for t in session.cursor.request.tools if t.name == "_use_Container")
    listed = [line.split(":")[0] for line in shown.description.splitlines()[2:]]
    assert listed == [f"- Container#{number}" for number in range(5, 13)]
    assert told(session)[-1] == {"current": "Container#2"}


def test_use_of_what_is_current_already_does_no_harm() -> None:
    script = [USE, ("Container_directory", {}), ("_use_Directory", {"id": "Directory#2"})]
    session = work([*script, ("Directory_is_empty", {})]).tell("go")
    assert told(session)[1:] == [*[{"current": "Directory#2"}] * 2, {"result": False}]


def called(*calls: Any, **options: Any) -> str:
    """Return the error of the last of these calls."""
    return work(calls, **options).tell("go").calls[-1].error


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"id": "Container#7"}, "there is no object 'Container#7'; objects of that type: Contain"),
        ({"id": "Container#1.log"}, 'the name of a Container: {"id": "Container#1"}'),
        ({"id": "File#1"}, 'File#1 is a File; call _use_File(id: "File#1")'),
        *(({"id": number}, "a number alone names no object") for number in (1, "1")),
        ({"id": "$base"}, "id: nothing is named $base; there are: no names yet"),
        ({"id": ""}, '_use_Container takes one argument, the name of a Container: {"id": "Contai'),
        *((given, "_use_Container takes one argument") for given in ({}, {"name": "Container#1"})),
    ],
)
def test_use_answers_a_name_that_does_not_fit_with_what_does(given: Any, said: str) -> None:
    use = ("_use_Container", given)
    assert said in called(use)
    assert "there is no current object yet" in called(use, ("Container_stdout", {}))


def test_use_of_a_type_that_has_no_object_is_no_tool() -> None:
    use = ("_use_File", {"id": "File#1"})
    assert "there is no tool '_use_File'" in called(use, inputs={"d": Directory()})


# -- _saveAs, and names ------------------------------------------------------------------------


def test_save_as_is_there_always_and_says_what_it_named() -> None:
    session = work([USE, ("_saveAs", {"name": "base"}), ("Container_stdout", {})]).tell("go")
    assert told(session)[1:] == [{"result": "$base", "current": "Container#1"}, {"result": "start"}]
    assert names(work([]).ask("go"))[0] == "_saveAs"
    assert vars(session.value("$base")) == vars(session["Container#1"])


def test_save_as_without_a_current_object_says_how_to_get_one() -> None:
    save = ("_saveAs", {"name": "x"})
    assert called(save) == (
        '_saveAs: there is no current object yet; begin with _use_Container(id: "Container#1"); '
        "there are: Container#1, Directory#1, File#1"
    )
    assert "there is no object yet; call a tool that makes one" in called(save, inputs={})


@pytest.mark.parametrize("name", ["", "two words", "a-b", "$", "$$a", 3, None, "ключ", "Type#1"])
def test_save_as_says_which_names_it_takes(name: Any) -> None:
    said = "a name of letters (a to z), digits and _"
    assert said in called(USE, ("_saveAs", {"name": name}))


@pytest.mark.parametrize("said", ["base", "$base"])
@pytest.mark.parametrize("meant", ["base", "$base"])
def test_a_name_may_be_said_with_its_sign_and_without_it(said: str, meant: str) -> None:
    script = [
        *(USE, ("_saveAs", {"name": said}), STEP),
        *(("_use_Container", {"id": meant}), ("Container_stdout", {})),
    ]
    session = work(script).tell("go")
    assert told(session)[3:] == [{"current": "Container#1"}, {"result": "start"}]
    assert session.calls[3].arguments == {"id": "Container#1"}


def test_a_name_that_is_saved_again_stands_for_the_new_object_from_there_on() -> None:
    save = ("_saveAs", {"name": "it"})
    back = ("_use_Container", {"id": "$it"})
    session = work([USE, save, STEP, back, STEP, save, STEP, back]).tell("go")
    assert [told(session)[index]["current"] for index in (3, 7)] == ["Container#1", "Container#3"]


FILES: Sequence[Any] = (
    *(("_use_File", {"id": "File#1"}), ("_saveAs", {"name": "readme"})),
    *(DIRECTORY, ("_saveAs", {"name": "folder"}), USE),
)


MOUNT = {"directory": "$folder", "path": "$folder", "notes": ["$readme"] * 3}


@pytest.mark.parametrize(
    ("tool", "given", "printed", "used"),
    [
        ("with_files", {"files": ["$readme", "File#1"]}, "readme,readme to nowhere", {"File#1"}),
        ("with_files", {"files": [], "into": "$folder"}, " to 2", {"Directory#1"}),
        ("with_files", {"files": ["$readme"], "into": None}, "readme to nowhere", {"File#1"}),
        ("mount", {"mount": {"directory": "$folder"}}, "/ (2, 0)", {"Directory#1"}),
        ("mount", {"mount": MOUNT}, "$folder (2, 3)", {"Directory#1", "File#1"}),
    ],
)
def test_a_name_stands_for_its_object_wherever_a_tool_takes_one(
    tool: str, given: Any, printed: str, used: set[str]
) -> None:
    session = work([*FILES, (f"Container_{tool}", given)]).tell("go")
    assert session["Container#2"].log[1:] == (printed,)
    assert set(session.deps("Container#2")) == {"Container#1", *used}
    assert "$readme" not in json.dumps(session.calls[-1].arguments)


def test_the_model_is_told_where_a_name_of_its_own_can_stand() -> None:
    session = work([USE]).tell("go")
    tools = {tool.name: tool.definition() for tool in session.cursor.request.tools}
    takes = [name for name, told in tools.items() if "\\\\$" in json.dumps(told["parameters"])]
    assert takes == [*OWN[1:], "Container_with_files", "Container_mount"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"files": ["$nope"]}, "named $nope; there are: $readme is File#1, $folder is Directory#1"),
        ({"files": [], "into": "$nope"}, "nothing is named $nope; there are: $readme is File#1, "),
        ({"files": ["$folder"]}, "Directory#1 is a Directory, not a File"),
    ],
)
def test_a_name_that_was_never_given_is_answered_with_those_that_were(
    given: Any, said: str
) -> None:
    assert said in called(*FILES, ("Container_with_files", given))


def test_save_takes_a_name_too() -> None:
    script = [*FILES, ("save", {"made": "$folder", "text": "$folder"})]
    session = work(script, outputs={"made": Directory, "text": str}).tell("go")
    folder = Directory((File("a", "A"), File("b", "BB")))
    assert session.outputs == {"made": folder, "text": "$folder"}
    assert session.state.done


# -- several calls in one turn -------------------------------------------------------------------


def test_calls_of_one_turn_run_one_after_the_other_on_what_is_current_by_then() -> None:
    session = work([[USE, STEP, STEP, ("_saveAs", {"name": "two"}), USE, STEP]]).tell("go")
    assert [part["current"] for part in told(session)] == [
        *("Container#1", "Container#2", "Container#3", "Container#3", "Container#1"),
        "Container#4",
    ]
    assert session.deps("Container#4") == ("Container#1",)


def test_a_tool_of_another_type_never_runs_on_the_wrong_object_and_says_where_to_go() -> None:
    turn = [
        *(DIRECTORY, ("Directory_file", {"path": "a"})),
        # Both types have a function `file`.
        *(("Directory_file", {"path": "b"}), ("Container_stdout", {}), ("File_contents", {})),
    ]
    session = work([turn]).tell("go")
    assert errors(session)[2:4] == [
        "Directory_file is a function of Directory, and the current object is File#2; "
        'call _use_Directory(id: "Directory#1") first',
        "Container_stdout is a function of Container, and the current object is File#2; "
        'call _use_Container(id: "Container#1") first',
    ]
    assert told(session)[4] == {"result": "A"}
    assert all(result.error for result in results(session)[2:4])


def test_a_tool_of_a_type_that_has_no_object_says_so() -> None:
    error = called(("empty", {}), ("File_size", {}), inputs={})
    assert error.endswith("there is no File yet")


def test_a_receiver_that_is_the_current_object_is_taken() -> None:
    call = ("Container_stdout", {"Container": "Container#1"})
    save = ("_saveAs", {"name": "it"})
    session = work([USE, save, call, ("Container_stdout", {"Container": "$it"})]).tell("go")
    assert told(session)[2:] == [{"result": "start"}] * 2


def test_another_receiver_is_answered_with_the_way_to_it() -> None:
    assert called(USE, STEP, ("Container_stdout", {"Container": "Container#1"})) == (
        "Container_stdout runs on the current object, Container#2, so leave Container out; "
        'call _use_Container(id: "Container#1") first'
    )


def test_a_call_that_waits_is_shown_with_the_object_that_it_would_run_on() -> None:
    session = work([USE, ("Container_stdout", {})], approve="none").tell("go")
    session.decide(session.pending[0]).run()
    assert session.calls[1].arguments == {"Container": "Container#1"}


def test_a_call_that_waits_for_another_is_asked_about_on_what_that_one_made() -> None:
    turn = [USE, ("Container_directory", {}), ("Directory_is_empty", {})]
    session = work([turn], approve="none").tell("go")
    assert [call.tool for call in session.pending] == ["Container_directory", "Directory_is_empty"]
    session.decide(session.pending[0]).run()
    session.decide(session.pending[0]).run()
    assert told(session)[-1] == {"result": False}


# -- replay, edit, keep ----------------------------------------------------------------------------


CHAIN: Sequence[Any] = (
    USE,
    ("Container_with_exec", {"args": ["make"]}),
    ("_saveAs", {"name": "built"}),
    ("Container_directory", {}),
    ("Directory_all", {}),
    ("_use_Container", {"id": "$built"}),
    ("Container_with_files", {"files": ["File#2"], "into": "Directory#2"}),
    ("save", {"made": "$built"}),
)


def test_an_edit_runs_again_what_it_reaches_and_names_follow() -> None:
    session = work(CHAIN, outputs={"made": Container}).tell("go")
    edited = session.edit("call_2", args=["make", "all"]).run()
    assert edited.outputs == {"made": Container(("start", "make all"))}
    assert edited["Container#3"].log == ("start", "make all", "log to 1")
    assert [call.object for call in edited.calls] == [call.object for call in session.calls]


def test_a_name_in_what_the_model_said_holds_where_fewer_objects_were_made() -> None:
    script = [
        *(DIRECTORY, ("Directory_file", {"path": "a"})),
        *(DIRECTORY, ("Directory_file", {"path": "b"})),
        *(("_use_File", {"id": "File#3"}), ("File_contents", {}), USE),
        ("Container_with_files", {"files": ["File#3"]}),
    ]
    edited = work(script).tell("go").edit("call_2", path="nowhere").run()
    assert told(edited)[4] == {"current": "File#3"}
    assert told(edited)[5] == {"result": "BB"}
    assert edited["Container#2"].log[1:] == ("b to nowhere",)


def test_a_person_can_edit_the_receiver_too_and_what_runs_is_as_they_wrote_it() -> None:
    session = work([USE, STEP, STEP, ("Container_stdout", {})]).tell("go")
    edited = session.edit("call_3", Container="Container#1").run()
    assert edited.deps("Container#3") == ("Container#1",)
    assert told(edited)[3] == {"result": "start\nls"}
    assert "changed this call" in told(edited)[2]["note"]


def test_a_tool_of_yours_cannot_have_the_name_of_one_of_the_schemes_own() -> None:
    def _saveAs() -> int:
        """Save."""
        return 1

    with pytest.raises(UsageError, match="_saveAs"):
        Session(Toolbox(_saveAs), Scripted([]), scheme="current")


# -- the prompt cache ------------------------------------------------------------------------------


def test_a_result_brings_the_tools_into_view_that_it_makes_callable_each_once() -> None:
    script: list[Any] = [("empty", {}), ("Directory_with_file", {"file": "File#1"})]
    script += [("_use_File", {"id": "File#1"}), DIRECTORY]
    script += [("Directory_all", {})]
    session = work(script, inputs={"readme": File("readme")}).tell("go")
    functions = [("_use_Directory", *(f"Directory_{n}" for n in ("with_file", "file", "all")))]
    assert results(session)[0].selected == (*functions[0], "Directory_is_empty")
    assert results(session)[2].selected == ("File_contents", "File_size", "File_file")
    assert [results(session)[index].selected for index in (1, 3, 4)] == [()] * 3


def test_what_can_ever_be_called_is_declared_from_the_start_and_never_changes() -> None:
    session = work(CHAIN, outputs={"made": Container}).ask("go")
    declared: list[dict[str, Any]] = []
    while advance(session.cursor) is not None:
        request = session.cursor.request
        tools = (*request.tools, *request.deferred)
        declared.append({tool.name: dict(tool.parameters) for tool in tools})
        assert len(declared[-1]) == len(tools)
    assert len(declared) > len(CHAIN)
    assert all(tools == declared[0] for tools in declared)
    assert "_use_File" in declared[0]
