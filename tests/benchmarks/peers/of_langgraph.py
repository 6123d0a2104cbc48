"""LangGraph: a model node and its ToolNode; an edit starts at the checkpoint before the call."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tests.benchmarks.peers.work import Chain, Do, Job, main, ran


def loop_of(job: Job, saver: Any = None, **how: Any) -> Do:
    """Return what runs the loop of a model and its tools."""
    chain = Chain(job.count)

    def model(state: MessagesState) -> dict[str, Any]:
        number = chain.next_number()
        call = {"name": "follow", "args": {"number": number}, "id": f"call_{number}"}
        calls = [] if number is None else [call]
        return {"messages": [AIMessage(content="", tool_calls=calls)]}

    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", ToolNode([tool(chain.follow)]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    app, config = graph.compile(checkpointer=saver), configured(job)

    def run() -> list[int]:
        app.invoke({"messages": [HumanMessage("go")]}, config, **how)
        return chain.results

    return run


def configured(job: Job) -> dict[str, Any]:
    return {"recursion_limit": 3 * job.count + 50, "configurable": {"thread_id": "1"}}


def joined(one: dict[int, int], more: dict[int, int]) -> dict[int, int]:
    return {**one, **more}


class State(TypedDict):
    """Where a script of calls has come to."""

    call: int
    values: Annotated[dict[int, int], joined]
    changed: bool


def edit(job: Job) -> Do:
    follows: Sequence[int | None] = job.follows

    def step(state: State) -> dict[str, Any]:
        call, before = state["call"], follows[state["call"]]
        value = state["values"][before] if before is not None else 0
        made = ran(job.argument(call, state["changed"]), value)
        return {"call": call + 1, "values": {call: made}}

    def onward(state: State) -> str:
        return END if state["call"] >= job.count else "step"

    graph: Any = StateGraph(State)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", onward)
    app, config = graph.compile(checkpointer=InMemorySaver()), configured(job)
    app.invoke({"call": 0, "values": {}, "changed": False}, config)

    def run() -> dict[int, int]:
        states = app.get_state_history(config)
        before = next(each for each in states if each.values.get("call") == job.at)
        forked = app.update_state(before.config, {"changed": True}, as_node="step")
        found: dict[int, int] = app.invoke(None, {**config, **forked})["values"]
        return found

    return run


def durable(job: Job) -> Do:
    base = sqlite3.connect(job.folder / "graph.db", check_same_thread=False)
    saver = SqliteSaver(base)
    saver.setup()
    return loop_of(job, saver, durability="sync")


if __name__ == "__main__":
    main({"loop": loop_of, "durable": durable, "graph": edit, "chain": edit})
