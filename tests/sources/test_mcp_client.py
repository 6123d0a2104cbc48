"""Tools of an MCP server in a session: over stdio and HTTP, with the protocols of 2025 and 2026."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

from jupyter_toolcall import Scripted, Session, Toolbox, from_mcp
from jupyter_toolcall.core.errors import DefinitionError, UsageError
from jupyter_toolcall.sources.mcp_connection import connections
from jupyter_toolcall.sources.mcp_servers import server_address
from jupyter_toolcall.tools.running_tool import showing_progress
from jupyter_toolcall.view.previews import LARGE, preview
from jupyter_toolcall.view.view_rows import all_rows
from tests.example_tools import play
from tests.standin.mcp_server import PNG, Pantry, command_line, serving


@dataclass
class Server:
    """A server to connect to, and what happened to it."""

    address: str
    pantry: Pantry
    protocol: str

    def tools(self, **options: Any) -> Toolbox:
        return from_mcp(self.address, **options)


def wait_until(holds: Callable[[], object]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.005)


def close_connections() -> None:
    for link in connections():
        link.close()


@pytest.fixture(autouse=True, scope="module")
def no_connections_left() -> Iterator[None]:
    """Keep the connections of this file apart from those of the files before and after it."""
    close_connections()
    yield
    close_connections()


PROTOCOLS = {"": "2026-07-28", "-2025": "2025-11-25"}


@pytest.fixture(scope="module", params=["stdio", "stdio-2025", "http", "http-2025"])
def server(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Server]:
    """Yield a server, whose connection the tests of this file share."""
    log = tmp_path_factory.mktemp("pantry") / "log"
    transport, dash, year = request.param.partition("-")
    with ExitStack() as stack:
        if transport == "stdio":
            address = command_line(log, *(["--legacy"] if dash else []))
        else:
            address = stack.enter_context(serving(log, legacy=bool(dash))).url
        yield Server(address, Pantry(log), PROTOCOLS[dash + year])
        close_connections()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Server]:
    """Yield a program of its own for one test."""
    yield Server(command_line(tmp_path / "log"), Pantry(tmp_path / "log"), PROTOCOLS[""])
    close_connections()


# -- calls ----------------------------------------------------------------------------


def test_both_transports_speak_the_protocol_of_the_server(server: Server) -> None:
    assert play(server.tools(), ("add", {"a": 1, "b": 2})).calls[0].result == 3
    (link,) = [link for link in connections() if link.is_open]
    assert link.list_tools().protocol == server.protocol


def test_arguments_that_do_not_fit_the_schema_never_reach_the_server(server: Server) -> None:
    tools, before = server.tools(), server.pantry.events
    assert play(tools, ("add", {"a": "one", "b": 2})).calls[0].status == "failed"
    assert server.pantry.events == before


def test_the_state_of_the_server_survives_from_session_to_session(server: Server) -> None:
    for grams in (10, 20):
        session = play(server.tools(), ("fill", {"name": "pears", "grams": 10}))
        assert session.calls[0].result == {"name": "pears", "grams": grams}


def test_the_error_of_a_tool_is_what_the_model_reads(server: Server) -> None:
    session = play(server.tools(), ("burn", {}))
    assert session.calls[0].status == "failed"
    assert session.calls[0].error == "Error executing tool burn: the oven is\non fire"


def test_images_and_sounds_become_objects_that_are_shown(server: Server) -> None:
    session = play(server.tools(), ("picture", {}), ("sound", {}))
    assert session.objects == ("McpImage#1", "McpAudio#1")
    image = session["McpImage#1"]._repr_mimebundle_()
    assert list(image) == ["image/png"]
    assert "<audio controls" in session["McpAudio#1"]._repr_html_()
    assert base64.b64decode(image["image/png"]) == PNG
    assert preview(session["McpImage#1"]).image


def test_a_link_is_read_when_it_is_looked_at_and_only_once(server: Server) -> None:
    session = play(server.tools(), ("link", {"name": "quinces"}))
    assert session.calls[0].result["uri"] == "recipe://quinces"
    link = session["McpResource#1"]
    assert ("uri", '"recipe://quinces"') in preview(link).fields
    assert "read quinces" not in server.pantry.events
    assert preview(link, room=LARGE).text == "Boil the quinces."
    assert link.text() == "Boil the quinces."
    assert server.pantry.events.count("read quinces") == 1


def test_a_link_is_read_when_it_is_passed_on(server: Server) -> None:
    calls = [("link", {"name": "figs"}), ("say", {"text": "McpResource#1"})]
    assert play(server.tools(), *calls).calls[1].result == "Boil the figs."
    assert "read figs" in server.pantry.events


def test_the_parts_of_a_result_are_text_and_objects_in_their_order(server: Server) -> None:
    assert play(server.tools(), ("label", {}))["McpResource#1"].text() == "Plums, 2026"
    result = play(server.tools(), ("mixed", {})).calls[0].result
    assert result[:2] == ["two of them:", "McpImage#1"]
    assert result[2]["resource"] == "McpResource#1"


def test_progress_reaches_the_step(server: Server) -> None:
    shown: list[str] = []
    (stir,) = [tool for tool in server.tools() if tool.name == "stir"]
    with showing_progress(shown.append):
        assert stir.function(arguments={"turns": 3}) == "stirred"
    assert shown == ["1 of 3: turn 1", "2 of 3: turn 2", "3 of 3: turn 3"]


def test_a_server_asks_the_person_and_the_call_continues(server: Server) -> None:
    session = play(server.tools(), ("season", {"dish": "soup"}))
    (call,) = session.pending
    assert call.open_round is not None
    questions = [asked["message"] for asked in call.open_round.asked.requests.values()]
    assert questions == ["Sweet or sour?"]
    session.decide(call, "answer", result={"taste": "sour"}).run()
    assert session.calls[0].result == "soup, sour"


def test_a_person_who_does_not_answer_a_server_ends_the_call(server: Server) -> None:
    session = play(server.tools(), ("season", {"dish": "soup"}))
    session.decide(session.pending[0], "reject").run()
    assert session.calls[0].status == "failed"
    assert "soup," not in str(session.calls[0].error)


# -- interrupts -----------------------------------------------------------------------


def test_an_interrupt_cancels_the_call_at_the_server_and_the_connection_survives(
    server: Server,
) -> None:
    tools = server.tools()
    starts = [event for event in server.pantry.events if event.startswith("start")]
    seen = server.pantry.events.count("simmer")

    def interrupt() -> None:
        wait_until(lambda: server.pantry.events.count("simmer") > seen)
        signal.raise_signal(signal.SIGINT)

    model = Scripted([("simmer", {}), ("add", {"a": 2, "b": 2}), "Done."])
    session = Session(tools, model, scheme="flat", approve="all").ask("Go.")
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        session.run()
    thread.join()
    server.pantry.wait_for("simmer cancelled")
    session.run()
    assert [call.status for call in session.calls] == ["interrupted", "succeeded"]
    assert [event for event in server.pantry.events if event.startswith("start")] == starts


# -- a server that ends ---------------------------------------------------------------


def test_a_call_in_which_the_server_dies_has_an_unknown_outcome_and_the_server_starts_again(
    program: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    session = play(program.tools(), ("die", {}), ("add", {"a": 1, "b": 1}))
    assert session.calls[0].status == "unknown"
    session.decide(session.pending[0], "answer", result="it died").run()
    assert session.calls[1].result == 2
    printed = r"MCP server mcp_server\w* had stopped, and was started again\.\n"
    assert re.fullmatch(printed, capsys.readouterr().out)
    assert sum(event.startswith("start") for event in program.pantry.events) == 2


@pytest.mark.parametrize(("trust", "status"), [(True, "succeeded"), (False, "unknown")])
def test_a_call_runs_again_unasked_only_where_the_hint_that_it_is_idempotent_is_trusted(
    program: Server, trust: bool, status: str
) -> None:
    assert play(program.tools(trust_hints=trust), ("die_once", {})).calls[0].status == status


def test_a_question_of_2025_whose_server_is_gone_has_an_unknown_outcome(tmp_path: Path) -> None:
    with serving(tmp_path / "log", legacy=True) as served:
        session = play(from_mcp(served.url), ("season", {"dish": "soup"}))
        close_connections()
        session.decide(session.pending[0], "answer", result={"taste": "sour"}).run()
        assert session.calls[0].status == "unknown"


def test_a_program_that_was_stopped_starts_again_at_the_next_call(
    program: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    tools = program.tools()
    (start,) = [event for event in program.pantry.events if event.startswith("start")]
    os.kill(int(start.split()[1]), signal.SIGKILL)
    identity = server_address(program.address).identity
    (link,) = [link for link in connections() if link.address.identity == identity]
    wait_until(lambda: not link.is_open)
    assert play(tools, ("add", {"a": 1, "b": 1})).calls[0].result == 2
    assert "was started again" in capsys.readouterr().out


def test_a_program_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    code = f"""
        from jupyter_toolcall import from_mcp
        print(len(from_mcp({command_line(tmp_path / "log")!r})))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (run.stdout, run.stderr) == ("17\n", "")
    pantry = Pantry(tmp_path / "log")
    pantry.wait_for("end")
    (start,) = [event for event in pantry.events if event.startswith("start")]
    wait_until(lambda: not Path(f"/proc/{start.split()[1]}").exists())


def test_a_program_that_cannot_be_started_is_one_clear_line() -> None:
    with pytest.raises(DefinitionError) as caught:
        from_mcp("no-such-program --now")
    reason = "there is no program 'no-such-program'; install it, or give its whole path"
    assert str(caught.value) == f"MCP server no_such_program: {reason}"
    with pytest.raises(DefinitionError, match="it starts in the folder '/gone', which is not"):
        from_mcp({"command": sys.executable, "args": ["x.py"], "cwd": "/gone"})


def test_a_program_that_is_no_server_is_one_line_with_what_it_wrote_last() -> None:
    code = "import sys; sys.exit('no key: set KEY')"
    with pytest.raises(DefinitionError) as caught:
        from_mcp({"command": sys.executable, "args": ["-c", code]})
    assert str(caught.value).endswith("did not start as an MCP server: no key: set KEY")
    assert "\n" not in str(caught.value)


def test_a_program_reads_no_variable_that_it_was_not_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-1")
    monkeypatch.setenv("PANTRY_KEY", "secret-2")
    command, script, log = command_line(tmp_path / "log").split()
    entry = {"command": command, "args": [script, log], "env": {"KEY": "${PANTRY_KEY}"}}
    calls = [("environment", {"name": name}) for name in ("ANTHROPIC_API_KEY", "KEY")]
    session = play(from_mcp(entry), *calls)
    assert session.calls[0].result == "not set"
    assert session.state.calls["call_2"].status == "succeeded"


@pytest.mark.parametrize("placeholder", ["${UNSET}", "${env:UNSET}", "${input:UNSET}", "$UNSET"])
@pytest.mark.parametrize(
    ("place", "entry"),
    [
        ("URL", {"url": "https://x.test/%s"}),
        ("header Key", {"url": "https://x.test", "headers": {"Key": "a %s"}}),
        ("command", {"command": "x", "args": ["%s"]}),
        ("variable KEY", {"command": "x", "env": {"KEY": "%s"}}),
        ("folder", {"command": "x", "cwd": "%s"}),
    ],
)
def test_a_placeholder_without_a_value_is_sent_nowhere_and_named_with_its_place(
    placeholder: str, place: str, entry: Any
) -> None:
    filled = json.loads(json.dumps(entry).replace("%s", placeholder))
    with pytest.raises((DefinitionError, UsageError)) as caught:
        from_mcp(filled)
    assert f"its {place} needs " in str(caught.value)
    assert "UNSET" in str(caught.value)


@pytest.mark.parametrize("default", ["${UNSET:-a b}", "${UNSET-a b}", "${UNSET:-${ALSO:-a b}}"])
def test_a_placeholder_with_a_default_is_filled_in(tmp_path: Path, default: str) -> None:
    command, script, log = command_line(tmp_path / "log").split()
    # Null is as left out.
    entry = {"command": command, "args": [script, log], "env": {"KEY": default}, "cwd": None}
    assert play(from_mcp(entry), ("environment", {"name": "KEY"})).calls[0].result == "a b"


# -- names, hints, changes ------------------------------------------------------------


def in_memory(name: str, **descriptions: str) -> MCPServer:
    """Return a server of this process with a tool for each description."""
    server = MCPServer(name, log_level="CRITICAL")
    for tool, description in descriptions.items():
        server.add_tool(lambda name=name: name, tool, description=description)
    return server


def test_tools_of_one_name_get_the_name_of_their_server_in_front() -> None:
    inn = server_address(in_memory("inn", cook="x", eat="x"), name="the inn")
    tools = Toolbox(from_mcp(inn), from_mcp(in_memory("bar", cook="y")))
    assert tools.names == ("the_inn_cook", "eat", "bar_cook")
    session = play(tools, ("bar_cook", {}), ("the_inn_cook", {}))
    assert [call.result for call in session.calls] == ["bar", "inn"]


def test_only_the_tools_that_the_globs_name_are_offered(server: Server) -> None:
    assert server.tools(include=["d*", "add"], exclude=["die_*"]).names == ("add", "die")
    with pytest.raises(DefinitionError, match="no tool fits 'ad'"):
        server.tools(include=["ad"])
    with pytest.raises(UsageError, match=r"exclude= takes a list: exclude=\['add'\]"):
        server.tools(exclude="add")


@pytest.mark.parametrize(
    ("hints", "marks"),
    [
        *(({}, (False, True, False)), ({"read_only_hint": True}, (True, False, False))),
        ({"destructive_hint": True}, (False, True, False)),
        ({"destructive_hint": False}, (False, False, False)),
        ({"destructive_hint": False, "idempotent_hint": True}, (False, False, True)),
    ],
)
def test_all_hints_that_are_trusted_mark_a_tool_and_none_that_is_not(
    hints: Any, marks: tuple[bool, ...]
) -> None:
    server = MCPServer("hinting", log_level="CRITICAL")
    server.add_tool(lambda: "", "tool", annotations=ToolAnnotations(**hints))
    for trust_hints, expected in ((True, marks), (False, (False, True, False))):
        tool = from_mcp(server, trust_hints=trust_hints)["tool"]
        assert (tool.read_only, tool.destructive, tool.idempotent) == expected


def test_a_tool_that_changed_does_not_run_and_is_asked_about_as_it_is_now(server: Server) -> None:
    play(server.tools(), ("change_knife", {"description": "Cut bread."}))
    tools = server.tools()
    play(tools, ("change_knife", {"description": "Cut the wires."}))
    session = play(tools, ("knife", {}), ("add", {"a": 1, "b": 1}))
    (row, *_) = all_rows(session.cursor, session.name).calls
    assert 'its description was "Cut bread.", and is "Cut the wires."' in row.why
    assert session.cursor.context.toolbox["knife"].description == "Cut the wires."
    session.decide(session.pending[0]).run()
    assert [call.status for call in session.calls] == ["succeeded"] * 2


def test_a_tool_that_was_removed_does_not_run(server: Server) -> None:
    tools = server.tools()
    play(tools, ("change_knife", {"description": ""}))
    (link,) = [link for link in connections() if link.is_open]
    wait_until(lambda: link.listing_is_old)
    assert "does not have it any more" in str(play(tools, ("knife", {})).calls[0].error)
    play(tools, ("change_knife", {"description": "Cut bread."}))


# -- replay ---------------------------------------------------------------------------


def test_a_recorded_session_replays_without_its_server(program: Server) -> None:
    session = play(program.tools(), ("fill", {"name": "plums", "grams": 3}))
    close_connections()
    events = program.pantry.events
    assert session.replay().run().calls[0].result == {"name": "plums", "grams": 3}
    assert program.pantry.events == events


def test_without_the_server_its_tools_are_those_that_were_listed_last(tmp_path: Path) -> None:
    with serving(tmp_path / "log") as served:
        names = from_mcp(served.url).names
        close_connections()
    with pytest.warns(UserWarning, match="Its tools are those of the last time"):
        tools = from_mcp(served.url)
    assert tools.names == names
    session = play(tools, ("add", {"a": 1, "b": 1}))
    assert session.calls[0].status == "failed"
    assert "cannot be reached" in str(session.calls[0].error)


# -- addresses ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "server",
    [
        *("", "   ", "'open", 5, {"args": []}, {"url": "ftp://x"}, {"url": 5}),
        *("https://me:pw@host/mcp", "http://[::1/mcp", "http://x:y/mcp"),
    ],
)
def test_what_is_no_server_is_refused_in_one_line(server: Any) -> None:
    with pytest.raises(UsageError) as caught:
        from_mcp(server)
    assert "\n" not in str(caught.value)
    assert "pw" not in str(caught.value)
