"""The tags of the format, found in a text in one pass: names and places, no meaning.

What a model writes is no XML that a parser would take, so the tags are looked for, and
all else is text. No pattern here can run past the next tag, so the pass is linear.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..core.errors import CallError
from ..core.text import nearest
from ..tools.arguments import parse_arguments
from ..tools.tool import Tool

Kind = Literal["calls", "call", "parameter", "cdata"]

_OURS = r"<(?!\s*+/?+\s*+(?:tool[-_]?call|call\b|param))"
_QUOTED = rf'"[^"<]*+(?:{_OURS}[^"<]*+)*+"' + "|" + rf"'[^'<]*+(?:{_OURS}[^'<]*+)*+'"
_WORD = (
    r"tool[-_]?calls|tool[-_]?call|call(?=\s[^<>]*?\btool\s*=)|(?<=/)call|"
    r"parameter|param(?=\s)|(?<=/)param|tool[-_]parameter"
)
_TAG = re.compile(
    rf"<\s*+(?P<close>/?)\s*+(?P<word>{_WORD})(?![\w-])"
    rf"(?P<rest>(?:[^<>\"']++|{_QUOTED})*+)(?P<whole>>?)"
    r"|(?P<cdata><!\[CDATA\[)",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""")


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag, or a section of CDATA, and where it stands.

    `whole` says that it ends as it should; `rest` is what stands behind its name.
    """

    kind: Kind
    word: str
    start: int
    end: int
    close: bool = False
    whole: bool = True
    rest: str = ""
    rest_at: int = 0

    @property
    def empty(self) -> bool:
        return not self.close and self.rest.rstrip().endswith("/")

    def closes(self, word: str) -> bool:
        """Return whether this is the end of what a tag of that name began."""
        return self.close and self.whole and self.word == word

    def attribute(self, *names: str) -> tuple[str, int, int] | None:
        """Return an attribute as it is written, and where; None where there is none."""
        for found in _ATTRIBUTE.finditer(self.rest):
            if found[1].lower() in names:
                group = next(number for number in (2, 3, 4) if found[number] is not None)
                text = found[group]
                if group == 4 and self.empty and found.end() == len(self.rest.rstrip()):
                    text = text.removesuffix("/")
                start = self.rest_at + found.start(group)
                return text, start, start + len(text)
        return None


def tags(text: str) -> Iterator[Tag]:
    """Yield the tags of a text, and inside values the sections of CDATA, which hide tags."""
    at, inside, last = 0, "", text.rfind("]]>")
    while (found := _TAG.search(text, at)) is not None:
        at = found.end()
        if found["cdata"] and not inside:
            continue
        if found["cdata"]:
            at = text.index("]]>", at) + 3 if at <= last else at
            yield Tag("cdata", "", found.start(), at, whole=text.startswith("]]>", at - 3))
            continue
        tag = _tag(found)
        inside = _inside(tag, inside)
        yield tag


def _inside(tag: Tag, inside: str) -> str:
    """Return the word of the value that goes on behind a tag, "" outside of all values."""
    if inside and tag.kind == "parameter":
        return "" if tag.closes(inside) else inside
    opens = tag.kind == "parameter" and tag.whole and not tag.close and not tag.empty
    return tag.word if opens else ""


def _tag(found: re.Match[str]) -> Tag:
    word = re.sub("[-_]", "", found["word"].lower())
    kind: Kind = "parameter" if "param" in word else "calls" if word == "toolcalls" else "call"
    return Tag(
        kind,
        word,
        found.start(),
        found.end(),
        bool(found["close"]),
        bool(found["whole"]),
        found["rest"],
        found.start("rest"),
    )


def pair(tool: Tool) -> tuple[str, str]:
    """Return the names of a tool and of its function; a plain function is both."""
    function = tool.name.removeprefix(f"{tool.group}_") if tool.group else tool.name
    return (tool.group, function) if function != tool.name else (tool.name, tool.name)


def found(group: str, function: str, tools: Iterable[Tool]) -> Tool:
    """Return the tool that a call names, however it spells that.

    Raises CallError, which names the nearest that there is.
    """
    known = {tool.name: tool for tool in tools}
    if not group and not function:
        raise CallError("the call does not say which tool and which function")
    for spelled in (str, _loosely):
        tool = _match(spelled(group), spelled(function), _by_name(known, spelled))
        if tool is not None:
            return tool
    raise _unknown(group, function, known)


def _loosely(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(".", "_")


def _by_name(known: Mapping[str, Tool], spelled: Callable[[str], str]) -> dict[str, Tool]:
    """Two tools that are spelled alike are told apart by their exact names alone."""
    counts = Counter(map(spelled, known))
    return {spelled(name): tool for name, tool in known.items() if counts[spelled(name)] == 1}


def _match(group: str, function: str, known: Mapping[str, Tool]) -> Tool | None:
    if not function:
        alone = [tool for tool in known.values() if group in (tool.group, _loosely(tool.group))]
        return known.get(group) or (alone[0] if len(alone) == 1 else None)
    return next((known[name] for name in _spellings(group, function, known) if name in known), None)


def _spellings(group: str, function: str, known: Mapping[str, Tool]) -> Iterator[str]:
    yield f"{group}_{function}" if group else function
    if group in known and function in (group, _loosely(pair(known[group])[1])):
        yield group
    if function in known and not any(_loosely(tool.group) == group for tool in known.values()):
        yield function


def _unknown(group: str, function: str, known: Mapping[str, Tool]) -> CallError:
    functions: dict[str, list[str]] = {}
    for tool in known.values():
        functions.setdefault(pair(tool)[0], []).append(pair(tool)[1])
    if group in functions and function:
        there = functions[group]
        return CallError(
            f"the tool {group!r} has no function {function!r}; there "
            f"{'is' if len(there) == 1 else 'are'} {', '.join(there)}.{nearest(function, there)}"
        )
    if group in functions:
        return CallError(f"say which function of {group!r}: {', '.join(functions[group])}")
    said = group or function
    return CallError(f"there is no tool {said!r}.{nearest(said, [*functions, *known])}")


_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
_MARKUP = re.compile(r"<[/!?]?[A-Za-z]")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_COMMENT = re.compile(r"<!--(?:(?!<!--|-->).)*+-->", re.DOTALL)
_FENCE = re.compile(r"```\w*+\s*+```")
_GAP = re.compile(r"\n(?:[ \t]*+\n){2,}")
_SPAN_END = re.compile(r"[`<\n]")
_EDGES = re.compile(r"\A[ \t]*+\r?\n|\r?\n[ \t]*+\Z")
MOST = 128
"""So many calls of one reply are read, and parameters of one call."""


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter as it was given: its text, and where that stands."""

    name: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Spoken:
    """A call as it was spoken; `wrong` says why it cannot be read ("" where it can).

    `whole` are the arguments where they were given as one piece of JSON, at `json`.
    """

    tool: str = ""
    function: str = ""
    given: tuple[Given, ...] = ()
    wrong: str = ""
    whole: Mapping[str, Any] | None = None
    json: tuple[int, int] = (0, 0)
    start: int = 0
    end: int = 0


def spoken(text: str) -> tuple[Spoken, ...]:
    """Return the calls that a text holds, in their order.

    What is wrong and names no tool is one call, however long it goes on.
    """
    calls: list[Spoken] = []
    for call in _calls(text, list(tags(text))):
        if len(calls) == MOST:
            wrong = f"there are more than {MOST} calls; the rest was not read"
            return (*calls, Spoken(wrong=wrong, start=call.start, end=len(text)))
        if call.wrong and not call.tool and calls and calls[-1].wrong:
            calls[-1] = replace(calls[-1], end=call.end)
        else:
            calls.append(call)
    return tuple(calls)


def prose(text: str, calls: Sequence[Spoken]) -> str:
    """Return what is left of a text without its calls: what a person reads."""
    blocks = (tag for tag in tags(text) if tag.kind == "calls" and not _in_span(text, tag))
    parts, at = [], 0
    for start, end in sorted(
        [*((c.start, c.end) for c in calls), *((b.start, b.end) for b in blocks)]
    ):
        parts.append(text[at:start])
        at = max(at, end)
    left = _FENCE.sub("", "".join([*parts, text[at:]]))
    return _GAP.sub("\n\n", left).strip()


def _calls(text: str, found: Sequence[Tag]) -> Iterator[Spoken]:
    """A block without a call in it, and markup between calls, are calls gone wrong."""
    block, at, done = None, 0, 0
    while at < len(found):
        tag, at = found[at], at + 1
        if block is not None and done and tag.kind != "parameter":
            yield from _stray(text, done, tag.start)
            done = tag.end
        match tag:
            case Tag(kind="call", close=False) if not _in_span(text, tag):
                call, at = _call(text, found, at - 1)
                yield call
                done = call.end
            case Tag(kind="calls") if not _in_span(text, tag):
                if block is not None and not done:
                    yield _nothing(block, tag.start)
                block, done = None if tag.close else tag, 0
    if block is not None and not done:
        yield _nothing(block, len(text))


def _in_span(text: str, tag: Tag) -> bool:
    """Return whether a tag stands alone in a code span."""
    if text[max(0, tag.start - 2) : tag.start].removeprefix("``")[-1:] != "`":
        return False
    end = _SPAN_END.search(text, tag.end)
    return end is not None and end[0] == "`"


def _stray(text: str, start: int, end: int) -> Iterator[Spoken]:
    between = _COMMENT.sub("", text[start:end])
    if _MARKUP.search(between):
        said = f"there is something between two calls that is none: {between.strip():.80}"
        yield Spoken(wrong=said, start=start, end=end)


def _nothing(block: Tag, end: int) -> Spoken:
    return Spoken(wrong="the block holds no <tool-call>", start=block.start, end=end)


def _call(text: str, found: Sequence[Tag], at: int) -> tuple[Spoken, int]:
    """Return the call that begins with a tag, and the number of the tag behind it."""
    tag = found[at]
    call = Spoken(_name(tag, "tool", "name"), _name(tag, "function"), start=tag.start, end=tag.end)
    if not tag.whole:
        return replace(call, wrong="its first tag has no end"), at + 1
    at += 1
    while not tag.empty:
        here = found[at] if at < len(found) else None
        call = _between(call, text, here)
        match here:
            case Tag(kind="parameter", close=False):
                call, at = _parameter(call, text, found, at)
            case Tag(kind="parameter"):
                call, at = _bad(call, "a parameter ends that did not begin", here.end), at + 1
            case Tag(kind="call", close=True):
                return replace(call, end=here.end), at + 1
            case _:
                break
    return call, at


def _name(tag: Tag, *names: str) -> str:
    said = tag.attribute(*names)
    return unescaped(said[0]).strip() if said else ""


def _bad(call: Spoken, wrong: str, end: int) -> Spoken:
    return replace(call, wrong=call.wrong or wrong, end=end)


def _between(call: Spoken, text: str, here: Tag | None) -> Spoken:
    """Return the call with what stands between its last tag and this one: JSON, or nothing.

    Where nothing follows, the call was not ended, and what comes is the answer's text.
    """
    end = here.start if here else len(text)
    said = _COMMENT.sub("", text[call.end : end]).strip()
    if not said or (here is None and not said.startswith("{") and not _MARKUP.search(said)):
        return call
    if said.startswith("{") and not call.given and not call.wrong:
        return _json(call, said, end)
    return _bad(call, f"there is text outside of its parameters: {said:.80}", end)


def _json(call: Spoken, said: str, end: int) -> Spoken:
    """Some models put JSON there: the arguments, or the name and the arguments."""
    try:
        data = parse_arguments(said)
    except ValueError as error:
        return _bad(call, str(error), end)
    call, key = replace(call, json=(call.end, end), end=end), nested(data)
    if call.tool or not isinstance(data.get("name"), str):
        return replace(call, whole=data)
    return replace(call, tool=data["name"], whole=data[key] if key else {})


def nested(data: Mapping[str, Any]) -> str:
    """Return where in a call's JSON its arguments are, "" where they are all of it."""
    keys = (key for key in ("arguments", "parameters") if isinstance(data.get(key), dict))
    return next(keys, "") if isinstance(data.get("name"), str) else ""


def _parameter(call: Spoken, text: str, found: Sequence[Tag], at: int) -> tuple[Spoken, int]:
    """Return the call with the parameter that begins with a tag, and what is behind it."""
    tag = found[at]
    name = _name(tag, "name")
    if not tag.whole or not name:
        wrong = "a parameter's first tag has no end" if name else "a parameter has no name"
        return _bad(call, wrong, tag.end), at + 1
    if tag.empty:
        return _with(call, _in_tag(tag, name), tag.end), at + 1
    at += 1
    while at < len(found) and _in_value(found[at]) and not found[at].closes(tag.word):
        at += 1
    if at == len(found) or not found[at].closes(tag.word):
        at = _past(found, at)
        end = found[at].start if at < len(found) else len(text)
        return _bad(call, _unended(name), end), at
    given = Given(name, content(text[tag.end : found[at].start]), tag.end, found[at].start)
    if not given.text and tag.attribute("value"):
        given = _in_tag(tag, name)
    return _with(call, given, found[at].end), at + 1


def _in_value(tag: Tag) -> bool:
    """Return whether a tag may stand in a value as it is: no tag of a call may."""
    opens = tag.kind == "parameter" and not tag.close and tag.attribute("name") is not None
    return tag.whole and tag.kind in ("parameter", "cdata") and not opens


def _past(found: Sequence[Tag], at: int) -> int:
    """Return the number of the tag that ends a call, past what may be calls in its value.

    Whether those were meant to run is not known, so they are left out.
    """
    if at == len(found) or found[at].kind == "parameter":
        return at
    depth = 1
    for place in range(at, len(found)):
        tag = found[place]
        if tag.kind in ("call", "calls") and not tag.empty:
            depth += -1 if tag.close else 1
        if not depth:
            return place
    return len(found)


def _unended(name: str) -> str:
    return (
        f"the parameter {name!r} has no end (</parameter>), or its value holds tags of "
        "this format; then write it inside <![CDATA[ and ]]>"
    )


def _in_tag(tag: Tag, name: str) -> Given:
    text, start, end = tag.attribute("value") or ("", tag.end, tag.end)
    return Given(name, unescaped(text), start, end)


def _with(call: Spoken, given: Given, end: int) -> Spoken:
    if any(other.name == given.name for other in call.given):
        said = f"the parameter {given.name!r:.60} is given twice; a list is one JSON value"
        return _bad(call, said, end)
    if len(call.given) == MOST:
        return _bad(call, f"there are more than {MOST} parameters", end)
    return replace(call, given=(*call.given, given), end=end)


def content(raw: str) -> str:
    """Return what is meant by what stands between a parameter's tags.

    CDATA is exact. Markup means that the value is code, which stands there as it is; else
    entities are read. Blank lines at the edges, and spaces around one line, are layout.
    """
    rest = _CDATA.sub("", raw)
    if _MARKUP.search(rest):
        return _trimmed(raw)
    if rest == raw:
        return unescaped(_trimmed(raw))
    parts = enumerate(_CDATA.split(_trimmed(raw) if rest.strip() else raw))
    # Every other part is what stood in CDATA.
    return "".join(
        part if place % 2 else unescaped(part) if rest.strip() else "" for place, part in parts
    )


def _trimmed(raw: str) -> str:
    text = _EDGES.sub("", raw)
    return text if "\n" in text else text.strip()


def unescaped(text: str) -> str:
    """Return a text with its entities read; what is none stays as it is."""
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text)
