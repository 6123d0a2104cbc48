"""What a run of the harness came to: cases by part, what broke, and a table of both."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from tests.faults.laws import Broken

LAWS = ("duplicate effect", "lost result", "unapproved")


@dataclass
class Tally:
    """The cases of one part of the harness."""

    part: str
    cases: int = 0
    seconds: float = 0.0
    broken: list[dict[str, str]] = field(default_factory=list)
    """By law, how, and in which case."""

    def add(self, case: str, broken: Iterable[Broken]) -> None:
        """Count a case, and what broke in it."""
        self.cases += 1
        self.broken += [{"law": each.law, "how": each.how, "case": case} for each in broken]

    def dumps(self) -> str:
        """Return it as one line."""
        return json.dumps(asdict(self))


def cpu() -> float:
    """Return the seconds of a processor that this process and its children took so far."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def loads(line: str) -> Tally:
    """Read a tally back."""
    return Tally(**json.loads(line))


def table(tallies: Iterable[Tally]) -> str:
    """Return the tallies as a table, and the line that sums it up."""
    rows, found = [f"{'faults':28}{'cases':>10}{'CPU s':>10}  broken"], list(tallies)
    for tally in found:
        laws = Counter(each["law"] for each in tally.broken)
        said = ", ".join(f"{law}: {times}" for law, times in laws.items()) or "nothing"
        rows.append(f"{tally.part:28}{tally.cases:>10,}{tally.seconds:>10.1f}  {said}")
    times = Counter(each["law"] for tally in found for each in tally.broken)
    duplicate, lost, unapproved = (times[law] for law in LAWS)
    rows.append(
        f"{sum(tally.cases for tally in found):,} cases, {duplicate} duplicate effects, "
        f"{lost} lost results, {unapproved} unapproved runs"
    )
    return "\n".join(rows)
