"""The calls that a model writes as XML, read from its text.

Besides our own tags, two forms that models know from elsewhere are read: `<invoke name="NAME">` in
`<function_calls>`, and rigging's `<rg-tool-call name="NAME">`, whose parameters are elements of
their own names. A parameter that is given twice is an error in all of them.

What a model writes is no XML that a parser would take, so the tags are looked for in one pass, and
all else is text. No pattern here can run past the next tag, so the pass is linear.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..core.errors import CallError
from ..core.text import nearest
from ..tools.arguments import parse_arguments
from ..tools.tool import Tool
from .xml_elements import MARKUP, attributes, content, elements, unescaped

Kind = Literal["calls", "call", "parameter", "cdata"]

_OURS = r"<(?!\s*+/?+\s*+(?:(?:rg[-_])?tool[-_]?call|function[-_]calls|invoke\b|call\b|param))"
_QUOTED = rf'"[^"<]*+(?:{_OURS}[^"<]*+)*+"' + "|" + rf"'[^'<]*+(?:{_OURS}[^'<]*+)*+'"
_WORD = (
    r"tool[-_]?calls|function[-_]calls|(?:rg[-_])?tool[-_]?call|"
    r"call(?=\s[^<>]*?\btool\s*=)|(?<=/)call|invoke(?=\s[^<>]*?\bname\s*=)|(?<=/)invoke|"
    r"parameter|param(?=\s)|(?<=/)param|tool[-_]parameter"
)
_TAG = re.compile(
    rf"<\s*+(?P<close>/?)\s*+(?P<word>{_WORD})(?![\w-])"
    rf"(?P<rest>(?:[^<>\"']++|{_QUOTED})*+)(?P<whole>>?)"
    r"|(?P<cdata><!\[CDATA\[)",
    re.IGNORECASE,
)

_COMMENT = re.compile(r"<!--(?:(?!<!--|-->).)*+-->", re.DOTALL)
_FENCE = re.compile(r"```\w*+\s*+```")
_GAP = re.compile(r"\n(?:[ \t]*+\n){2,}")
_SPAN_END = re.compile(r"[`<\n]")
_OF_ELEMENTS = "rgtoolcall"
"""The tag of a call whose parameters are elements."""
MOST = 128
"""So many calls of one reply are read, and parameters of one call."""


# -- tags ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag, or a section of CDATA, and its position.

    `whole` says that it ends as it should; `rest` is the text after its name.
    """

    kind: Kind
    word: str
    start: int
    end: int
    close: bool = False
    whole: bool = True
    rest: str = ""

    @property
    def empty(self) -> bool:
        return not self.close and self.rest.rstrip().endswith("/")

    def closes(self, word: str) -> bool:
        """Return whether this is the end of what a tag of that name began."""
        return self.close and self.whole and self.word == word

    def attribute(self, *names: str) -> str | None:
        """Return the text of the first attribute of one of these names, None for none."""
        rest = self.rest.rstrip()
        for name, text in attributes(rest.removesuffix("/") if self.empty else rest):
            if name.lower() in names:
                return unescaped(text)
        return None

    def name(self, *names: str) -> str:
        """Return the text of an attribute without spaces around it, "" if there is none."""
        return (self.attribute(*names) or "").strip()


def tags(text: str) -> Iterator[Tag]:
    """Yield the tags of a text, and inside values the sections of CDATA, which hide tags."""
    at, value_word, last = 0, "", text.rfind("]]>")
    while (match := _TAG.search(text, at)) is not None:
        at = match.end()
        if not match["cdata"]:
            tag = _tag(match)
            yield tag
            if (tag.kind == "parameter" or tag.word == _OF_ELEMENTS) and not value_word:
                value_word = tag.word if tag.whole and not tag.close and not tag.empty else ""
            elif tag.kind != "parameter" or tag.closes(value_word):
                value_word = ""
        elif value_word:
            at = text.index("]]>", at) + 3 if at <= last else at
            yield Tag("cdata", "", match.start(), at, whole=text.startswith("]]>", at - 3))


def _tag(match: re.Match[str]) -> Tag:
    word = re.sub("[-_]", "", match["word"].lower())
    kind: Kind = "parameter" if "param" in word else "calls" if word.endswith("calls") else "call"
    close, whole = bool(match["close"]), bool(match["whole"])
    return Tag(kind, word, match.start(), match.end(), close, whole, match["rest"])


# -- the tool that a call names ------------------------------------------------------------------


def pair(tool: Tool) -> tuple[str, str]:
    """Return the names of a tool and of its function; a plain function is both."""
    function = tool.name.removeprefix(f"{tool.group}_") if tool.group else tool.name
    return (tool.group, function) if function != tool.name else (tool.name, tool.name)


def named_tool(group: str, function: str, tools: Iterable[Tool]) -> Tool:
    """Return the tool that a call names, however it spells that.

    Raises CallError, which names the nearest that there is.
    """
    known = {tool.name: tool for tool in tools}
    if not group and not function:
        raise CallError("the call does not say which tool and which function")
    for spelled in (str, _loosely):
        # Two tools that are spelled alike are told apart by their exact names alone.
        counts = Counter(map(spelled, known))
        unique = {spelled(name): tool for name, tool in known.items() if counts[spelled(name)] == 1}
        if tool := _match(spelled(group), spelled(function), unique):
            return tool
    raise _unknown(group, function, known)


def _loosely(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(".", "_")


def _match(group: str, function: str, known: Mapping[str, Tool]) -> Tool | None:
    if not function:
        alone = [tool for tool in known.values() if group in (tool.group, _loosely(tool.group))]
        return known.get(group) or (alone[0] if len(alone) == 1 else None)
    if tool := known.get(f"{group}_{function}" if group else function):
        return tool
    if group in known and function in (group, _loosely(pair(known[group])[1])):
        return known[group]
    is_group = any(_loosely(tool.group) == group for tool in known.values())
    return None if is_group else known.get(function)


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
    name = group or function
    return CallError(f"there is no tool {name!r}.{nearest(name, [*functions, *known])}")


# -- calls ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class WrittenCall:
    """A call as it is written; `wrong` says why it cannot be read ("" if it can).

    `texts` are those of its parameters, by name; `whole` are the arguments if they were written as
    one piece of JSON; `of_elements` says that a list or an object in it may be elements too.
    """

    tool: str = ""
    function: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    wrong: str = ""
    whole: Mapping[str, Any] | None = None
    of_elements: bool = False
    start: int = 0
    end: int = 0

    def fail(self, wrong: str, end: int) -> None:
        """Note why the call cannot be read, unless it failed before."""
        self.wrong = self.wrong or wrong
        self.end = end

    def add(self, name: str, text: str, end: int) -> None:
        """Add a parameter, which ends here with its tag."""
        if name in self.texts:
            self.fail(f"the parameter {name!r:.60} is given twice; a list is one JSON value", end)
        elif len(self.texts) == MOST:
            self.fail(f"there are more than {MOST} parameters", end)
        else:
            self.texts[name] = text
            self.end = end


def written_calls(text: str) -> list[WrittenCall]:
    """Return the calls that a text holds, in their order.

    What is wrong and names no tool is one call, however long it goes on.
    """
    calls: list[WrittenCall] = []
    for call in _Parser(text).calls():
        if len(calls) == MOST:
            wrong = f"there are more than {MOST} calls; the rest was not read"
            return [*calls, WrittenCall(wrong=wrong, start=call.start, end=len(text))]
        if call.wrong and not call.tool and calls and calls[-1].wrong:
            calls[-1].end = call.end
        else:
            calls.append(call)
    return calls


def prose(text: str, calls: Sequence[WrittenCall]) -> str:
    """Return a text without its calls: what a person reads."""
    blocks = (tag for tag in tags(text) if tag.kind == "calls" and not _in_code(text, tag))
    spans = [*((call.start, call.end) for call in calls), *((tag.start, tag.end) for tag in blocks)]
    parts, at = [], 0
    for start, end in sorted(spans):
        parts.append(text[at:start])
        at = max(at, end)
    left = _FENCE.sub("", "".join([*parts, text[at:]]))
    return _GAP.sub("\n\n", left).strip()


def _in_code(text: str, tag: Tag) -> bool:
    """Return whether a tag stands alone in a code span."""
    if text[max(0, tag.start - 2) : tag.start].removeprefix("``")[-1:] != "`":
        return False
    end = _SPAN_END.search(text, tag.end)
    return end is not None and end[0] == "`"


class _Parser:
    """The tags of a text, read one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tags = list(tags(text))
        self.at = 0

    def calls(self) -> Iterator[WrittenCall]:
        """A block without a call in it, and markup between calls, are calls gone wrong."""
        block, end = None, 0
        while tag := self._tag():
            if block is not None and end and tag.kind != "parameter":
                yield from self._stray(end, tag.start)
                end = tag.end
            match tag:
                case Tag(kind="call", close=False) if not _in_code(self.text, tag):
                    call = self._call(tag)
                    yield call
                    end = call.end
                    continue
                case Tag(kind="calls") if not _in_code(self.text, tag):
                    if block is not None and not end:
                        yield _no_call(block, tag.start)
                    block, end = None if tag.close else tag, 0
            self.at += 1
        if block is not None and not end:
            yield _no_call(block, len(self.text))

    def _tag(self) -> Tag | None:
        """Return the next tag, None at the end of the text."""
        return self.tags[self.at] if self.at < len(self.tags) else None

    def _stray(self, start: int, end: int) -> Iterator[WrittenCall]:
        between = _COMMENT.sub("", self.text[start:end])
        if MARKUP.search(between):
            wrong = f"there is something between two calls that is none: {between.strip():.80}"
            yield WrittenCall(wrong=wrong, start=start, end=end)

    def _call(self, tag: Tag) -> WrittenCall:
        """Return the call that begins with a tag."""
        call = WrittenCall(
            tag.name("tool", "name"), tag.name("function"), start=tag.start, end=tag.end
        )
        self.at += 1
        if not tag.whole:
            call.wrong = "its first tag has no end"
            return call
        if tag.word == _OF_ELEMENTS and not tag.empty:
            self._add_elements(call, tag)
            return call
        while not tag.empty:
            following = self._tag()
            self._add_text(call, following)
            match following:
                case Tag(kind="parameter", close=False):
                    self._add_parameter(call, following)
                    continue
                case Tag(kind="parameter"):
                    call.fail("a parameter ends that did not begin", following.end)
                    self.at += 1
                    continue
                case Tag(kind="call", close=True):
                    call.end = following.end
                    self.at += 1
            break
        return call

    def _add_elements(self, call: WrittenCall, tag: Tag) -> None:
        """Add the parameters of a call that has an element for each, up to its end.

        Its end may be missing: rigging stops a model there.
        """
        while (following := self._tag()) and following.word != tag.word:
            self.at += 1
        end = following.start if following else len(self.text)
        if not self.text[tag.end : end].lstrip().startswith("{"):
            call.of_elements = True
            for element in elements(self.text, tag.end, end):
                call.add(element.name, element.text, element.after)
                if call.wrong:
                    break
        if not call.wrong:
            self._add_text(call, following)
        if following and following.close:
            call.end = following.end
            self.at += 1

    def _add_text(self, call: WrittenCall, following: Tag | None) -> None:
        """Add the text before the next tag to a call: JSON, or nothing.

        If nothing follows, the call was not ended, and what comes is the answer's text.
        """
        end = following.start if following else len(self.text)
        text = _COMMENT.sub("", self.text[call.end : end]).strip()
        if not text or not (following or text.startswith("{") or MARKUP.search(text)):
            return
        if not text.startswith("{") or call.texts or call.wrong:
            call.fail(f"there is text outside of its parameters: {text:.80}", end)
            return
        try:
            # Some models put JSON there: the arguments, or the name and the arguments.
            data = parse_arguments(text)
        except ValueError as error:
            call.fail(str(error), end)
            return
        call.end, call.whole = end, data
        if not call.tool and isinstance(data.get("name"), str):
            inner = (data[key] for key in ("arguments", "parameters") if key in data)
            call.tool = data["name"]
            call.whole = next((part for part in inner if isinstance(part, dict)), {})

    def _add_parameter(self, call: WrittenCall, tag: Tag) -> None:
        """Add the parameter that begins with a tag to a call."""
        name = tag.name("name")
        self.at += 1
        if not tag.whole or not name:
            wrong = "a parameter's first tag has no end" if name else "a parameter has no name"
            call.fail(wrong, tag.end)
            return
        in_tag = tag.attribute("value") or ""
        if tag.empty:
            call.add(name, in_tag, tag.end)
            return
        while (end := self._tag()) and _in_value(end) and not end.closes(tag.word):
            self.at += 1
        if end is None or not end.closes(tag.word):
            self._skip_value()
            after = self._tag()
            call.fail(
                f"the parameter {name!r} has no end (</parameter>), or its value holds tags of "
                "this format; then write it inside <![CDATA[ and ]]>",
                after.start if after else len(self.text),
            )
            return
        self.at += 1
        call.add(name, content(self.text[tag.end : end.start]) or in_tag, end.end)

    def _skip_value(self) -> None:
        """Go to the tag that ends a call, past what may be calls in a value that has no end.

        Whether those were meant to run is not known, so they are left out.
        """
        first, depth = self._tag(), 1
        if first is None or first.kind == "parameter":
            return
        while tag := self._tag():
            if tag.kind in ("call", "calls") and not tag.empty:
                depth += -1 if tag.close else 1
            if not depth:
                return
            self.at += 1


def _no_call(block: Tag, end: int) -> WrittenCall:
    return WrittenCall(wrong="the block holds no <tool-call>", start=block.start, end=end)


def _in_value(tag: Tag) -> bool:
    """Return whether a tag may stand in a value as it is: no tag of a call may."""
    opens = tag.kind == "parameter" and not tag.close and tag.attribute("name") is not None
    return tag.whole and tag.kind in ("parameter", "cdata") and not opens
