"""The served session, as clients of the MCP SDK see it over real HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx2
import mcp_types as types
import pandas
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from jupyter_toolcall import Scripted, Session, Tool, Toolbox, tool
from jupyter_toolcall.core.errors import ToolcallError
from jupyter_toolcall.jupyter.mcp_server import HttpServer, McpSession
from jupyter_toolcall.jupyter.panel_controller import PanelController
from jupyter_toolcall.jupyter.served_session import ServedSession
from jupyter_toolcall.models.named import Person
from jupyter_toolcall.sources.table_sharing import Sharing
from jupyter_toolcall.tools.running_tool import InputRequest, InputRequired

T = TypeVar("T")


@dataclass(frozen=True)
class Loaf:
    """A loaf of bread."""

    slices: int = 0
    thickness: int = 0


def cut(loaf: Loaf, thickness: int) -> Loaf:
    """Cut the loaf into slices."""
    return Loaf(60 // thickness, thickness)


@tool(read_only=True)
def count(loaf: Loaf) -> int:
    """Count the slices."""
    return loaf.slices


@tool(destructive=True)
def fail(loaf: Loaf) -> int:
    """Drop the loaf."""
    raise OSError("it fell")


CUT = {"loaf": "Loaf#1", "thickness": 3}


@dataclass
class Host:
    """A session with a panel, as a kernel has it."""

    session: Session
    cell: bool = False
    """Whether a cell runs."""
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    panel: PanelController = field(init=False)
    notices: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.panel = PanelController(self.session, self.notices.append)
        self.panel.on_idle = self._click

    def _click(self) -> None:
        task = asyncio.get_running_loop().create_task(self._resume())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _resume(self) -> None:
        with contextlib.suppress(ToolcallError):
            if not self.panel.busy:
                await self.panel.resume()

    def controller(self) -> PanelController:
        return self.panel

    def refresh(self) -> Session:
        return self.panel.session

    def runs_cell(self) -> bool:
        return self.cell

    async def waiting(self) -> Any:
        """Return the first call that waits for the person, once there is one."""
        return await until(lambda: next(iter(self.panel.session.pending), None))

    async def decide(self, kind: str, **fields: Any) -> None:
        """Click a button at the call that waits."""
        call = (await self.waiting()).id
        rows = self.panel.whole().calls
        digest = next(r.approval_digest for r in rows if r.call == call and not r.branch)
        self.panel.receive({"type": kind, "call": call, "approval_digest": digest, **fields})


async def until(look: Callable[[], T | None]) -> T:
    while not (value := look()):
        await asyncio.sleep(0.01)
    return value


@contextlib.asynccontextmanager
async def served(session: Session, share: Sharing | None = None) -> AsyncIterator[Any]:
    """Serve a session, and yield its host and server."""
    if share is not None:
        session.cursor.context.sharing = share
    host = Host(session)
    calls = ServedSession(host, asyncio.get_running_loop())
    server = HttpServer(McpSession(calls))
    server.start()
    try:
        yield host, server
    finally:
        await asyncio.to_thread(server.stop)


@contextlib.asynccontextmanager
async def client(
    server: HttpServer, name: str = "tester", mode: str = "auto"
) -> AsyncIterator[Any]:
    headers = {"Authorization": f"Bearer {server.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(server.url, http_client=http)
        info = types.Implementation(name=name, version="1")
        async with Client(transport, client_info=info, mode=mode) as connected:
            yield connected


def finished(*tools: Any, **options: Any) -> Session:
    """Return a session whose model has finished."""
    options = {"scheme": "flat", "inputs": {"loaf": Loaf()}, **options}
    toolbox = Toolbox(*(tools or (cut, count, fail)), types=[Loaf])
    return Session(toolbox, Scripted(["Done.", "Done again."]), **options).tell("Bread!").run()


def data(result: Any) -> Any:
    return result.structured_content


# -- calls ---------------------------------------------------------------------------------------


async def test_a_result_that_is_an_object_is_its_name_in_text_and_data_and_a_link() -> None:
    async with served(finished(approve="all")) as (host, server), client(server) as agent:
        result = await agent.call_tool("cut", CUT)
        text, link = result.content
        assert (data(result)["result"], data(result)["objects"]) == ("Loaf#2", ["Loaf#2"])
        assert json.loads(text.text) == data(result)
        assert link.name == "Loaf#2"
        assert host.panel.session["Loaf#2"] == Loaf(20, 3)


async def test_an_edit_of_an_earlier_call_runs_the_calls_of_clients_that_depend_on_it() -> None:
    model = Scripted([("cut", CUT), "Done."])
    options: dict[str, Any] = {"scheme": "flat", "inputs": {"loaf": Loaf()}, "approve": "all"}
    session = Session(Toolbox(cut, count), model, **options).tell("Bread!")
    async with served(session) as (host, server), client(server) as agent:
        assert data(await agent.call_tool("count", {"loaf": "Loaf#2"}))["result"] == 20
        edited = host.panel.session.edit("call_1", loaf="Loaf#1", thickness=6).run()
        assert [call.result for call in edited.calls] == ["Loaf#2", 10]
        assert edited.calls[1].asked_call.by == "mcp:tester"
        assert edited.text == "Done."


@pytest.mark.parametrize(
    ("scheme", "native", "mode"),
    [("flat", False, "legacy"), ("select", False, "auto"), ("current", True, "2026-07-28")],
)
async def test_calls_of_a_client_are_recorded_with_who_asked_in_every_scheme_and_protocol(
    scheme: str, native: bool, mode: str
) -> None:
    session = finished(approve="all", scheme=scheme, native=native)
    async with served(session) as (host, server), client(server, "old", mode) as agent:
        assert data(await agent.call_tool("cut", CUT))["result"] == "Loaf#2"
        arguments = {"tool": "count", "arguments": {"loaf": "Loaf#2"}}
        assert data(await agent.call_tool("call_tool", arguments))["result"] == 20
        session, rows = host.panel.session, host.panel.whole()
        assert {entry.meta["by"] for entry in session.journal if "by" in entry.meta} == {"mcp:old"}
        assert (rows.calls[0].by, rows.session[0].phase) == ("mcp:old", "finished")
        # The session's own model was not asked; with the next prompt it sees what was done.
        assert session.text == "Done."
        session.tell("Go on.")
        assert session.text == "Done again."
        assert "Loaf#2" in str(session.requests[-1].request.messages)
        size = len(session.journal)
        assert session.replay().run().head == session.head
        assert len(session.journal) == size


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("fail", {"loaf": "Loaf#1"}, "it fell"),
        ("cuts", CUT, "Did you mean cut?"),
        ("cut", {"loaf": "Loaf#9", "thickness": 3}, "there is no object 'Loaf#9'"),
        ("describe", {"name": "Laof#1"}, "Did you mean Loaf#1?"),
        ("describe", {}, "describe needs name"),
        ("describe", {"name": "cut", "deep": True}, "describe takes no 'deep'"),
        ("call_tool", {"tool": "cut", "arguments": "thin"}, "arguments must be a JSON object"),
        ("wait_for_decision", {"call_id": "mcp_0"}, "there is no call 'mcp_0' in this session"),
    ],
)
async def test_a_call_that_fails_or_does_not_fit_is_an_error_that_says_why(
    tool: str, arguments: dict[str, Any], error: str
) -> None:
    async with served(finished(approve="all")) as (_, server), client(server) as agent:
        result = await agent.call_tool(tool, arguments)
        assert result.is_error
        assert error in data(result)["error"]


async def test_outputs_are_saved_by_a_client() -> None:
    session = finished(approve="all", outputs={"toast": Loaf})
    async with served(session) as (host, server), client(server) as agent:
        await agent.call_tool("save", {"toast": "Loaf#1"})
        assert host.panel.session.outputs == {"toast": Loaf()}


# -- the person decides --------------------------------------------------------------------------


async def test_a_call_waits_for_the_person_and_the_client_is_told_meanwhile() -> None:
    async with served(finished()) as (host, server), client(server) as agent:
        messages: list[str] = []

        async def progress(done: float, total: float | None, message: str | None) -> None:
            messages.append(message or "")

        asked = asyncio.create_task(agent.call_tool("cut", CUT, progress_callback=progress))
        call = await host.waiting()
        await until(lambda: messages)
        assert call.id in messages[0]
        assert "cut" in messages[0]
        assert host.notices[-1].rows.session[0].phase == "waiting"
        await host.decide("approve")
        assert data(await asked)["result"] == "Loaf#2"
        assert "note" not in data(await asked)


THIN = {"kind": "edit", "arguments": {"loaf": "Loaf#1", "thickness": 2}, "reason": "thin"}
COUNT = {"kind": "edit", "arguments": {"loaf": "Loaf#1"}, "tool": "count"}


@pytest.mark.parametrize(
    ("approve", "decision", "result", "note"),
    [
        ("ask", THIN, "Loaf#2", "The person changed thickness from 3 to 2. Reason: thin"),
        ("ask", COUNT, 0, "The person changed the tool from cut to count, thickness to nothing"),
        (
            *("ask", {"kind": "reject", "reason": "too thick"}, None),
            "The person rejected this call; the tool did not run. Reason: too thick",
        ),
        (
            *("ask", {"kind": "answer", "result": "Loaf#1"}, "Loaf#1"),
            "The person gave this result; the tool did not run.",
        ),
        ([("*", "reject")], {}, None, "The policy rejected this call"),
    ],
)
async def test_the_client_is_told_what_the_person_decided(
    approve: Any, decision: dict[str, Any], result: Any, note: str
) -> None:
    async with served(finished(approve=approve)) as (host, server), client(server) as agent:
        asked = asyncio.create_task(agent.call_tool("cut", CUT))
        if decision:
            await host.decide(**decision)
        answer = await asked
        assert answer.is_error == (result is None)
        assert data(answer)["note"].startswith(note)
        assert data(answer).get("result") == result
        if result is None:
            assert data(answer)["status"] == "rejected"


async def test_a_tool_that_asks_for_input_asks_the_person_and_not_the_client() -> None:
    form = {"type": "object", "properties": {"guests": {"type": "integer"}}}

    def ask(day: str) -> str:
        raise InputRequired({"who": InputRequest("How many?", form)}, {"day": day})

    def resume(state: Any, responses: Any, arguments: Any) -> str:
        return f"{state['day']}, {responses['who'].content['guests']} guests"

    day = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    book = Tool("book", "Book a table.", day, ask, resume=resume)
    async with served(finished(book, approve="all")) as (host, server):
        async with client(server) as agent:
            asked = asyncio.create_task(agent.call_tool("book", {"day": "Monday"}))
            call = await host.waiting()
            submitted = server.session.served.calls[call.id]
            await until(lambda: "input" in submitted.waits_for)
            host.panel.session.decide(call, "answer", result={"guests": 4})
            host.panel.receive({"type": "run"})
            result = data(await asked)
        assert result["result"] == "Monday, 4 guests"
        assert result["note"] == "The tool asked the person for input."


async def test_a_client_that_gave_up_or_was_told_to_wait_gets_its_result_by_the_calls_id() -> None:
    async with served(finished()) as (host, server), client(server) as agent:
        asked = asyncio.create_task(agent.call_tool("cut", CUT))
        call = await host.waiting()
        asked.cancel()
        listed = data(await agent.call_tool("list_tools_and_objects", {}))
        assert [call["call_id"] for call in listed["waiting"]] == [call.id]
        wait = agent.call_tool("wait_for_decision", {"call_id": call.id})
        waited = asyncio.create_task(wait)
        await host.decide("approve")
        assert data(await waited)["result"] == "Loaf#2"
        later = await agent.call_tool("wait_for_decision", {"call_id": call.id})
        assert data(later) == data(await waited)
        server.session.patience = 0.1
        result = data(await agent.call_tool("cut", CUT))
        assert result["status"] == "waiting"
        assert result["waits_for"] == "waits for the person's decision"
        await host.decide("approve")
        server.session.patience = 50
        arguments = {"call_id": result["call_id"]}
        assert data(await agent.call_tool("wait_for_decision", arguments))["result"] == "Loaf#3"


# -- several at once -----------------------------------------------------------------------------


async def test_two_clients_at_once_each_get_their_own_results() -> None:
    session = finished(approve="all")
    async with (
        served(session) as (host, server),
        client(server, "one") as one,
        client(server, "two") as two,
    ):
        asked = [(agent, n) for n in range(1, 11) for agent in (one, two)]
        calls = (a.call_tool("cut", {"loaf": "Loaf#1", "thickness": n}) for a, n in asked)
        results = [data(result) for result in await asyncio.gather(*calls)]
        session = host.panel.session
        assert [session[result["result"]].thickness for result in results] == [n for _, n in asked]
        by = {call.id: call.asked_call.by for call in session.calls}
        assert [by[result["call_id"]] for result in results] == ["mcp:one", "mcp:two"] * 10
        assert len(session.calls) == 20


async def test_what_the_person_decides_on_a_call_reaches_its_own_client_alone() -> None:
    thick = {"loaf": "Loaf#1", "thickness": 5}
    async with served(finished()) as (host, server), client(server) as one, client(server) as two:
        first = asyncio.create_task(one.call_tool("cut", CUT))
        await host.waiting()
        second = asyncio.create_task(two.call_tool("cut", thick))
        await until(lambda: len(server.session.served.calls) == 2)
        await host.decide("approve")
        assert data(await first)["result"] == "Loaf#2"
        assert not second.done()
        await host.decide("reject", reason="enough")
        assert data(await second)["note"].endswith("Reason: enough")


async def test_a_call_that_its_client_gave_up_before_its_turn_never_runs() -> None:
    async with served(finished(approve="all")) as (host, server), client(server) as agent:
        host.cell = True
        calls = server.session.served.calls
        asked = asyncio.create_task(agent.call_tool("cut", CUT))
        await until(lambda: calls)
        asked.cancel()
        call = next(iter(calls.values()))
        await until(lambda: call.stage == "withdrawn")
        host.cell = False
        result = await agent.call_tool("wait_for_decision", {"call_id": call.id})
        assert data(result)["status"] == "withdrawn"
        assert host.panel.session.calls == ()


async def test_calls_wait_until_the_call_of_the_sessions_model_is_decided() -> None:
    model = Scripted([("cut", CUT), "Done."])
    session = Session(Toolbox(cut, count), model, scheme="flat", inputs={"loaf": Loaf()})
    async with served(session.tell("Bread!")) as (host, server), client(server) as agent:
        asked = asyncio.create_task(agent.call_tool("count", {"loaf": "Loaf#2"}))
        await until(lambda: server.session.served.calls)
        await host.decide("approve")
        assert data(await asked)["result"] == 20
        assert [call.tool for call in host.panel.session.calls] == ["cut", "count"]
        assert host.panel.session.text == "Done."


async def test_a_client_calls_while_the_cell_of_a_person_who_plays_the_model_waits() -> None:
    toolbox = Toolbox(cut, count)
    options: dict[str, Any] = {"scheme": "flat", "inputs": {"loaf": Loaf()}, "approve": "all"}
    session = Session(toolbox, Person(), **options).ask("Bread!")
    async with served(session) as (host, server), client(server) as agent:
        cell = asyncio.create_task(host.panel.run())
        host.cell = True
        await until(lambda: host.panel.whole().session[0].yours)
        assert data(await agent.call_tool("cut", CUT))["result"] == "Loaf#2"
        await until(lambda: host.panel.whole().session[0].yours)
        assert not cell.done()
        host.panel.receive({"type": "say", "text": "Done.", "calls": []})
        assert (await cell).text == "Done."


async def test_a_call_on_a_branch_that_the_person_left_is_told_so_and_others_go_on() -> None:
    async with served(finished()) as (host, server), client(server) as agent:
        before = host.panel.session.head
        asked = asyncio.create_task(agent.call_tool("cut", CUT))
        call = await host.waiting()
        left = host.panel.session.head
        host.panel.receive({"type": "checkout", "branch": before})
        await until(lambda: host.panel.session.head == before)
        submitted = server.session.served.calls[call.id]
        await until(lambda: "branch that the person has left" in submitted.waits_for)
        assert data(await agent.call_tool("count", {"loaf": "Loaf#1"}))["result"] == 0
        host.panel.receive({"type": "checkout", "branch": left})
        await until(lambda: host.panel.session.head == left)
        await host.decide("approve")
        host.panel.receive({"type": "run"})
        assert data(await asked)["result"] == "Loaf#2"


# -- what there is to read -----------------------------------------------------------------------


async def test_few_tools_are_offered_by_themselves_with_schema_and_hints() -> None:
    async with served(finished()) as (_, server), client(server) as agent:
        tools = {listed.name: listed for listed in (await agent.list_tools()).tools}
        fixed = ("list_tools_and_objects", "describe", "call_tool", "read_object")
        assert [*tools] == [*fixed, "wait_for_decision", "cut", "count", "fail"]
        assert tools["cut"].input_schema["required"] == ["loaf", "thickness"]
        assert tools["count"].annotations.read_only_hint
        assert not tools["cut"].annotations.read_only_hint
        destructive = [name for name in tools if tools[name].annotations.destructive_hint]
        assert destructive == ["fail"]
        assert tools["read_object"].annotations.read_only_hint
        # The client checks each result by it, in all tests here.
        described = [name for name in tools if tools[name].output_schema]
        assert described == ["call_tool", "wait_for_decision", "cut", "count", "fail"]


async def test_of_many_tools_only_the_five_fixed_ones_are_offered() -> None:
    def numbered(number: int) -> Any:
        def call(loaf: Loaf) -> int:
            return number

        return tool(name=f"number_{number}")(call)

    session = finished(*(numbered(n) for n in range(150)), approve="all")
    async with served(session) as (_, server), client(server) as agent:
        assert len((await agent.list_tools()).tools) == 5
        listed = data(await agent.call_tool("list_tools_and_objects", {}))
        assert len(listed["tools"]) == 100
        assert listed["more_tools"] == 50
        few = data(await agent.call_tool("list_tools_and_objects", {"query": "number_14"}))
        assert len(few["tools"]) == 11
        arguments = {"tool": "number_149", "arguments": {"loaf": "Loaf#1"}}
        assert data(await agent.call_tool("call_tool", arguments))["result"] == 149


async def test_tools_and_objects_are_described_by_name_and_a_long_result_is_cut() -> None:
    def write(loaf: Loaf) -> list[str]:
        """Write much."""
        return ["word " * 100_000] * 3

    session = finished(cut, write, approve="all")
    async with served(session) as (_, server), client(server) as agent:
        await agent.call_tool("cut", CUT)
        described = data(await agent.call_tool("describe", {"name": "cut"}))
        assert described["parameters"]["required"] == ["loaf", "thickness"]
        loaf = data(await agent.call_tool("describe", {"name": "Loaf#2"}))
        assert loaf["made_from"] == ["Loaf#1"]
        result = await agent.call_tool("write", {"loaf": "Loaf#1"})
        assert max(len(result.content[0].text), len(json.dumps(data(result)))) < 200_000


async def test_objects_the_graph_and_the_session_are_resources() -> None:
    async with served(finished(approve="all")) as (_, server), client(server) as agent:
        result = await agent.call_tool("cut", CUT)
        listed = {str(resource.uri) for resource in (await agent.list_resources()).resources}
        assert result.content[1].uri in listed
        loaf = await agent.read_resource(result.content[1].uri)
        assert json.loads(loaf.contents[0].text) == {"slices": 20, "thickness": 3}
        assert loaf.ttl_ms == 24 * 60 * 60 * 1000
        graph = await agent.read_resource("toolcall://session/graph.svg")
        assert graph.contents[0].text.startswith("<svg")
        text = await agent.read_resource("toolcall://session/session.md")
        assert "asked by mcp:tester" in text.contents[0].text
        assert text.ttl_ms == 0
        with pytest.raises(MCPError, match="there is nothing named"):
            await agent.read_resource("toolcall://objects/Loaf%239")
        with pytest.raises(MCPError, match="there is no resource"):
            await agent.read_resource("file:///etc/passwd")


async def test_a_link_to_an_object_of_another_branch_gives_no_other_object() -> None:
    async with served(finished(approve="all")) as (host, server), client(server) as agent:
        before = host.panel.session.head
        link = (await agent.call_tool("cut", CUT)).content[1].uri
        host.panel.session = host.panel.session.fork(before)
        other = await agent.call_tool("cut", {"loaf": "Loaf#1", "thickness": 6})
        assert data(other)["result"] == "Loaf#2"
        with pytest.raises(MCPError, match="on a branch that the person has left"):
            await agent.read_resource(link)


def same(table: Any) -> Any:
    """Return it."""
    return table


@pytest.mark.parametrize(
    ("share", "seen", "unseen"),
    [
        (Sharing("schema"), ["city", "object"], ["Oslo", "row19"]),
        (Sharing("sample"), ["Oslo", "row19"], ["row20"]),
        (Sharing("values"), ["Oslo", "row29"], []),
        (Sharing("values", ("city",)), ["row29", "withheld"], ["Oslo"]),
    ],
)
async def test_a_client_sees_what_is_shared(
    share: Sharing, seen: list[str], unseen: list[str]
) -> None:
    frame = pandas.DataFrame({"city": ["Oslo"] * 30, "row": [f"row{n}" for n in range(30)]})
    session = finished(same, inputs={"table": frame.astype(object)}, approve="all")
    async with served(session, share) as (_, server), client(server) as agent:
        read = await agent.call_tool("read_object", {"name": "DataFrame#1"})
        uris = ("objects/DataFrame%231", "session/graph.svg")
        sent = [(await agent.read_resource(f"toolcall://{uri}")).contents[0].text for uri in uris]
        sent.append(read.content[0].text)
        for text in (sent[0], sent[2]):
            assert all(word in text for word in seen)
        assert not any(word in text for word in unseen for text in sent)


# -- safety --------------------------------------------------------------------------------------


def post(server: HttpServer, path: str = "/mcp", **headers: str) -> httpx2.Response:
    call = {"method": "tools/call", "params": {"name": "cut", "arguments": CUT}}
    headers = {"accept": "application/json, text/event-stream", **headers}
    url = f"http://127.0.0.1:{server.port}{path}"
    return httpx2.post(url, json={"jsonrpc": "2.0", "id": 1, **call}, headers=headers)


ORIGINS = ("https://evil.example", "http://localhost:1", "null")


BEARER = {"authorization": "Bearer TOKEN"}


@pytest.mark.parametrize(
    ("status", "path", "headers"),
    [
        *((401, path, {}) for path in ("/mcp", "/mcp?token=TOKEN", "/TOKEN/mcp", "/other")),
        *((401, "/mcp", {"authorization": f"{sent}"}) for sent in ("Bearer wrong", "Basic TOKEN")),
        (401, "/mcp?access_token=TOKEN", {"authorization": "Bearer"}),
        *((403, "/mcp", {**BEARER, "origin": origin}) for origin in ORIGINS),
        (403, "/mcp", {**BEARER, "host": "evil.example"}),
        (403, "/mcp", {**BEARER, "host": "127.0.0.1.evil.example:80"}),
    ],
)
async def test_a_request_without_the_token_or_from_elsewhere_is_refused(
    status: int, path: str, headers: dict[str, str]
) -> None:
    async with served(finished(approve="all")) as (host, server):
        own = {key: text.replace("TOKEN", server.token) for key, text in headers.items()}
        url = path.replace("TOKEN", server.token)
        answer = await asyncio.to_thread(lambda: post(server, url, **own))
        assert answer.status_code == status
        assert server.token not in answer.text
        assert host.panel.session.calls == ()


async def test_the_server_listens_on_this_computer_alone_and_its_token_is_in_no_journal() -> None:
    async with served(finished(approve="all")) as (host, server):
        async with client(server) as agent:
            await agent.call_tool("cut", CUT)
        assert server.url.startswith("http://127.0.0.1:")
        assert server.token not in host.panel.session.journal.dumps()
        assert server.token not in repr(server)
        await asyncio.to_thread(server.stop)
        with pytest.raises(httpx2.ConnectError):
            await asyncio.to_thread(lambda: post(server))


LEAVES = """
import asyncio, socket
from tests.jupyter.test_mcp_server import finished, post, served

HEAD = "\\r\\n".join((
    "POST /mcp HTTP/1.1", "host: localhost:{}", "authorization: Bearer {}", "content-length: 9",
    "accept: application/json, text/event-stream", "content-type: application/json", "", "[",
))

async def test():
    async with served(finished()) as (host, server):
        with socket.create_connection(("127.0.0.1", server.port)) as to:
            to.sendall(HEAD.format(server.port, server.token).encode())
            to.shutdown(socket.SHUT_WR)
            to.recv(1000)
        token = {"authorization": "Bearer " + server.token, "host": "LOCALHOST"}
        await asyncio.to_thread(lambda: post(server, **token))

asyncio.run(test())
"""


def test_a_client_that_leaves_while_it_sends_prints_nothing_in_the_notebook() -> None:
    # In this process pytest has handlers of its own for what is logged.
    ended = subprocess.run([sys.executable, "-c", LEAVES], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


async def test_secrets_leave_in_no_form(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-very-secret-flour-123456"
    monkeypatch.setenv("BAKERY_API_KEY", key)

    def ask(loaf: Loaf, question: str) -> str:
        """Ask the bakery."""
        raise OSError(f"the key {key} is refused: {question}")

    def tell(loaf: Loaf) -> Loaf:
        """Keep the key."""
        return Loaf(key)  # type: ignore[arg-type]

    session = finished(ask, tell, approve="all")
    async with served(session) as (host, server), client(server) as agent:
        calls: list[tuple[str, dict[str, str]]] = [
            ("ask", {"loaf": "Loaf#1", "question": f"{key}?"}),
            *(("tell", {"loaf": "Loaf#1"}), ("read_object", {"name": "Loaf#2"})),
            ("list_tools_and_objects", {}),
        ]
        sent = [str(await agent.call_tool(*call)) for call in calls]
        for uri in ("session/session.md", "session/graph.svg", "objects/Loaf%232"):
            sent.append(str(await agent.read_resource(f"toolcall://{uri}")))
        assert "{secret:BAKERY_API_KEY}" in sent[0]
        assert not [text for text in sent if "very-secret" in text]
        assert "very-secret" not in host.panel.session.journal.dumps()
