"""A round of input of a call: what its running tool asks the person, and the response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from .events import Data, Decided, InputNeeded
from .recorded_data import JsonObject, Record


class InputRound(Record, frozen=True):
    """What a call's tool asked the person once, and the response, as of an entry of the journal."""

    asked: InputNeeded
    verified: bool = True
    """Whether this computer recorded it, and no other computer continued it. If not, the tool does
    not resume with its state."""
    keys: tuple[str, ...] = ()
    """The keys of those markers in `asked.state` that stand for secrets."""
    response: Decided | None = None
    is_response_verified: bool = True
    resumed: bool = False
    """Whether the tool has continued with the response."""

    @property
    def status(self) -> Literal["approved", "input required", "unknown"]:
        """The status of its call until the tool continues."""
        if not self.verified:
            return "unknown"
        return "input required" if self.response is None else "approved"

    @property
    def content(self) -> Mapping[str, JsonObject]:
        """The fields that the person filled in, by request; empty where they declined."""
        result = self.response.result if self.response is not None else None
        return result.data if isinstance(result, Data) and isinstance(result.data, dict) else {}
