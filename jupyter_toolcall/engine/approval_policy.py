"""Whether a call may run: policies, asked before every call, outside of all adapters.

A policy is an ordered list of rules; the first that answers wins, and where none does
a person is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, cast

from ..core.digests import readable_json
from ..core.errors import UsageError
from ..core.interface_text import t
from ..core.text import nearest
from ..tools.tool import Tool

Verdict = Literal["approve", "reject", "ask"]
Answer = tuple[Verdict, str]
"""A verdict, and one sentence that says why."""
Rule = Callable[[Tool, Mapping[str, Any]], Answer | None]
Policy = Callable[[Tool, Mapping[str, Any]], Answer]
Approve = str | Sequence[tuple[str, str]] | Policy


def _read_only(tool: Tool, arguments: Mapping[str, Any]) -> Answer | None:
    return ("approve", t("The tool is marked read-only.")) if tool.read_only else None


def _always(verdict: Verdict, why: str) -> Rule:
    return lambda tool, arguments: (verdict, why)


_NO_RULE: Answer = "ask", t("No rule answers for it.")
_ASK = _always("ask", t("Policy `ask`: the tool is not marked read-only."))
PRESETS: Mapping[str, tuple[Rule, ...]] = {
    "ask": (_read_only, _ASK),
    "read-only": (_read_only, _always("reject", t("Only read-only tools run in this session."))),
    "all": (_always("approve", t("Policy `all`: nothing waits.")),),
    "none": (_always("ask", t("Policy `none`: every call waits.")),),
}


def rule_matching(glob: str, verdict: Verdict) -> Rule:
    """Return the rule that answers for calls that look like `tool` or `tool(arguments)`."""

    def rule(tool: Tool, arguments: Mapping[str, Any]) -> Answer | None:
        shown = f"{tool.name}({readable_json(dict(arguments))})"
        if fnmatchcase(tool.name, glob) or fnmatchcase(shown, glob):
            return verdict, t("The rule %1 says %2.", repr(glob), verdict)
        return None

    return rule


def approval_policy(approve: Approve, breaks: Sequence[str] = ()) -> Policy:
    """Return the policy that a setting stands for; `breaks` are globs that always ask.

    Raises UsageError for a name or a verdict that there is not.
    """
    if callable(approve):
        return approve
    stops = [rule_matching(glob, "ask") for glob in breaks]
    rules = (*stops, *_rules(approve))

    def decide(tool: Tool, arguments: Mapping[str, Any]) -> Answer:
        answers = (rule(tool, arguments) for rule in rules)
        return next((answer for answer in answers if answer), _NO_RULE)

    return decide


def _rules(approve: str | Sequence[tuple[str, str]]) -> Sequence[Rule]:
    if isinstance(approve, str):
        if approve not in PRESETS:
            raise UsageError(
                f"approve={approve!r} is no policy; there are {', '.join(PRESETS)}, or a "
                f"list of (glob, verdict).{nearest(approve, PRESETS)}"
            )
        return PRESETS[approve]
    wrong = [verdict for _, verdict in approve if verdict not in ("approve", "reject", "ask")]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no verdict; there are approve, reject and ask")
    return [rule_matching(glob, cast(Verdict, verdict)) for glob, verdict in approve]
