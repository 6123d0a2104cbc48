"""An explanation as a person reads it: as text, and as Markdown in which nothing is markup."""

from __future__ import annotations

from dataclasses import dataclass

from ..drawing.text import shown
from ..export.markdown import fenced, plain


@dataclass(frozen=True, slots=True)
class Reason:
    """One step of the way to something: what happened, and under which prompt."""

    text: str
    prompt: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why something is there."""

    name: str
    """What is explained: an object, an output, or a call."""
    what: str
    """What it is, in one sentence."""
    reasons: tuple[Reason, ...] = ()
    """The way to it, from its beginning."""
    code: str = ""
    """The statements that make it, and no others."""
    script: str = ""
    """The same as a script that runs by itself."""

    def __str__(self) -> str:
        lines, prompt = [self.what], ""
        for each in self.reasons:
            if each.prompt and each.prompt != prompt:
                prompt = each.prompt
                said = [shown(line, 1_000) for line in prompt.strip().splitlines()]
                first, *rest = said or [""]
                lines += [f"You asked: {first}", *(f"  {line}" for line in rest)]
            lines.append(f"  {each.text}")
        return "\n".join([*lines, "", self.code] if self.code else lines)

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        parts, prompt = [f"**{plain(self.what)}**"], ""
        items: list[str] = []
        for each in self.reasons:
            if each.prompt and each.prompt != prompt:
                prompt = each.prompt
                parts += ["\n".join(items)] if items else []
                parts.append(f"You asked: {plain(prompt)}")
                items = []
            items.append(f"- {plain(each.text)}")
        parts += ["\n".join(items)] if items else []
        return "\n\n".join([*parts, fenced(self.code)] if self.code else parts)
