"""A model that replies from a list: for tutorials and tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core.digests import digest
from ..core.errors import UsageError
from ..core.events import Call
from ..core.json_data import mapped
from ..schemes.messages import Reply, Request, call_id
from ..schemes.select import SELECT

Item = str | tuple[str, Mapping[str, Any]] | Sequence[Any]


class Scripted:
    """A model that replies from a list, one item a turn, and needs no network.

    It keeps no position: the turn is the number of replies so far, so a fork or a replay gets
    the same replies. Replies to questions (`transform`, `query`) count too. After the last item
    its reply is empty.

    In the scheme `select` a script may leave out `selectTools`: the first reply that needs it
    then begins with one such call, for the tools of this turn and of all later ones.

    Args:
        items: What it replies: for each turn a text, a `(tool, arguments)` pair, or a list of
            these. `"$Potato"` in arguments stands for the newest object of that type, and for
            itself if there is none.
        name: What the model is called in a journal. `identity` is the name with a digest of the
            items, so that a session notices another script.

    Returns:
        A model: call it with a `Request`, and it returns a `Reply`.

    Raises:
        UsageError: An item is neither of these.

    Example:
        >>> from jupyter_toolcall import Scripted, Session, Toolbox
        >>> def add(x: int, y: int) -> int:
        ...     return x + y
        >>> model = Scripted([["I add them.", ("add", {"x": 1, "y": 2})], "It is 3."])
        >>> session = Session(Toolbox(add), model, scheme="flat", approve="all").tell("1 + 2?")
        >>> session.run().text
        'It is 3.'
        >>> session.calls[0].result
        3
    """

    def __init__(self, items: Iterable[Item], name: str = "scripted") -> None:
        # One text is one reply, and not one for each of its letters.
        turns: Any = [items] if isinstance(items, str) or not isinstance(items, Iterable) else items
        self.items = tuple(map(_turn, turns))
        self.name = name
        self._selects = any(tool == SELECT for _, calls in self.items for tool, _ in calls)

    @property
    def identity(self) -> str:
        """The name, and a digest of the items: another script is another model."""
        return f"{self.name}:{digest('script', repr(self.items))[:12]}"

    def __call__(self, request: Request) -> Reply:
        # What clients of a served session called is not in the script.
        turn = request.turn + request.beside - request.client_turns
        if turn >= len(self.items):
            return Reply()
        texts, items = self.items[turn]
        if missing := self._tools_to_select(request, turn):
            items = ((SELECT, {"tools": missing}), *items)
        calls = tuple(
            Call(call_id(request.turn, index, len(items)), tool, filled(arguments, request.newest))
            for index, (tool, arguments) in enumerate(items)
        )
        return Reply("\n".join(texts), calls, "tools" if calls else "end")

    def _tools_to_select(self, request: Request, turn: int) -> list[str]:
        """Return what has to be selected before this turn's calls: their tools, and later ones.

        A script that calls `selectTools` selects by itself, and may forget a tool on purpose.
        """
        if self._selects or SELECT not in [tool.name for tool in request.tools]:
            return []
        missing = {tool.name for tool in request.deferred}
        if all(tool not in missing for tool, _ in self.items[turn][1]):
            return []
        wanted = (tool for _, calls in self.items[turn:] for tool, _ in calls)
        return [tool for tool in dict.fromkeys(wanted) if tool in missing]

    def __repr__(self) -> str:
        return f"<{self.name}: a script of {len(self.items)} turns>"


_Turn = tuple[tuple[str, ...], tuple[tuple[str, Mapping[str, Any]], ...]]


def _turn(item: Item) -> _Turn:
    match item:
        case str():
            return (item,), ()
        case (str() as tool, Mapping() as arguments):
            return (), ((tool, arguments),)
        case list() | tuple():
            parts = [_turn(part) for part in item]
            return sum((texts for texts, _ in parts), ()), sum((calls for _, calls in parts), ())
    raise UsageError(
        f"{item!r:.60} is no turn of a script: give a text, a (tool, arguments) pair, "
        "or a list of these"
    )


def filled(value: object, newest: Mapping[str, str]) -> Any:
    """Return arguments with the newest object of each type in place of `"$Type"`."""
    return mapped(
        value, str, lambda text: newest.get(text[1:], text) if text.startswith("$") else text
    )
