"""smolagents: a ToolCallingAgent with a Model of its own; it has no store for its steps."""

from __future__ import annotations

from typing import Any, ClassVar

from smolagents import ChatMessage, LogLevel, MessageRole, Model, Tool, ToolCallingAgent
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from smolagents.monitoring import TokenUsage

from tests.benchmarks.peers.work import Chain, Do, Job, main


class Stub(Model):
    """A model that asks for one call of the chain a turn."""

    def __init__(self, chain: Chain) -> None:
        super().__init__(model_id="stub")
        self.chain = chain

    def generate(self, messages: list[Any], **options: Any) -> ChatMessage:
        number = self.chain.next_number()
        name, arguments = "follow", {"number": number}
        if number is None:
            name, arguments = "final_answer", {"answer": 0}
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        call = ChatMessageToolCall(id=f"call_{number}", type="function", function=function)
        return ChatMessage(
            role=MessageRole.ASSISTANT,
            content="",
            tool_calls=[call],
            token_usage=TokenUsage(input_tokens=1, output_tokens=1),
        )


class Follow(Tool):
    """The tool of the chain."""

    name = "follow"
    description = "Make a number of the one before."
    inputs: ClassVar = {"number": {"type": "integer", "description": "which number it is"}}
    output_type = "integer"

    def __init__(self, chain: Chain) -> None:
        super().__init__()
        self.chain = chain

    def forward(self, number: int) -> int:
        return self.chain.follow(number)


def loop(job: Job) -> Do:
    chain = Chain(job.count)
    # By default a run ends after 20 steps.
    agent = ToolCallingAgent(
        tools=[Follow(chain)],
        model=Stub(chain),
        max_steps=job.count + 1,
        verbosity_level=LogLevel.OFF,
    )

    def run() -> list[int]:
        agent.run("go")
        return chain.results

    return run


if __name__ == "__main__":
    main({"loop": loop})
