"""The calls that a model writes as XML, read from its text.

Besides our own tags, two forms that models know from elsewhere are read: `<invoke name="NAME">` in
`<function_calls>`, and rigging's `<rg-tool-call name="NAME">`, whose parameters are elements of
their own names. A parameter that is given twice is an error in all of them.

What a model writes is no XML that a parser would take, so the tags are looked for in one pass, and
all else is text. No pattern here can run past the next tag, so the pass is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import CallError
from ..core.text import nearest
from ..tools.arguments import parse_arguments
from ..tools.tool import Tool
from .xml_elements import CDATA, MARKUP, attribute, content, elements

_OURS = r"<(?!\s*+/?+\s*+(?:(?:rg[-_])?tool[-_]?call|function[-_]calls|invoke\b|call\b|param))"
_QUOTED = rf'"[^"<]*+(?:{_OURS}[^"<]*+)*+"' + "|" + rf"'[^'<]*+(?:{_OURS}[^'<]*+)*+'"
_TAG = re.compile(
    r"<\s*+(?P<close>/?)\s*+(?:"
    r"(?P<block>tool[-_]?calls|function[-_]calls)|(?P<elements>rg[-_]tool[-_]?call)|"
    r"(?P<call>tool[-_]?call|call(?=\s[^<>]*?\btool\s*=)|(?<=/)call|"
    r"invoke(?=\s[^<>]*?\bname\s*=)|(?<=/)invoke))(?![\w-])"
    rf"(?P<rest>(?:[^<>\"'/]++|/(?!\s*+>)|{_QUOTED})*+)(?P<empty>/?+)\s*+(?P<whole>>?)"
    r"|<!\[CDATA\[",
    re.IGNORECASE,
)
"""A tag of a call, or of a block of calls. One without `whole` does not end as it should."""
Tag = re.Match[str]
_PARAMETER = re.compile(r"<(/?)(?:tool[-_])?param(?:eter)?(?=[\s/>])([^<>]*+)", re.IGNORECASE)
_COMMENT = re.compile(r"<!--(?:(?!<!--|-->).)*+-->", re.DOTALL)
_FENCE = re.compile(r"```\w*+\s*+```")
_GAP = re.compile(r"\n(?:[ \t]*+\n){2,}")
_SPAN_END = re.compile(r"[`<\n]")
MOST = 128
"""So many calls of one reply are read, and parameters of one call."""


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
    written = "_".join(filter(None, (group, function)))
    if not written:
        raise CallError("the call does not say which tool and which function")
    if written in known:
        return known[written]
    for spelled in (str, _loosely):
        by_spelling: dict[str, set[str]] = {}
        for name, tool in known.items():
            for spelling in (name, tool.group, "_".join(pair(tool)), f"{name}_{pair(tool)[1]}"):
                by_spelling.setdefault(spelled(spelling), set()).add(name)
        groups = {spelled(tool.group) for tool in known.values()}
        # A model that makes up a group may still name the tool as its function.
        names = [written] if not function or spelled(group) in groups else [written, function]
        for found in (by_spelling.get(spelled(name), set()) for name in names):
            # Two tools that are spelled alike are told apart by their exact names alone.
            if len(found) == 1:
                return known[found.pop()]
    raise _unknown(group, function, known)


def _loosely(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(".", "_")


def _unknown(group: str, function: str, known: Mapping[str, Tool]) -> CallError:
    functions: dict[str, list[str]] = {}
    for tool in known.values():
        functions.setdefault(pair(tool)[0], []).append(pair(tool)[1])
    if group not in functions:
        name = group or function
        return CallError(f"there is no tool {name!r}.{nearest(name, [*functions, *known])}")
    there = functions[group]
    if not function:
        return CallError(f"say which function of {group!r}: {', '.join(there)}")
    are = f"{'is' if len(there) == 1 else 'are'} {', '.join(there)}.{nearest(function, there)}"
    return CallError(f"the tool {group!r} has no function {function!r}; there {are}")


# -- calls ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class WrittenCall:
    """A call as it is written; `wrong` says why it cannot be read ("" if it can).

    `texts` are those of its parameters, by name; `whole` are the arguments if they were written as
    one piece of JSON; `of_elements` says that its parameters are elements of their own names.
    """

    tool: str = ""
    function: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    wrong: str = ""
    whole: Mapping[str, Any] | None = None
    of_elements: bool = False
    start: int = 0
    end: int = 0


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
    blocks = (tag for tag in _TAG.finditer(text) if tag["block"] and not _in_code(text, tag))
    spans = [*((call.start, call.end) for call in calls), *(tag.span() for tag in blocks)]
    parts, at = [], 0
    for start, end in sorted(spans):
        parts.append(text[at:start])
        at = max(at, end)
    left = _FENCE.sub("", "".join([*parts, text[at:]]))
    return _GAP.sub("\n\n", left).strip()


def _in_code(text: str, tag: Tag) -> bool:
    """Return whether a tag stands alone in a code span."""
    if text[max(0, tag.start() - 2) : tag.start()].removeprefix("``")[-1:] != "`":
        return False
    end = _SPAN_END.search(text, tag.end())
    return end is not None and end[0] == "`"


class _Parser:
    """The calls of a text, read one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.last_section = text.rfind("]]>")
        """Where the last section of CDATA ends."""

    def calls(self) -> Iterator[WrittenCall]:
        """A block without a call in it, and markup between calls, are calls gone wrong."""
        block, end, at = None, 0, 0
        while tag := self._tag(at):
            at = tag.end()
            if block is not None and end:
                between = _COMMENT.sub("", self.text[end : tag.start()])
                if MARKUP.search(between):
                    wrong = "there is something between two calls that is none"
                    yield WrittenCall(
                        wrong=f"{wrong}: {between.strip():.80}", start=end, end=tag.start()
                    )
                end = at
            if _in_code(self.text, tag):
                continue
            if tag["block"]:
                if block is not None and not end:
                    yield _no_call(block, tag.start())
                block, end = None if tag["close"] else tag, 0
            elif not tag["close"]:
                call = self._call(tag)
                yield call
                at = end = call.end
        if block is not None and not end:
            yield _no_call(block, len(self.text))

    def _tag(self, at: int, in_call: bool = False) -> Tag | None:
        """Return the next tag, None for none. In a call, sections of CDATA hide tags."""
        while (tag := _TAG.search(self.text, at)) is not None and tag["whole"] is None:
            at = tag.end()
            if in_call and at <= self.last_section:
                at = self.text.index("]]>", at) + 3
        return tag

    def _call(self, tag: Tag) -> WrittenCall:
        """Return the call that begins with a tag. Its end may be missing."""
        tool = attribute(tag["rest"], "tool", "name").strip()
        function = attribute(tag["rest"], "function").strip()
        call = WrittenCall(tool, function, start=tag.start(), end=tag.end())
        if not tag["whole"]:
            call.wrong = "its first tag has no end"
        if tag["empty"] or not tag["whole"]:
            return call
        call.of_elements = bool(tag["elements"])
        following = self._tag(tag.end(), in_call=True)
        # The parameters of such a call may have any name, also that of a tag.
        while call.of_elements and following and not following["elements"]:
            following = self._tag(following.end(), in_call=True)
        self._add_parameters(call, following.start() if following else len(self.text))
        following = self._add_text(call, following)
        if following and following["close"] and not following["block"]:
            call.end = following.end()
        return call

    def _add_parameters(self, call: WrittenCall, end: int) -> None:
        """Add the parameters up to what is none."""
        for element in elements(self.text, call.end, end):
            name, text = element.name, element.text
            if not call.of_elements:
                # One that has another in its value has no end.
                if not _PARAMETER.match(f"<{name} ") or _opened_parameter(
                    CDATA.sub("", element.raw)
                ):
                    return
                name = attribute(element.rest, "name").strip()
                text = content(element.raw) or attribute(element.rest, "value")
            if not name:
                call.wrong = "a parameter has no name"
            elif name in call.texts:
                call.wrong = f"the parameter {name!r:.60} is given twice; a list is one JSON value"
            elif len(call.texts) == MOST:
                call.wrong = f"there are more than {MOST} parameters"
            if call.wrong:
                call.end = end
                return
            call.texts[name], call.end = text, element.end

    def _add_text(self, call: WrittenCall, following: Tag | None) -> Tag | None:
        """Add the text between the parameters and the next tag to a call: JSON, or nothing.

        Returns the tag that follows the call. If there is none, the call was not ended, and what
        comes is the text of the answer.
        """
        end = following.start() if following else len(self.text)
        text = _COMMENT.sub("", self.text[call.end : end]).strip()
        if not text or not (following or text.startswith("{") or MARKUP.search(text)):
            return following
        call.wrong = f"there is text outside of its parameters: {text:.80}"
        if text.startswith("{") and not call.texts:
            call.wrong = _add_json(call, text)
        elif (first := _PARAMETER.match(text)) and first[1]:
            call.wrong = "a parameter ends that did not begin"
        elif first:
            name = attribute(first[2], "name").strip()
            call.wrong = (
                f"the parameter {name!r} has no end (</parameter>), or its value holds tags of "
                "this format; then write it inside <![CDATA[ and ]]>"
            )
        if call.wrong and _opened_parameter(text):
            following = self._end_of_call(following)
            end = following.start() if following else len(self.text)
        call.end = end
        return following

    def _end_of_call(self, tag: Tag | None) -> Tag | None:
        """Return the tag that ends a call, past what may be calls in a value that has no end.

        Whether those were meant to run is not known, so they are left out.
        """
        depth = 1
        while tag:
            depth += -1 if tag["close"] else not tag["empty"]
            if not depth:
                break
            tag = self._tag(tag.end(), in_call=True)
        return tag


def _opened_parameter(text: str) -> re.Match[str] | None:
    """Return the first tag of a text that begins a parameter."""
    return next((tag for tag in _PARAMETER.finditer(text) if not tag[1]), None)


def _add_json(call: WrittenCall, text: str) -> str:
    """Add what some models put there: the arguments as JSON, or the name and the arguments.

    Returns why it cannot be read, "" if it can.
    """
    try:
        call.whole = parse_arguments(text)
    except ValueError as error:
        return str(error)
    if not call.tool and isinstance(name := call.whole.get("name"), str):
        inner = [call.whole.get(key) for key in ("arguments", "parameters")]
        call.tool = name
        call.whole = next((part for part in inner if isinstance(part, dict)), {})
    return ""


def _no_call(block: Tag, end: int) -> WrittenCall:
    return WrittenCall(wrong="the block holds no <tool-call>", start=block.start(), end=end)
