"""Where the value of each argument of a call came from, and whether that can be trusted.

A text or a number comes from where the same was found, which is no proof. So a value is trusted
only where it stands in something trusted and in nothing untrusted. The result of a call is as
trusted as the tool and as the arguments of the call: what a trusted tool says of an untrusted value
is not trusted either.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

from ..core.branch_names import is_same_json
from ..core.call_record import TRUST, ArgumentOrigin, CallRecord, Trust
from ..core.events import Producer
from ..core.json_data import nested
from ..core.recorded_data import replace
from ..core.state import State
from ..tools.tool import Tool, default_arguments, parameters_schema, unchanged
from ..tools.toolbox import Toolbox

Inputs = tuple[str, ...]
"""The names of inputs, in the order in which the arguments of the calls name them."""
NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
WHOLE = 6
"""A text of so many characters may stand anywhere; a shorter one has to be a word of its own."""


@dataclass(frozen=True, slots=True)
class CallOrigins:
    """The origins of a call's arguments."""

    arguments: Mapping[str, ArgumentOrigin] = field(default_factory=dict)
    inputs: Mapping[str, Inputs] = field(default_factory=dict)
    """Of each argument that names objects alone, the inputs that all of them are, or are made
    from."""
    is_exposed: bool = False
    """Whether something untrusted was in the conversation when the model asked for the call."""

    @property
    def trust(self) -> Trust:
        """How far the call can be trusted: it is what the person meant, and nobody else's words.

        A call without arguments says nothing of who wanted it.
        """
        if self.has_untrusted:
            return "untrusted"
        if not self.is_exposed:
            return "trusted"
        trusts = [o.trust for o in self.arguments.values() if o.kind != "default"]
        return least_trusted(*trusts) if trusts else "unclear"

    @property
    def has_untrusted(self) -> bool:
        """Whether others wrote the value of an argument, or a part of it."""
        return any(origin.trust == "untrusted" for origin in self.arguments.values())

    @property
    def doubtful(self) -> tuple[str, ArgumentOrigin] | None:
        """The first argument that is trusted least, with its origin; None where all are trusted."""
        named = [*self.arguments.items()]
        worst = min(named, key=lambda item: TRUST.index(item[1].trust), default=None)
        return worst if worst is not None and worst[1].trust != "trusted" else None


def least_trusted(*trusts: Trust) -> Trust:
    """Return the lowest of some grades of trust."""
    return min(trusts, key=TRUST.index)


@dataclass(frozen=True, slots=True)
class _Source:
    """A text of the conversation, in which a value may stand."""

    origin: ArgumentOrigin
    turn: int
    """The turn that wrote it: only later turns have read it."""
    text: str
    letters: str
    """Of an untrusted text its letters and digits alone."""

    def has(self, value: str) -> bool:
        """Return whether a value stands here as a whole; in an untrusted text in any spelling."""
        if self.origin.trust == "untrusted":
            value = _folded(value)
            if len(letters := _letters(value)) >= WHOLE:
                return letters in self.letters
        before, after = r"(?<!\w)", r"(?!\w)"
        if self.origin.trust != "untrusted":
            # 99 is no part of 5.99, 500 none of 1,500, and nothing is a part of an object's name.
            after = r"(?!\w|#\d)"
            if self.origin.kind == "result" and len(value) < WHOLE:
                # A short part of a result is found there by chance.
                return value in self.text.split("\n")
            if NUMBER.fullmatch(value):
                before, after = r"(?<![\w.,])(?<!\w#)", r"(?!\w|[.,]\d)"
            elif len(value) >= WHOLE:
                before, after = "", r"(?!#\d)"
        return re.search(before + re.escape(value) + after, self.text) is not None

    def may_have(self, value: str) -> bool:
        """Return whether this is an untrusted text in which a value stands somehow."""
        return self.letters != "" and _letters(_folded(value)) in self.letters


def _folded(text: str) -> str:
    """Return a text in one case and one form of its characters."""
    return unicodedata.normalize("NFKC", text).casefold()


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _source(origin: ArgumentOrigin, turn: int, data: object) -> _Source:
    text = unicodedata.normalize("NFC", "\n".join(map(_text, _leaves(data))))
    if origin.trust != "untrusted":
        return _Source(origin, turn, text, "")
    return _Source(origin, turn, _folded(text), _letters(_folded(text)))


def _text(leaf: object) -> str:
    """Return a text or a number as a text; "" for what nobody can find again."""
    if isinstance(leaf, bool) or not isinstance(leaf, (str, int, float)):
        return ""
    if isinstance(leaf, float) and leaf.is_integer():
        return str(int(leaf))
    return unicodedata.normalize("NFC", str(leaf))


def _leaves(data: object, names: frozenset[str] = frozenset()) -> Iterator[object]:
    """Yield the values in JSON data, and the keys that are not in `names`."""
    for part in nested(data):
        if isinstance(part, Mapping):
            yield from (key for key in part if key not in names)
        elif not isinstance(part, (list, tuple)):
            yield part


def has_text(value: object) -> bool:
    """Return whether a text stands in JSON data."""
    return any(isinstance(leaf, str) for leaf in _leaves(value))


def _property_names(schema: object) -> Iterator[str]:
    """Yield the names of the properties in a schema, at any depth."""
    for part in nested(schema):
        match part:
            case {"properties": Mapping() as properties}:
                yield from properties


BLOCK = 64
"""How many texts are searched at once."""
NAMED = 4
"""How many of the trusted, and of the untrusted, places of a value are named."""


@dataclass
class _Block:
    """Some texts of the conversation, and all of them as one text, in which is searched first."""

    sources: list[_Source] = field(default_factory=list)
    text: str = ""
    letters: str = ""

    def add(self, source: _Source) -> None:
        self.sources.append(source)
        if source.origin.trust == "untrusted":
            self.letters += f"\n{source.letters}"
        else:
            self.text += f"\n{source.text}"

    def may_have(self, value: str, letters: str) -> bool:
        """Return whether a value may stand in one of the texts."""
        return value in self.text or letters in self.letters


@dataclass
class OriginReader:
    """Reads the origins of the calls of a session, on all its branches."""

    of_file: bool = False
    """Whether it reads a file for show, and nothing can run: what others recorded counts too."""
    _untrusted: frozenset[str] = frozenset()
    _conversation: _Conversation | None = None
    """The one that was read last, which may go on."""
    _last: tuple[State, CallRecord, Mapping[str, Any], CallOrigins] | None = None

    def origins(
        self, state: State, call: CallRecord, arguments: Mapping[str, object], toolbox: Toolbox
    ) -> CallOrigins:
        """Return the origins of a call that would run, or ran, with these arguments."""
        untrusted = frozenset(tool.name for tool in toolbox if tool.untrusted)
        if untrusted != self._untrusted:
            self._untrusted, self._conversation, self._last = untrusted, None, None
        # A call is judged several times before it runs.
        if self._last and all(map(operator.is_, self._last, (state, call, arguments))):
            return self._last[3]
        conversation = self._conversation
        if conversation is None or not conversation.read_on(state, toolbox):
            conversation = self._conversation = _Conversation(state, toolbox, self.of_file)
        origins = conversation.origins(call, arguments)
        self._last = state, call, arguments, origins
        return origins


class _Conversation:
    """The texts of the conversation and the results of its calls, in order.

    It is read once, and goes on as the session does. Of all its texts a call has read those of
    earlier turns.
    """

    def __init__(self, state: State, toolbox: Toolbox, of_file: bool) -> None:
        self.state, self.toolbox, self.of_file = state, toolbox, of_file
        self.results: dict[str, Trust] = {}
        self.inputs: dict[str, Inputs] = {}
        """Of each call, the inputs that its objects are made from."""
        is_foreign = {turn for turn, _, verified in state.prompts if not (verified or of_file)}
        self.exposed_since: int | None = min(is_foreign, default=None)
        """The turn that made the first untrusted result, or that a stranger began."""
        self.blocks: list[_Block] = []
        self.calls: list[CallRecord] = []
        """The calls that were read; what has no end yet is read again."""
        prompt, foreign = ArgumentOrigin("prompt"), ArgumentOrigin("prompt", "untrusted")
        for turn, text, _ in state.prompts:
            self._add_source(_source(foreign if turn in is_foreign else prompt, turn, text))
        for _, input_object in state.opened.inputs:
            if input_object.shown:
                origin = ArgumentOrigin("object", object=state.name_of(input_object))
                self._add_source(_source(origin, 0, input_object.shown))
        self._read([*state.all_calls()])

    def read_on(self, state: State, toolbox: Toolbox) -> bool:
        """Read on to a later state of the same branch; return False for any other state."""
        before = self.state
        if state is before and toolbox is self.toolbox:
            return True
        if toolbox is not self.toolbox or state.opened is not before.opened:
            return False
        calls = [*state.all_calls()]
        is_same = len(calls) >= len(self.calls) and all(map(operator.is_, self.calls, calls))
        if not is_same or [*state.prompts] != [*before.prompts]:
            return False
        self.state = state
        self._read(calls)
        return True

    def _read(self, calls: list[CallRecord]) -> None:
        """Read the calls from the first on that has not ended, or was not read."""
        is_settled = True
        for call in calls[len(self.calls) :]:
            is_settled = is_settled and call.is_over
            self.inputs[call.id] = _in_order(map(self._inputs_of, call.uses.values()))
            trust, source = self.result(call)
            self.results[call.id] = trust
            if trust == "untrusted" and self.exposed_since is None:
                self.exposed_since = call.turn
            # What follows a call without an end is read again, and no model has read it yet.
            if is_settled:
                self.calls.append(call)
                if source is not None:
                    self._add_source(source)

    def _add_source(self, source: _Source) -> None:
        if not self.blocks or len(self.blocks[-1].sources) >= BLOCK:
            self.blocks.append(_Block())
        self.blocks[-1].add(source)

    def result(self, call: CallRecord) -> tuple[Trust, _Source | None]:
        """Return how far the result of a call can be trusted, and its text."""
        tool, started = self.toolbox.get(call.tool), call.started
        if call.status in ("proposed", "rejected", "approved"):
            return "trusted", None
        is_answer = call.status == "answered"
        if is_answer:
            trust = self._of_decision(call)
        else:
            trust = self._of_tool(call, tool)
            before = (started.previous, *started.setters.values()) if started else ()
            # An instance, and a variable of the session, hold what earlier calls put there.
            earlier = [self.results.get(call_id, "unclear") for call_id in before if call_id]
            arguments_trust = self.origins(call, call.recorded_arguments).trust
            trust = least_trusted(trust, arguments_trust, *earlier)
        kind: Literal["person", "result"] = "person" if is_answer else "result"
        origin = ArgumentOrigin(kind, trust, call.id, call.tool, call.step)
        data = call.error if call.status == "failed" else call.structure or call.data
        return trust, None if data is None else _source(origin, call.turn, data)

    def _of_decision(self, call: CallRecord) -> Trust:
        is_own = self.of_file or (call.verified and not call.foreign)
        return "trusted" if is_own else "untrusted"

    def _of_tool(self, call: CallRecord, tool: Tool | None) -> Trust:
        """Return how far a tool's result can be trusted: as it is marked, or was when it ran."""
        recorded = call.started is not None and call.started.untrusted
        if recorded or (call.foreign and not self.of_file) or (tool and tool.untrusted):
            return "untrusted"
        return "trusted" if tool or self.of_file else "unclear"

    def origins(self, call: CallRecord, arguments: Mapping[str, object]) -> CallOrigins:
        """Return the origins of a call's arguments."""
        tool = self.toolbox.get(call.tool)
        # What a client of the served session has read is not known here.
        is_exposed = call.asked_call.by_client or (
            self.exposed_since is not None and self.exposed_since < call.turn
        )
        names = frozenset(_property_names(parameters_schema(tool))) if tool else frozenset()
        defaults = default_arguments(tool) if tool else {}
        # What fills an argument in may read other arguments, and what earlier calls left.
        is_filled = is_exposed and tool is not None and tool.fill is not unchanged

        def origin(name: str, value: object) -> ArgumentOrigin:
            if call.asked_call.by == "person" or (
                call.edited and call.proposed.get(name) != value and call.asked.get(name) == value
            ):
                return ArgumentOrigin("person", self._of_decision(call))
            if is_same_json(value, defaults.get(name)):
                return ArgumentOrigin("default")
            found = [self._found(leaf, call, is_exposed) for leaf in _leaves(value, names)]
            origins = [source for part in found for source in part] or [_own_words(is_exposed)]
            if name not in call.asked and all(source.kind == "model" for source in origins):
                return ArgumentOrigin("default", "unclear" if is_filled else "trusted")
            return _merged(origins)

        origins = {name: origin(name, value) for name, value in arguments.items()}
        inputs = {name: self._inputs_of_all(value) for name, value in arguments.items()}
        return CallOrigins(origins, inputs, is_exposed)

    def _inputs_of_all(self, value: object) -> Inputs:
        """Return the inputs that every object which a value names is, or is made from; none where
        a part of the value names no object."""
        objects = [self.state.objects.get(_text(leaf)) for leaf in _leaves(value)]
        inputs = [self._inputs_of(named.producer) if named else () for named in objects]
        return tuple(name for name in _in_order(inputs) if all(name in of for of in inputs))

    def _inputs_of(self, producer: Producer) -> Inputs:
        return (producer.input,) if producer.input else self.inputs.get(producer.call, ())

    def _found(self, leaf: object, call: CallRecord, is_exposed: bool) -> list[ArgumentOrigin]:
        """Return where a text or a number stands: in all places if one of them is untrusted, else
        in trusted ones, if there are any and no untrusted text has anything like it."""
        text = _text(leaf)
        letters = _letters(_folded(text))
        bad, good = list[ArgumentOrigin](), list[ArgumentOrigin]()
        may_be_untrusted = False
        for block in self.blocks if text else ():
            is_enough = len(good) >= NAMED and not block.letters
            if is_enough or not block.may_have(text, letters):
                continue
            for source in block.sources:
                if source.turn < call.turn:
                    may_be_untrusted = may_be_untrusted or source.may_have(text)
                    places = bad if source.origin.trust == "untrusted" else good
                    if len(places) < NAMED and source.has(text):
                        places.append(source.origin)
        if text in self.state.objects:
            object_origin = self._object_origin(text)
            (bad if object_origin.trust == "untrusted" else good).insert(0, object_origin)
        if bad:
            return [*bad, *good]
        if may_be_untrusted:
            return [_own_words(is_exposed)]
        trusted = [origin for origin in good if origin.trust == "trusted"]
        return trusted or good or [_own_words(is_exposed)]

    def _object_origin(self, name: str) -> ArgumentOrigin:
        """Return the origin of an object."""
        producer = self.state.objects[name].producer
        call = self.state.calls.get(producer.call)
        if call is None:
            return ArgumentOrigin("object", object=name)
        trust = self.results.get(call.id, "unclear")
        return ArgumentOrigin("object", trust, call.id, call.tool, call.step, name)


def _in_order(inputs: Iterable[Inputs]) -> Inputs:
    """Return each input once."""
    return tuple(dict.fromkeys(chain.from_iterable(inputs)))


def _own_words(is_exposed: bool) -> ArgumentOrigin:
    return ArgumentOrigin("model", "unclear" if is_exposed else "trusted")


def _merged(origins: list[ArgumentOrigin]) -> ArgumentOrigin:
    """Return the origins of the parts of a value as one: the least trusted, and the others."""
    first, *others = sorted(dict.fromkeys(origins), key=lambda origin: TRUST.index(origin.trust))
    return replace(first, also=tuple(others))


Origins = Callable[[], CallOrigins]
"""Reads the origins of a call; a policy that does not ask for them costs nothing."""
