"""pydantic-ai: an agent with a FunctionModel; each step is kept by its DBOS integration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dbos import DBOS, SetWorkflowID
from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart, UsageLimits
from pydantic_ai.durable_exec.dbos import DBOSDurability
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tests.benchmarks.peers.of_dbos import configure
from tests.benchmarks.peers.work import Chain, Do, Job, main

UNLIMITED = UsageLimits(request_limit=None)
"""By default a run ends with an error after 50 requests."""


def agent_of(chain: Chain, tool: Callable[[int], int], **options: Any) -> Any:
    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        number = chain.next_number()
        if number is None:
            return ModelResponse(parts=[TextPart("done")])
        call = ToolCallPart("follow", {"number": number}, f"call_{number}")
        return ModelResponse(parts=[call])

    return Agent(FunctionModel(reply), name="peers", tools=[tool], **options)


def loop(job: Job) -> Do:
    chain = Chain(job.count)
    agent = agent_of(chain, chain.follow)

    def run() -> list[int]:
        agent.run_sync("go", usage_limits=UNLIMITED)
        return chain.results

    return run


def durable(job: Job) -> Do:
    """Model requests are steps of a DBOS workflow, and so is the tool, as their guide says."""
    configure(job)
    chain = Chain(job.count)

    @DBOS.step()
    def follow(number: int) -> int:
        """Make a number of the one before."""
        return chain.follow(number)

    agent = agent_of(chain, follow, capabilities=[DBOSDurability()])

    @DBOS.workflow()
    def work() -> None:
        agent.run_sync("go", usage_limits=UNLIMITED)

    def run() -> list[int]:
        with SetWorkflowID("first"):
            work()
        return chain.results

    DBOS.launch()
    return run


if __name__ == "__main__":
    main({"loop": loop, "durable": durable})
    DBOS.destroy()
