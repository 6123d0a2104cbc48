"""A round of input of a call: what its running tool asks the person, and the response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .events import Data, Decided, InputNeeded


@dataclass(frozen=True, slots=True)
class InputRound:
    """What a call's tool asked the person at one point, as it stands at an entry."""

    asked: InputNeeded
    verified: bool = True
    """Whether this machine recorded it, and nothing went on elsewhere: the tool goes on with the
    state of no other."""
    keys: tuple[str, ...] = ()
    """The keys of the markers in that state that stand for secrets."""
    response: Decided | None = None
    is_response_verified: bool = True
    resumed: bool = False
    """Whether the tool has gone on with the response."""

    @property
    def status(self) -> Literal["approved", "input required", "unknown"]:
        """The status of its call, while the tool has not gone on."""
        if self.response is not None:
            return "approved"
        return "input required" if self.verified else "unknown"

    @property
    def content(self) -> Mapping[str, Mapping[str, Any]]:
        """The fields that the person filled in, by request; empty where they declined."""
        result = self.response.result if self.response is not None else None
        return result.data if isinstance(result, Data) and isinstance(result.data, dict) else {}
