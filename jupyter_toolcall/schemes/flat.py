"""Scheme `flat`: every tool, always. What most model APIs mean by tools."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.state import State
from ..tools.toolbox import Toolbox
from .save_tool import reminder, save_tools
from .scheme import Offer, Scheme

SYSTEM = (
    "Objects have names such as Type#1 and never change: a tool that returns one makes a new name."
)


@dataclass(frozen=True)
class Flat(Scheme):
    """Every tool, always."""

    def offer(self, state: State, toolbox: Toolbox) -> Offer:
        return Offer(save_tools(state), tuple(toolbox), _system(state), reminder=reminder(state))


def _system(state: State) -> str:
    """Objects from outside are named here, since no tool's result ever names them."""
    lines = [
        f"- {state.name_of(made)}: {made.description}".rstrip(": ")
        for _, made in state.opened.inputs
    ]
    return "\n".join([SYSTEM, *(["Objects at the start:", *lines] if lines else [])])
