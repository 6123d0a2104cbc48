"""OpenAI Agents SDK: an agent with a Model of its own; each turn is kept by its SQLiteSession."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from agents import (
    Agent,
    Model,
    ModelResponse,
    Runner,
    SQLiteSession,
    Usage,
    function_tool,
    set_tracing_disabled,
)
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from tests.benchmarks.peers.work import Chain, Do, Job, main

END = ResponseOutputMessage(
    id="end",
    content=[ResponseOutputText(annotations=[], text="done", type="output_text")],
    role="assistant",
    status="completed",
    type="message",
)


class Stub(Model):
    """A model that asks for one call of the chain a turn."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain

    async def get_response(self, *arguments: Any, **options: Any) -> ModelResponse:
        number = self.chain.next_number()
        output = END if number is None else call_of(number)
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def call_of(number: int) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        id=f"item_{number}",
        call_id=f"call_{number}",
        name="follow",
        arguments=json.dumps({"number": number}),
        type="function_call",
    )


def loop(job: Job, session: SQLiteSession | None = None) -> Do:
    chain = Chain(job.count)
    agent = Agent(name="peers", model=Stub(chain), tools=[function_tool(chain.follow)])

    def run() -> list[int]:
        # By default a run ends with an error after 10 turns.
        Runner.run_sync(agent, "go", max_turns=job.count + 1, session=session)
        return chain.results

    return run


def durable(job: Job) -> Do:
    return loop(job, SQLiteSession("first", job.folder / "session.sqlite"))


if __name__ == "__main__":
    set_tracing_disabled(True)
    main({"loop": loop, "durable": durable})
