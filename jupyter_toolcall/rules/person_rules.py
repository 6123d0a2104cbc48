"""The rules that a person adds while a session runs: `PersonRules`.

They answer where the policy asks, and tighten what it lets run; they loosen nothing that it
refuses. Rules of the session are in memory alone. Those of a notebook are in its metadata, with
this computer's seal; those of the computer are in the user's data directory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from ..core.digests import encode
from ..core.errors import UsageError
from ..core.interface_text import t
from ..core.text import unused_name
from ..tools.tool import Tool
from ..tools.toolbox import Toolbox
from .approval_policy import Judgement, Rule, Scope, source_of
from .origins import Origins
from .rule_files import notebook_rules, person_name, sealed_rules, stored_rules, write_rules

COMPUTER = "person"
"""The name of the rules of this computer that were added from the panel."""
Until = Literal["run", "today", "removed"]
Change = Literal["pause", "resume", "remove", "up", "down", "renew"]


@dataclass
class PersonRules:
    """The rules that a person added to a session, in the order in which they decide."""

    notebook: str = ""
    """The path of the notebook, "" where it is not known."""
    rules: tuple[Rule, ...] = ()
    _notebook_had_rules: bool = False
    """Whether the notebook has had rules, so that its metadata say which there are now."""
    person: str = field(default_factory=person_name)
    """Who works here, and decides."""

    @classmethod
    def of(cls, notebook: str) -> PersonRules:
        """Return the rules that hold in a notebook. What cannot be read holds no rule."""
        of_notebook = notebook_rules(notebook)
        return cls(notebook, (*of_notebook, *stored_rules(COMPUTER)), bool(of_notebook))

    @property
    def for_metadata(self) -> str:
        """What the notebook keeps of its rules, as JSON; "" where nothing is to change."""
        if not self._notebook_had_rules:
            return ""
        return encode(sealed_rules(self.notebook, _of_scope("notebook", self.rules)))

    def answer(
        self, tool: Tool, arguments: Mapping[str, object], origins: Origins, asks: bool
    ) -> Judgement | None:
        """Return the answer of the first rule that fits a call, None where none fits.

        With `asks` the policy asks, so a rule may run the call; else rules only tighten. A rule to
        run that says why it cannot decide, such as one that has ended, comes last.
        """
        rules = [rule for rule in self.rules if asks or rule.decision != "run"]
        found = [(rule, rule(tool, arguments, origins)) for rule in rules]
        answers = [(rule, answer) for rule, answer in found if answer is not None]
        answers.sort(key=lambda pair: pair[0].decision == "run" and pair[1][0] == "ask")
        return Judgement(*answers[0][1], answers[0][0].label, "rule") if answers else None

    def add(self, rule: Rule, scope: Scope, until: Until) -> Rule:
        """Add a rule, and return it with its name, its end, who added it and when.

        Raises UsageError where the rule cannot be kept.
        """
        name = unused_name(rule.name, {existing.name for existing in self.rules})
        added = replace(self._placed(rule, scope, until), name=name, **self._made_now())
        self._set((*self.rules, added))
        return added

    def _placed(self, rule: Rule, scope: Scope, until: Until) -> Rule:
        """Return a rule that holds there and until then; one of a run is of its session."""
        if scope == "notebook" and not self.notebook:
            raise UsageError("this kernel does not know its notebook; add the rule to this session")
        day = rule.until if until_kind(rule) == "today" else _tomorrow()
        until_day = {"run": "run", "today": day, "removed": ""}[until]
        return replace(rule, scope="session" if until == "run" else scope, until=until_day)

    def pause(self, name: str) -> None:
        """Pause the rule of a name, if there is one."""
        self._set(tuple(replace(r, paused=r.paused or r.name == name) for r in self.rules))

    def rule(self, number: int, name: str) -> Rule:
        """Return the rule of a number, counted from 1, which has this name.

        Raises UsageError where the list has changed since it was shown.
        """
        if not 0 < number <= len(self.rules) or self.rules[number - 1].name != name:
            raise UsageError(t("The rules have changed since they were shown."))
        return self.rules[number - 1]

    def carry_out(self, number: int, name: str, change: Change, tools: Toolbox) -> None:
        """Pause, resume, remove or move the rule of a number, counted from 1, which has this name;
        or "renew" it: let one that has ended hold for the code that its tool has now.

        Raises UsageError where the list has changed since it was shown.
        """
        rule, rules, place = self.rule(number, name), [*self.rules], number - 1
        match change:
            case "pause" | "resume":
                rules[place] = replace(rule, paused=change == "pause")
            case "renew":
                tool = tools.get(rule.tool)
                if tool is not None and rule.code:
                    rule = replace(rule, code=tool.version(), source=source_of(tool))
                until = rule.until if rule.until in ("", "run") else _tomorrow()
                rules[place] = replace(rule, until=until, **self._made_now())
            case "remove":
                del rules[place]
            case "up" | "down":
                # Before the first and behind the last one is no other: it stays where it is.
                rules.insert(max(0, place - 1 if change == "up" else place + 1), rules.pop(place))
        self._set((*rules,))

    def edit(self, number: int, rule: Rule, scope: Scope, until: Until) -> None:
        """Put a changed rule in the place of the one of a number. Raises UsageError."""
        others = [other.name for n, other in enumerate(self.rules, 1) if n != number]
        placed = replace(self._placed(rule, scope, until), name=unused_name(rule.name, {*others}))
        self._set((*self.rules[: number - 1], placed, *self.rules[number:]))

    def end_run(self) -> None:
        """Remove the rules that hold to the end of the run, since another one begins."""
        self.rules = tuple(rule for rule in self.rules if rule.until != "run")

    def _made_now(self) -> dict[str, Any]:
        return {"by": self.person, "made": datetime.now(UTC).isoformat(timespec="seconds")}

    def _set(self, rules: tuple[Rule, ...]) -> None:
        """Keep changed rules: those of the computer are written, with those of other kernels."""
        before, after = (_of_scope("computer", listed) for listed in (self.rules, rules))
        if before != after:
            keys = {*map(_key, before)}
            others = [rule for rule in stored_rules(COMPUTER) if _key(rule) not in keys]
            try:
                write_rules(COMPUTER, [*after, *others])
            except OSError as error:
                raise UsageError(f"the rule cannot be kept on this computer: {error}") from None
        self.rules = rules
        self._notebook_had_rules |= bool(_of_scope("notebook", rules))


def _tomorrow() -> str:
    return (date.today() + timedelta(days=1)).isoformat()


def until_kind(rule: Rule) -> Until:
    """Return until when a rule holds, in the words of the panel; a date is "today"."""
    return "run" if rule.until == "run" else "today" if rule.until else "removed"


def _of_scope(scope: Scope, rules: tuple[Rule, ...]) -> list[Rule]:
    return [rule for rule in rules if rule.scope == scope]


def _key(rule: Rule) -> tuple[str, str]:
    """Return what tells a rule of this computer from those of other kernels."""
    return rule.name, rule.made
