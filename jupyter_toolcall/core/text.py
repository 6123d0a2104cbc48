"""Text from outside, printed safely: control and bidirectional characters are escaped. And a
progress bar, shown on a terminal and in a notebook.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Container, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, TextIO

LINES = "\n\t"
"""What a text of several lines keeps."""


_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
"""Characters that show nothing, though `str.isprintable` holds: the default-ignorable ones of
Unicode among them, such as fillers and variation selectors, and the empty pattern of Braille."""


_EMOJI = "[\u2190-\u3299\U0001f000-\U0001faff]\ufe0f?"
_JOINERS = "\u200d\ufe0f"
_JOINED_EMOJI = re.compile(f"({_EMOJI}(?:\u200d{_EMOJI})+|[\u2190-\u27bf]\ufe0f)")


def printable(text: str, keep: str = "") -> str:
    """Return a text in which every character can be seen: `\\u001b` stands for ESC.

    Half a character (a lone surrogate) is an escape too, so the text can be encoded.
    """
    if "\u200d" in text or "\ufe0f" in text:
        # What joins emoji to one can be seen by what it does: every second part is such an emoji.
        parts = enumerate(_JOINED_EMOJI.split(text))
        return "".join(part if n % 2 else _escaped(part, keep) for n, part in parts)
    return _escaped(text, keep)


def _escaped(text: str, keep: str) -> str:
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in keep else _code(c) for c in text)
    return _INVISIBLE.sub(lambda match: _code(match[0]), text)


def _code(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]{6,16}\b")


def without_addresses(text: str) -> str:
    """Return a text without the addresses in memory that Python's own `repr` has."""
    return _ADDRESS.sub("", text) if " at 0x" in text else text


def own_text(value: object) -> str:
    """Return a value's `repr`, or its `str` if its class has only that, the same in each run.

    Raises what these raise.
    """
    cls: Any = type(value)
    has_str_alone = cls.__repr__ is object.__repr__ and cls.__str__ is not object.__str__
    return without_addresses((str if has_str_alone else repr)(value))


def indented(text: str) -> str:
    """Return the text of somebody else below lines of ours, none of which it can imitate."""
    return "\n".join(f"    {line}" for line in printable(text, LINES).split("\n"))


def print_text(text: object, file: TextIO | None = None) -> None:
    """Print a text of one or several lines, its control and bidi characters as escapes."""
    print(printable(str(text), LINES), file=file or sys.stdout)


def visible_text(text: str, limit: int = 200) -> str:
    """Return a text in which nothing is hidden: controls and bidi marks are escapes."""
    return shortened_text(printable(text), limit)


def shortened_text(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters, with `…` at the end of one that was cut."""
    # What joins emoji is seen only between two.
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip(_JOINERS)}…"


_DECIMAL = re.compile(r"(?=.{14,20}\Z)-?[0-9]+\.[0-9]+")


def compared_numbers(left: str, right: str) -> tuple[str, str]:
    """Return two texts that are compared: of numbers without the noise of binary floats, unless
    both would read the same. The panel has the same rule.

    >>> compared_numbers("0.30000000000000004", "5.699999999999999")
    ('0.3', '5.7')
    """
    plain = _without_noise(left), _without_noise(right)
    return (left, right) if plain[0] == plain[1] else plain


def _without_noise(text: str) -> str:
    rounded = str(float(f"{float(text):.15g}")) if _DECIMAL.fullmatch(text) else text
    return rounded if len(rounded) < len(text) - 6 else text


_LONG_NUMBER = re.compile(r"(?<![\w.])(-?\d+\.(?:0*[1-9]\d\d|\d{3}))(?:\d{4,}…?|\d*…)(?![\w.])")


def short_numbers(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; of a long number three decimals are left, zeros
    before them not counted, and a sign that it is cut. The panel has the same rule.

    >>> short_numbers("mean 4.55714285714, least 0.00012345678, sum 393.00000000000006", 60)
    'mean 4.557…, least 0.000123…, sum 393.0'
    """
    return shortened_text(_LONG_NUMBER.sub(_short_number, text), limit).replace(".…", "…")


def _short_number(match: re.Match[str]) -> str:
    plain = _without_noise(match[0])
    return plain if plain != match[0] else f"{match[1]}…"


def first_line(text: str, limit: int) -> str:
    """Return the first line of a text that is not blank, with ` …` where other lines follow."""
    line, _, others = text.strip().partition("\n")
    return shortened_text(f"{line.rstrip()} …" if others else line, limit)


def nearest(name: object, names: Iterable[str]) -> str:
    """Return a question that suggests the nearest of the names; "" if none is near."""
    close = nearest_name(name, names) if isinstance(name, str) else ""
    return f" Did you mean {close}?" if close else ""


def nearest_name(name: str, candidates: Iterable[str]) -> str:
    """Return the candidate that a mistyped name is nearest to; "" if none is near."""
    names = list(candidates)
    close = get_close_matches(name, names, 1) or [n for n in names if n.lower() == name.lower()]
    return close[0] if close else ""


def aligned_lines(rows: Sequence[Sequence[str]], texts: Container[int]) -> list[str]:
    """Return the rows of a table as lines of equal columns.

    `texts` are the indices of the columns that stand to the left; figures stand to the right.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index in texts else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def progress_bar(total: int, label: str, unit: str, leave: bool = True) -> Any:
    """Return a bar that `update()` moves on, in a terminal or a notebook; a context that ends it.

    Without `leave` nothing of it stays.
    """
    # Imported late: it takes longer than loading the extension may take.
    from tqdm import tqdm

    # A kernel's output is no terminal. A bar of text leaves nothing there, a widget would.
    in_kernel = type(sys.stdout).__module__.startswith("ipykernel")
    shown = {"disable": False, "file": sys.stdout, "ncols": 80} if in_kernel else {"disable": None}
    return tqdm(total=total, desc=printable(label), unit=unit, leave=leave, **shown)


def unique_names(names: Iterable[str]) -> list[str]:
    """Return names of columns of which each is there once: `x`, `x_2`."""
    wanted = [*names]
    result = dict[str, None]()
    for name in wanted:
        number, new = 1, name
        while new in result or (number > 1 and new in wanted):
            number += 1
            new = f"{name}_{number}"
        result[new] = None
    return [*result]


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun, in English: `1 row`, `2,000 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def unused_name(name: str, names: Collection[str]) -> str:
    """Return a name, followed by the first number from 2 on where it is one of `names`:
    `retry 2`, `fork after call 3 (2)`."""
    form = "{} ({})" if name[-1:].isdigit() else "{} {}"
    numbered = (form.format(name, number) for number in range(2, len(names) + 3))
    return name if name not in names else next(free for free in numbered if free not in names)
