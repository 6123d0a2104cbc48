"""The calls that a model writes as XML, read from its text.

Besides our own tags, `<invoke name="NAME">` in `<function_calls>` is read, and arguments that are
one piece of JSON. What a model writes is no XML that a parser would take, so the tags are looked
for in one pass, and all else is text. No pattern here can run past the next tag, so the pass is
linear.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..tools.arguments import parse_arguments
from ..tools.tool import Tool

_TAG = re.compile(
    r"<\s*+(?P<close>/?)\s*+(?:"
    r"(?P<block>tool[-_]?calls|function[-_]calls)|(?P<parameter>(?:tool[-_])?param(?:eter)?)|"
    r"(?P<call>(?:rg[-_])?tool[-_]?call|call(?=\s[^<>]*?\btool\s*=)|(?<=/)call|"
    r"invoke(?=\s[^<>]*?\bname\s*=)|(?<=/)invoke))(?![\w-])"
    r"""(?P<rest>(?:[^<>"'/]++|/(?!\s*+>)|"[^"<]*+"|'[^'<]*+')*)(?P<empty>/?+)\s*+(?P<whole>>?)"""
    r"|<!\[CDATA\[",
    re.IGNORECASE,
)
"""A tag of a block of calls, a call or a parameter. One without `whole` does not end as it should.

Groups are not possessive: Python 3.11.2, which Debian 12 has, reads such a group wrongly.
"""
Tag = re.Match[str]
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""")
_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_EDGES = re.compile(r"\A[ \t]*+\r?\n|\r?\n[ \t]*+\Z")
_MARKUP = re.compile(r"<[/!?]?[A-Za-z]")
_COMMENT = re.compile(r"<!--(?:(?!<!--|-->).)*-->", re.DOTALL)
_FENCE = re.compile(r"```\w*+\s*+```")
_GAP = re.compile(r"\n(?:[ \t]*+\n){2,}")
_SPAN_END = re.compile(r"[`<\n]")
_THOUGHT = re.compile(r"(?<!`)<think(?:ing)?\s*+>|(</think(?:ing)?\s*+>)(?!`)", re.IGNORECASE)


# -- the tool that a call names ------------------------------------------------------------------


def pair(tool: Tool) -> tuple[str, str]:
    """Return the names of a tool and of its function; a plain function is both."""
    function = tool.name.removeprefix(f"{tool.group}_") if tool.group else tool.name
    return (tool.group, function) if function != tool.name else (tool.name, tool.name)


def tool_name(group: str, function: str, tools: Mapping[str, Tool]) -> str:
    """Return the name of the tool that a call means; "" for a call that names none.

    A model may write the whole name as either of the two, or leave out the only function.
    """
    functions = {pair(tool)[1]: name for name, tool in tools.items() if pair(tool)[0] == group}
    # A plain function is both, also one that there is not.
    written = group if group == function else "_".join(filter(None, (group, function)))
    if not function and len(functions) == 1:
        return next(iter(functions.values()))
    alone = group if functions or group in tools else function
    # Two names of two tools do not say which of them is meant.
    alone = written if len({group, function} & tools.keys()) > 1 else alone
    names = functions.get(function, written), alone
    return next((name for name in names if name in tools), written)


# -- calls ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class WrittenCall:
    """A call as it is written; `wrong` says why it cannot be read ("" if it can).

    `texts` are those of its parameters, by name; `whole` are the arguments that were written as
    one piece of JSON. What is neither is wrong: the call would run with a default in its place.
    """

    start: int
    end: int
    tool: str = ""
    function: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    wrong: str = ""
    whole: Mapping[str, Any] = field(default_factory=dict)

    def note(self, wrong: str) -> None:
        """Note what is wrong; the first of all counts."""
        self.wrong = self.wrong or wrong


def written_calls(text: str) -> list[WrittenCall]:
    """Return the calls that a text holds, in their order: none of those in what the model thinks.

    A block without a call in it, and markup between calls, are calls gone wrong.
    """
    calls, tag = list[WrittenCall](), _next_tag(text, 0)
    block, end, at = None, 0, 0
    while True:
        # It is looked for once: many thoughts may stand before it, or there may be none.
        tag = _next_tag(text, at) if tag and tag.start() < at else tag
        if thought := _THOUGHT.search(text, at, tag.start() if tag else len(text)):
            closing = next((m for m in _THOUGHT.finditer(text, thought.start()) if m[1]), None)
            at = closing.end() if closing else len(text)
            if thought[1]:
                # All of it was thought: some models begin behind a <think> of their prompt.
                calls, block = [], None
            elif tag and not closing:
                wrong = "calls stand behind <think>, which has no </think>"
                calls.append(WrittenCall(at, at, wrong=wrong))
            end = end and at
            continue
        if not tag:
            break
        at = tag.end()
        if tag["parameter"]:
            continue
        if block is not None and end:
            between = _COMMENT.sub("", text[end : tag.start()]).strip()
            if _MARKUP.search(between):
                wrong = f"there is something between two calls that is none: {between:.80}"
                calls.append(WrittenCall(end, tag.start(), wrong=wrong))
            end = at
        if _in_code(text, tag):
            continue
        if tag["block"]:
            if block is not None and not end:
                calls.append(_no_call(block, tag.start()))
            block, end = None if tag["close"] else tag, 0
        elif not tag["close"]:
            calls.append(call := _call(text, tag))
            at = end = call.end
    if block is not None and not end:
        calls.append(_no_call(block, len(text)))
    return _joined(calls)


def _joined(calls: Iterable[WrittenCall]) -> list[WrittenCall]:
    """Return calls, with what is wrong and names no tool as one, however long it goes on."""
    joined = list[WrittenCall]()
    for call in calls:
        if call.wrong and not call.tool and joined and joined[-1].wrong:
            joined[-1].end = call.end
        else:
            joined.append(call)
    return joined


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


def _next_tag(text: str, at: int, in_call: bool = False) -> Tag | None:
    """Return the next tag, None for none. In a call, sections of CDATA hide tags."""
    while (tag := _TAG.search(text, at)) is not None and tag["whole"] is None:
        at = tag.end()
        if in_call and (at := text.find("]]>", at) + 3) < 3:
            return None
    return tag


def _call(text: str, first: Tag) -> WrittenCall:
    """Return the call that begins with a tag. Its end may be missing if it has arguments.

    Attributes that name no tool are read as parameters.
    """
    texts = _attributes(first)
    tool = texts.pop("tool", "") or texts.pop("name", "")
    call = WrittenCall(*first.span(), tool, texts.pop("function", ""), texts)
    if not first["whole"]:
        call.wrong = "its first tag has no end"
    if first["empty"] or not first["whole"]:
        return call
    while tag := _next_tag(text, call.end, in_call=True):
        _add_text(text, call, tag.start())
        if not tag["parameter"]:
            call.end = _end_at(tag)
            break
        call.end = tag.end()
        if tag["close"]:
            call.note("a parameter ends that did not begin")
        elif tag["empty"]:
            _add_parameter(call, tag, "")
        elif not _add_value(text, call, tag):
            return call
    else:
        _add_text(text, call, len(text), is_last=True)
    if not (call.texts or call.whole or (tag and call.end == tag.end())):
        call.note("it has no end (</tool-call>)")
    return call


def _add_value(text: str, call: WrittenCall, parameter: Tag) -> bool:
    """Add the value of a parameter up to its own end; return whether it has one.

    Whether calls in a value were meant to run is not known, so they are left out.
    """
    depth, at, call.end = 0, parameter.end(), len(text)
    while tag := _next_tag(text, at, in_call=True):
        at = tag.end()
        if not tag["parameter"]:
            depth += -1 if tag["close"] else bool(tag["whole"] and not tag["empty"])
        elif tag["close"] and not depth:
            _add_parameter(call, parameter, text[parameter.end() : tag.start()])
            call.end = at
            return True
        if depth < 0:
            call.end = _end_at(tag)
            break
        call.note(_endless(parameter))
    call.note(_endless(parameter))
    return False


def _add_text(text: str, call: WrittenCall, end: int, is_last: bool = False) -> None:
    """Add the text up to the next tag to a call: JSON, or nothing.

    Without such a tag the call was not ended, and what comes is the text of the answer.
    """
    added = _COMMENT.sub("", text[call.end : end]).strip()
    is_json = added.startswith("{") and not call.texts
    if not added or (is_last and not is_json and not _MARKUP.search(added)):
        return
    if is_json:
        _add_json(call, added)
    else:
        call.note(f"there is text outside of its parameters: {added:.80}")
    call.end = end


def _end_at(tag: Tag) -> int:
    """Return where a call ends before which a tag was found: behind it, if it is its own end."""
    return tag.end() if tag["close"] and not tag["block"] else tag.start()


def _endless(parameter: Tag) -> str:
    name = _attributes(parameter).get("name", "")
    return (
        f"the parameter {name!r} has no end (</parameter>), or its value holds tags of this "
        "format; then write it inside <![CDATA[ and ]]>"
    )


def _add_parameter(call: WrittenCall, tag: Tag, raw: str) -> None:
    attributes, text = _attributes(tag), content(raw)
    name, value = (attributes.get(key, "") for key in ("name", "value"))
    if not name:
        call.note("a parameter has no name")
    elif name in call.texts or name in call.whole or (text and value):
        call.note(f"the parameter {name!r:.60} is given twice; a list is one JSON value")
    call.texts[name] = text or value


def _add_json(call: WrittenCall, text: str) -> None:
    """Add what some models put there: the arguments as JSON, or the name and the arguments."""
    try:
        whole = parse_arguments(text)
        if not call.tool and isinstance(name := whole.pop("name", None), str):
            part = whole.pop("arguments" if "arguments" in whole else "parameters", None) or {}
            for other in whole:
                call.note(f'there is {other!r:.60} beside "name" and "arguments"')
            whole = parse_arguments(part if isinstance(part, str) else json.dumps(part))
            call.tool = name
        call.whole = whole
    except ValueError as error:
        call.note(str(error))


def _no_call(block: Tag, end: int) -> WrittenCall:
    return WrittenCall(block.start(), end, wrong="the block holds no <tool-call>")


# -- texts ---------------------------------------------------------------------------------------


def _attributes(tag: Tag) -> dict[str, str]:
    """Return the attributes of a tag, by names in small letters; of two the first counts."""
    found = reversed(_ATTRIBUTE.findall(tag["rest"]))
    return {name.lower(): _unescaped("".join(values)).strip() for name, *values in found}


def content(raw: str) -> str:
    """Return the value that the text between a parameter's tags stands for.

    CDATA is exact. Markup means that the value is code, which stands there as it is; else
    entities are read. Blank lines at the edges, and spaces around one line, are layout.
    """
    outside = _CDATA.sub("", raw)
    if _MARKUP.search(outside):
        return _trimmed(raw)
    # White space around CDATA alone is layout.
    has_text = outside == raw or bool(outside.strip())
    parts = enumerate(_CDATA.split(_trimmed(raw) if has_text else raw))
    # Every other part is what stood in CDATA.
    return "".join(part if index % 2 else _unescaped(part) * has_text for index, part in parts)


def _trimmed(raw: str) -> str:
    text = _EDGES.sub("", raw)
    return text if "\n" in text else text.strip()


def _unescaped(text: str) -> str:
    """Return a text with its entities read; what is none stays as it is."""
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text)
