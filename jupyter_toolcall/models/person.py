"""A model that is a person: it never answers by itself, and the session waits for the reply."""

from __future__ import annotations

from ..schemes.messages import Reply, Request


class Person:
    """You play the model: nobody has replied yet, whatever is asked."""

    name = identity = "person"

    def __call__(self, request: Request) -> Reply | None:
        return None

    def __repr__(self) -> str:
        return "<person: you play the model>"
