"""Connections to MCP servers (https://modelcontextprotocol.io, revision 2026-07-28 and those of
2025).

All connections have one event loop, in a thread of its own, so that they survive cells. Each is
entered and left by one task; calls are tasks beside it. The methods of `Connection` block, and an
interrupt cancels the request at the server.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import dataclasses
import functools
import itertools
import os
import queue
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..core.errors import CallError, DefinitionError, UsageError
from ..core.recorded_data import JsonObject
from ..core.text import visible_text
from ..tools.invoke import LoopThread, run_on
from ..tools.running_tool import InputRequired, InputResponse, OutcomeUnknown, report_progress
from . import mcp_sdk
from .mcp_result_checks import demand_declared, demand_size, too_large_text
from .mcp_sdk import Json, Server, plain
from .mcp_servers import ServerAddress

T = TypeVar("T")


@functools.cache
def loop_thread() -> LoopThread:
    """Return the loop of this process; it is started when it is first needed."""
    return LoopThread("toolcall-mcp")


if hasattr(os, "register_at_fork"):
    # A forked child has no threads, and starts with a new loop.
    os.register_at_fork(after_in_child=loop_thread.cache_clear)
CONNECT_SECONDS = 120.0
"""A program may be downloaded first."""
LIST_SECONDS = 60.0
LISTING_SECONDS = 30.0
"""How old a list may be before its tools are listed again ahead of a call: a call may have waited
for a person, and not every server announces that its tools have changed."""
MAX_PAGES, MAX_ITEMS = 100, 5_000
MAX_ROUNDS = 10
"""How often a server may ask to be called again without a question to the person."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools that a server lists, as JSON, and its own instructions for the model."""

    tools: tuple[Json, ...]
    instructions: str = ""
    protocol: str = ""
    left_out: tuple[str, ...] = ()
    """The names of tools that are not valid as tools."""


@dataclass
class _RunningCall:
    """A call under way, and the questions that a server of 2025 asks meanwhile."""

    tool: str
    arguments: JsonObject
    task: asyncio.Task[Any]
    rounds: int = 0
    questions: asyncio.Queue[tuple[Any, asyncio.Future[Any]]] = field(default_factory=asyncio.Queue)


class Connection:
    """A connection to one server, opened when it is first needed and again after it was lost."""

    def __init__(self, address: ServerAddress) -> None:
        self.address = address
        self.listing: Listing | None = None
        """The tools as they were listed last."""
        self._listed_at = 0.0
        """When the tools were listed; 0 where the server said that they have changed since."""
        self._server = Server(address, self._show_link)
        self._thread = loop_thread()
        self._client: Any = None
        self._owner: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()
        """Set when the connection has ended, and to end it."""
        self._lock = asyncio.Lock()
        self._starts = 0
        self._deadline: asyncio.Timeout | None = None
        self._notices: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._running: list[_RunningCall] = []
        self._open_questions: dict[str, tuple[_RunningCall, asyncio.Future[Any]]] = {}
        self._numbers = itertools.count(1)
        self._output_schemas: dict[str, Json | None] = {}
        atexit.register(self.close)

    @property
    def is_open(self) -> bool:
        """Whether it is connected now."""
        return self._client is not None and not self._closed.is_set()

    @property
    def listing_is_old(self) -> bool:
        """Whether the tools may have changed since they were listed."""
        return time.monotonic() - self._listed_at > LISTING_SECONDS

    @listing_is_old.setter
    def listing_is_old(self, is_old: bool) -> None:
        self._listed_at = 0.0 if is_old else time.monotonic()

    # -- requests, from any thread ---------------------------------------------------------

    def list_tools(self) -> Listing:
        """Return the tools of the server.

        Raises DefinitionError where it cannot be reached, or its list does not end.
        """
        try:
            return self._run(self._list_tools())
        except (CallError, UsageError) as error:
            raise DefinitionError(f"MCP server {self.address.name}: {error}") from None

    def call(self, tool: str, arguments: JsonObject) -> Json:
        """Return the result of a tool (a `CallToolResult` as JSON).

        Raises CallError where nothing ran, OutcomeUnknown where that cannot be known, and
        InputRequired, whose state is what `answer` continues the call with.
        """
        return self._run(self._call(tool, arguments))

    def answer(
        self,
        tool: str,
        arguments: JsonObject,
        state: JsonObject,
        responses: Mapping[str, InputResponse],
    ) -> Json:
        """Continue a call with the person's responses. Raises what `call` raises."""
        results = {key: mcp_sdk.elicit_result(response) for key, response in responses.items()}
        if "asked" in state:
            return self._run(self._continue(str(state["asked"]), next(iter(results.values()))))
        # A server of 2026-07-28 is called again with the responses; one that only wanted a
        # page to be opened gave no state, and is called as the first time.
        input_responses = results if "state" in state else None
        return self._run(self._call(tool, arguments, input_responses, state.get("state")))

    def read(self, uri: str) -> list[Json]:
        """Return the contents of a resource. Raises CallError."""
        contents = self._run(self._request("read_resource", "contents", uri))
        demand_size(contents, f"the resource {uri:.200}")
        return contents

    def prompts(self) -> list[Json]:
        """Return the prompts that the server lists. Raises CallError."""
        return self._run(self._prompts())

    def prompt(self, name: str, arguments: Mapping[str, str]) -> list[Json]:
        """Return the messages of a prompt. Raises CallError."""
        return self._run(self._request("get_prompt", "messages", name, dict(arguments)))

    def close(self) -> None:
        """End the connection, and the program that was started for it."""
        with contextlib.suppress(Exception):
            self._run(self._close())

    def _run(self, task: Coroutine[Any, Any, T]) -> T:
        return run_on(self._thread, task, self._show_notices)

    def _show_notices(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                notice = self._notices.get_nowait()
                # What a tool prints is shown after its call; a link to sign in is needed in it.
                report_progress(notice)
                print(notice)  # noqa: T201

    # -- the owner of the connection -------------------------------------------------------

    async def _connected(self) -> Any:
        """Return the SDK's client, connected. Raises CallError where that fails."""
        async with self._lock:
            if self._client is None or self._closed.is_set():
                await self._connect()
                self._starts += 1
                self.listing_is_old = True
                if self._starts > 1:
                    state = "was started again" if self.address.command else "is connected again"
                    self._notices.put(f"MCP server {self.address.name} had stopped, and {state}.")
            return self._client

    async def _connect(self) -> None:
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closed, self._server.last_response.status = asyncio.Event(), 0
        owner = self._owner = asyncio.create_task(self._keep_open(ready, self._closed))
        try:
            async with asyncio.timeout(CONNECT_SECONDS) as self._deadline:
                await ready
        except TimeoutError:
            owner.cancel()
            raise CallError(f"it gave no answer within {CONNECT_SECONDS:g} seconds") from None
        except asyncio.CancelledError:
            owner.cancel()
            raise
        except UsageError as error:
            raise CallError(str(error)) from None
        except Exception as error:
            raise CallError(self._connect_error(error)) from None

    async def _keep_open(self, ready: asyncio.Future[None], closed: asyncio.Event) -> None:
        """Enter the connection, and leave it when it is closed."""
        # The SDK's task groups must be left by the task that entered them, so one task does both.
        try:
            async with mcp_sdk.new_client(
                self._server, closed, self._elicit, self._note_message
            ) as client:
                self._client = client
                ready.set_result(None)
                follower = asyncio.create_task(self._follow_changes(client))
                try:
                    await closed.wait()
                finally:
                    follower.cancel()
        except BaseException as error:
            closed.set()
            if not ready.done():
                ready.set_exception(_cause(error))

    async def _follow_changes(self, client: Any) -> None:
        """Note when the server says that its list of tools has changed (2026-07-28)."""
        tools = client.server_capabilities.tools
        if client.protocol_version < "2026" or tools is None or not tools.list_changed:
            return
        # Where the server ends the subscription, the next cell lists the tools again.
        with contextlib.suppress(Exception):
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self.listing_is_old = True

    async def _note_message(self, message: object) -> None:
        """Note when the server says that its list of tools has changed (2025)."""
        if type(message).__name__ == "ToolListChangedNotification":
            self.listing_is_old = True

    async def _show_link(self, url: str) -> None:
        self._notices.put(f"Sign in to the MCP server {self.address.name}: {url}")
        if self._deadline is not None:
            self._deadline.reschedule(self._thread.loop.time() + mcp_sdk.SIGN_IN_SECONDS)

    async def _close(self) -> None:
        self._closed.set()
        if self._owner is not None:
            await asyncio.wait({self._owner}, timeout=8)

    # -- requests that change nothing ------------------------------------------------------

    async def _list_tools(self) -> Listing:
        client = await self._connected()
        self.listing_is_old = False
        self._server.left_out.clear()
        tools = await self._pages(client.list_tools, "tools")
        self._output_schemas = {tool["name"]: tool.get("outputSchema") for tool in tools}
        about = client.instructions or "", client.protocol_version
        self.listing = Listing(tuple(tools), *about, tuple(self._server.left_out))
        return self.listing

    async def _pages(self, request: Callable[..., Awaitable[Any]], kind: str) -> list[Json]:
        """Return the items of all pages of a list."""
        items: list[Json] = []
        cursor = None
        for _ in range(MAX_PAGES):
            page = await self._in_time(request(cursor=cursor))
            items += [plain(item) for item in getattr(page, kind)]
            if page.next_cursor is None:
                return items
            if page.next_cursor == cursor or len(items) > MAX_ITEMS:
                break
            cursor = page.next_cursor
        raise CallError(f"its list of {kind} does not end: {len(items):,} so far")

    async def _prompts(self) -> list[Json]:
        client = await self._connected()
        if client.server_capabilities.prompts is None:
            return []
        return await self._pages(client.list_prompts, "prompts")

    async def _request(self, method: str, part: str, *arguments: object) -> list[Json]:
        """Return a part of what a method of the client returns."""
        client = await self._connected()
        result = await self._in_time(getattr(client, method)(*arguments))
        return [plain(item) for item in getattr(result, part)]

    async def _in_time(self, request: Awaitable[T]) -> T:
        """Return the result of a request that changes nothing. Raises CallError."""
        try:
            async with asyncio.timeout(LIST_SECONDS):
                return await request
        except TimeoutError:
            raise CallError(f"it gave no answer within {LIST_SECONDS:g} seconds") from None
        except Exception as error:
            if self._server.last_response.is_too_large:
                raise CallError(too_large_text("its answer")) from None
            raise CallError(mcp_sdk.error_text(_cause(error))) from None

    # -- calls -----------------------------------------------------------------------------

    async def _call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        responses: Mapping[str, object] | None = None,
        state: str | None = None,
        rounds: int = 0,
    ) -> Json:
        client = await self._connected()
        context = contextvars.copy_context()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            done = f"{progress:g} of {total:g}" if total else f"{progress:g}"
            text = visible_text(f"{done}: {message}") if message else done
            # The SDK calls this in a context of its own, that of its reading task.
            context.run(report_progress, text)

        request = client.session.call_tool(
            *(tool, dict(arguments), None, report),
            **{"input_responses": responses, "request_state": state, "allow_input_required": True},
        )
        task = asyncio.create_task(request)
        running = _RunningCall(tool, arguments, task, rounds=rounds)
        self._running.append(running)
        return await self._result_or_question(running)

    async def _continue(self, number: str, result: object) -> Json:
        """Continue the call in which a server of 2025 asked a question, with its result."""
        running, future = self._open_questions.pop(number, (None, None))
        if running is None or future is None or running.task.done():
            name = self.address.name
            raise OutcomeUnknown(f"the MCP server {name} stopped while it waited for this input")
        future.set_result(result)
        return await self._result_or_question(running)

    async def _result_or_question(self, running: _RunningCall) -> Json:
        """Return the result of a call. Raises InputRequired for a question of a server of 2025."""
        question = asyncio.create_task(running.questions.get())
        try:
            ends = running.task, question
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            running.task.cancel()
            self._running.remove(running)
            raise
        finally:
            question.cancel()
        if running.task.done():
            self._running.remove(running)
            return await self._result(running)
        parameters, future = question.result()
        number = str(next(self._numbers))
        self._open_questions[number] = running, future
        raise InputRequired({"input": mcp_sdk.input_request(parameters)}, {"asked": number})

    async def _result(self, running: _RunningCall) -> Json:
        tool, arguments = running.tool, running.arguments
        try:
            result = running.task.result()
        except asyncio.CancelledError:
            raise OutcomeUnknown(self._lost_text("")) from None
        except Exception as error:
            raise self._call_error(_cause(error), tool) from None
        if not hasattr(result, "input_requests"):
            data = plain(result)
            demand_size(data, f"{tool} ran, and its result")
            demand_declared(tool, data, self._output_schemas.get(tool))
            return data
        requests = mcp_sdk.input_requests(result, tool)
        if requests:
            raise InputRequired(requests, {"state": result.request_state})
        if running.rounds == MAX_ROUNDS:
            raise CallError(f"{tool} asked {MAX_ROUNDS} times to be called again, without result")
        await asyncio.sleep(0.05 * 2 ** min(running.rounds, 3))
        return await self._call(tool, arguments, None, result.request_state, running.rounds + 1)

    async def _elicit(self, context: object, parameters: object) -> object:
        """Return the person's response to a question of a server of 2025."""
        if not self._running:
            return mcp_sdk.elicit_result(InputResponse("cancel"))
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        # The question does not name its call: it is taken to belong to the latest one.
        self._running[-1].questions.put_nowait((parameters, future))
        return await future

    # -- errors ----------------------------------------------------------------------------

    def _call_error(self, error: Exception, tool: str) -> Exception:
        """Return what a failed call means."""
        text = mcp_sdk.error_text(error)
        kind = mcp_sdk.error_kind(error, self._server.last_response)
        if kind in ("not sent", "lost"):
            self._closed.set()
        match kind:
            case "page":
                return InputRequired(mcp_sdk.pages_to_open(error), {})
            case "no result":
                return CallError(f"{tool} ran, and {text}")
            case "too large":
                return CallError(too_large_text(f"{tool} ran, and its result"))
            case "not sent":
                return CallError(self._connect_error(error))
            case "lost":
                return OutcomeUnknown(self._lost_text(text))
        status = self._server.last_response.status
        return CallError(text if status < 400 else f"{text} (status {status})")

    def _lost_text(self, text: str) -> str:
        why = "" if text in ("", "Connection closed") else f" ({text})"
        return f"the connection to the MCP server {self.address.name} was lost while it ran{why}"

    def _connect_error(self, error: Exception) -> str:
        """Return why a server cannot be reached, and what to do."""
        address, cause = self.address, _cause(error)
        if isinstance(cause, (FileNotFoundError, NotADirectoryError)) and address.command:
            if not Path(folder := address.filled().folder).is_dir():
                return f"it starts in the folder {folder!r}, which is not there"
            return f"there is no program {address.command[0]!r}; install it, or give its whole path"
        status = self._server.last_response.status
        if status in (401, 403):
            reason = status if type(cause).__name__ == "MCPError" else mcp_sdk.error_text(cause)
            return (
                f"{address.display_text} refuses the request ({reason}); give a token: "
                '{"url": ..., "headers": {"Authorization": "Bearer ${NAME}"}}'
            )
        if address.command:
            last = self._server.last_line or mcp_sdk.error_text(cause)
            return f"`{address.display_text}` did not start as an MCP server: {last}"
        return f"{address.display_text} cannot be reached: {mcp_sdk.error_text(cause)}"


def _cause(error: BaseException) -> Exception:
    """Return the first error in a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error if isinstance(error, Exception) else RuntimeError(type(error).__name__)


_CONNECTIONS: dict[str, Connection] = {}
"""The connections of this process, by the identity of the server."""


def connection_to(address: ServerAddress) -> Connection:
    """Return the connection of this process to a server; each has a name of its own."""
    existing = _CONNECTIONS.get(address.identity)
    # In a forked child the loop of the parent does not run.
    if existing is None or existing._thread is not loop_thread():
        existing = _CONNECTIONS[address.identity] = Connection(_with_unique_name(address))
    return existing


def _with_unique_name(address: ServerAddress) -> ServerAddress:
    """Return an address with a name that no other connection has.

    A name that a person chose stays. A connection that had it, such as one to a server whose entry
    has changed, is closed; any other name gets a number.
    """
    names = {connection.address.name: connection for connection in _CONNECTIONS.values()}
    if address.is_named and address.name in names:
        replaced = names[address.name]
        replaced.close()
        del _CONNECTIONS[replaced.address.identity]
        return address
    numbered = (f"{address.name}_{number}" for number in itertools.count(2))
    name = next(name for name in itertools.chain([address.name], numbered) if name not in names)
    return dataclasses.replace(address, name=name)


def connections() -> list[Connection]:
    """Return the connections of this process."""
    return list(_CONNECTIONS.values())


def connection_by_name(name: str) -> Connection:
    """Return the connection to a server of a name. Raises CallError where there is none."""
    for connection in _CONNECTIONS.values():
        if connection.address.name == name:
            return connection
    raise CallError(f"the MCP server {name} is not connected in this kernel")
