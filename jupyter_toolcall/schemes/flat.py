"""Scheme `flat`: every tool, always. What most model APIs mean by tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..request import Message, Reply, Result
from ..state.fold import CallState, State
from ..tools import Tool, Toolbox
from .outputs import reminder, save_tools
from .scheme import Offer, rendered, with_receiver

SYSTEM = (
    "Objects have names such as Type#1 and never change: a tool that returns one makes a new name."
)


@dataclass(frozen=True, slots=True)
class Flat:
    """Every tool, always."""

    name: str = "flat"

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        return Offer(save_tools(state), tuple(toolbox), _system(state), reminder=reminder(state))

    def read(self, reply: Reply, state: State, toolbox: Toolbox) -> Reply:
        return reply

    def complete(self, call: CallState, tool: Tool, state: State) -> dict[str, Any]:
        return with_receiver(call, tool, state)

    def render(self, call: CallState, state: State, toolbox: Toolbox) -> Result:
        return rendered(call, state)

    def speak(self, message: Message) -> Message:
        return message


def _system(state: State) -> str:
    """Objects from outside are named here, since no tool's result ever names them."""
    lines = [
        f"- {state.by_maker[made.maker]}: {made.description}".rstrip(": ")
        for _, made in state.opened.inputs
    ]
    return "\n".join([SYSTEM, *(["Objects at the start:", *lines] if lines else [])])
