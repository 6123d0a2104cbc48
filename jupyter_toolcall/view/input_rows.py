"""Rounds of input in the row of a call: the open questions, and the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from ..core.call_record import CallRecord
from ..core.digests import readable_json
from ..core.input_round import InputRound
from ..core.interface_text import joined, on_wire, t
from ..engine.cursor import Cursor
from ..engine.input_rounds import may_resume, round_digest, waits_for_input
from ..tools.value_copies import cut
from .contract_rows import CallRow, QuestionRow

LINE, LONG = 160, 2_000
"""Characters of a question and its answer in a step, and of a question in the form."""
FORM = t("The tool asks you for input before it goes on.")
PAGE = t("The tool asks you to open a page. Choose Answer when you are done there.")
FORMATS = {
    "email": t("an email address"),
    "uri": t("a web address"),
    "date": t("a date: 2026-01-31"),
}
"""The formats of a text, for the hint at its field."""


def with_rounds(row: CallRow, call: CallRecord, cursor: Cursor) -> CallRow:
    """Return the row of a call with what its tool asked the person, and the answers."""
    if not call.rounds:
        return row
    lines = tuple(map(_line, call.rounds))
    pairs = zip(lines, call.rounds, strict=True)
    answered = tuple(line for line, input_round in pairs if input_round.response)
    row = replace(row, notes=(*row.notes, *answered), change=row.change or _joined(lines))
    if row.status == "running" or row.branch or not waits_for_input(call):
        return row
    if may_resume(cursor, call):
        return row
    questions = question_rows(call.rounds[-1])
    return replace(
        row,
        status="input required",
        questions=questions,
        bound=round_digest(call),
        why=PAGE if any(question.url for question in questions) else FORM,
        downstream="",
        again=False,
        may_have_run=False,
        recorded="",
    )


def question_rows(open_round: InputRound) -> tuple[QuestionRow, ...]:
    """Return the questions of a round, each with its form."""
    return tuple(_question(key, request) for key, request in open_round.asked.requests.items())


def _question(key: str, request: Mapping[str, Any]) -> QuestionRow:
    schema = dict(request.get("schema", {}))
    fields = schema.get("properties", {})
    url = str(request.get("url", ""))
    return QuestionRow(
        key,
        cut(str(request.get("message", "")), LONG),
        {**schema, "properties": {name: _with_hint(part) for name, part in fields.items()}},
        {name: part["default"] for name, part in fields.items() if "default" in part},
        url,
        urlsplit(url).netloc,
    )


def _with_hint(part: Any) -> Any:
    """Return the schema of a field with its title and its format in the description."""
    if not isinstance(part, Mapping):
        return part
    hints = (part.get("title"), part.get("description"), FORMATS.get(str(part.get("format"))))
    texts = (hint if isinstance(hint, str) else str(hint) for hint in hints if hint)
    return {**part, "description": on_wire(joined("; ", texts))}


def _joined(lines: tuple[str, ...]) -> str:
    """Return the rounds of a call in one line: all of them where they fit, else the last one."""
    all_lines = joined(" · ", lines)
    return all_lines if len(all_lines) <= LINE else lines[-1]


def _line(input_round: InputRound) -> str:
    """Return a round in one line: what the tool asked, and the answer."""
    questions = " ".join(
        str(request.get("message", "")) for request in input_round.asked.requests.values()
    )
    line = joined(" ", filter(None, [" ".join(questions.split()), _answer(input_round)]))
    return line if len(line) <= LINE else cut(line, LINE)


def _answer(input_round: InputRound) -> str:
    if input_round.response is None:
        return ""
    if input_round.response.decision == "reject":
        return t("You declined.")
    fields = {
        name: value for content in input_round.content.values() for name, value in content.items()
    }
    fields_text = ", ".join(
        f"{name} {value if isinstance(value, str) else readable_json(value)}"
        for name, value in fields.items()
    )
    return t("You: %1", " ".join(fields_text.split()) or t("done"))
