"""Whether a call may run: policies, asked before every call, outside of all adapters.

A policy is an ordered list of rules; the first that answers wins, and where none does
a person is asked. The policy of a name, such as `flow`, may be the last of the list.
"""

from __future__ import annotations

import inspect
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Literal, NamedTuple, cast, get_args

from jsonschema_rs import Draft202012Validator, ValidationError

from ..core.call_record import ArgumentOrigin
from ..core.digests import encode, readable_json
from ..core.errors import UsageError, checked_function, checked_text
from ..core.interface_text import InterfaceText, t
from ..core.interrupts import attempt, class_name
from ..core.json_data import mapped
from ..core.recorded_data import JsonObject, copied
from ..core.state import NAME
from ..core.text import nearest, visible_text
from ..sources.definition_schema import condition, schema_validator
from ..tools.tool import Tool, default_arguments, parameters_schema
from .origins import CallOrigins, Origins, has_text

Verdict = Literal["approve", "reject", "ask"]
VERDICTS = get_args(Verdict)
Answer = tuple[Verdict, str]
"""A verdict, and one sentence that says why."""
Test = Callable[[Tool, JsonObject, Origins], Answer | None]
"""Returns the answer of a rule for a call, None where the rule does not fit."""
By = Literal["policy", "rule", "person"]
Scope = Literal["", "session", "notebook", "computer"]


class Judgement(NamedTuple):
    """The answer for a call, and who gave it."""

    verdict: Verdict
    reason: str
    rule: str = ""
    """The name of the `Rule` that decides, "" where something else does."""
    by: By = "policy"
    """Who decides: the policy, a rule that the person added, or the person by a breakpoint."""


Policy = Callable[[Tool, JsonObject], Answer | Judgement]
LABELS = ("prompt", "person", "object", "result", "default", "model", "untrusted")
"""The kinds of origins, and what is not trusted, by which a rule judges arguments."""
MOST_SOURCE = 20_000
"""Characters of a tool's source that a rule keeps."""


@dataclass(frozen=True)
class Rule:
    """A rule for the calls that it fits. Of a list of rules the first that fits decides.

    Arguments:
        tool: the name of a tool, or a pattern of names such as `"tables_*"`.
        decision: "run" without asking, "ask" a person, or "refuse".
        arguments: for some arguments the JSON Schema that the value has to fit, such as
            `{"amount": {"maximum": 20}}`. A value is what the tool would get: the default of an
            argument that is left out, the name of an object. An argument without a value does not
            fit; one of another type than the tool declares makes the rule ask. To run, a value is
            of a type that the schema is about: no text fits `{"maximum": 20}`. For objects there is
            a keyword of our own: `{"table": {"madeFrom": "hotels"}}` fits the input `hotels`, and
            what calls made from it.
        reason: a sentence that says why; the card and the model's answer show it.
        origins: where the values of the arguments may come from: "prompt", "person", "object",
            "result", "default", "model" and "untrusted". None: for "run" from all but "untrusted",
            so that no rule runs a call with a value that others wrote; for "ask" and "refuse" from
            anywhere. To run, all values have to come from there; to ask or refuse, one of them.
        until: when it ends, such as "2026-12-24" or "2026-12-24T18:00+01:00"; "" for never; "run"
            for the end of the run, of a rule that was added to a session.
        code: the tool's `version()` for which it was made; "" for any.
        source: the source of the tool's function then, so that the panel can show what changed.
        by, made: who made it, and when.
        name: what the panel calls it; "" for the tool.
        scope: where a rule holds that was added from the panel: "session", "notebook" or
            "computer".
        paused: whether it decides nothing for now.

    A rule to run that has ended, whose tool has other code now, or that was made later than the
    clock says, asks and says so. A rule to refuse also fits the NFKC form of a text, so that
    `Ｍallory` is Mallory; case counts, so write the pattern `[Mm]allory` for both. A pattern is
    matched in linear time, and so has no lookaround. A text that the model wrote after it had read
    what others wrote may hold a part of that: it is run only where the rule names the whole value,
    by `const` or `enum`. A rule for one tool that names an argument which the tool does not have
    asks.

    Raises UsageError for another decision or origin, and for what is no JSON Schema or no date.

    Example:
        >>> from jupyter_toolcall import Rule, Scripted, Session, Toolbox
        >>> def pay(amount: int) -> str:
        ...     return f"paid {amount}"
        >>> model = Scripted([("pay", {"amount": 5}), ("pay", {"amount": 50}), "Done."])
        >>> rules = [Rule("pay", "run", {"amount": {"maximum": 20}}), Rule("*", "ask")]
        >>> session = Session(Toolbox(pay), model, scheme="flat", approve=rules).tell("Pay.")
        >>> [call.status for call in session.calls]
        ['succeeded', 'proposed']
    """

    tool: str
    decision: Literal["run", "ask", "refuse"]
    arguments: JsonObject = field(default_factory=dict)
    reason: str = ""
    origins: Sequence[str] | None = None
    until: str = ""
    code: str = ""
    by: str = ""
    made: str = ""
    name: str = ""
    scope: Scope = ""
    paused: bool = False
    source: str = ""
    _validators: Mapping[str, Draft202012Validator] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.decision not in [*_DECISIONS]:
            names = ", ".join(_DECISIONS)
            raise UsageError(f"{self.decision!r:.60} is no decision of a rule; there are {names}")
        checked_text(self.tool, "the tool of a rule")
        checked_text(self.reason, "the reason of a rule")
        listed = isinstance(self.origins, list | tuple | set | frozenset | None)
        for label in (self.origins or ()) if listed else (self.origins,):
            if label not in LABELS or not listed:
                what = f"{label!r:.60} is no origin of a value"
                raise UsageError(f"{what}; origins=[...] of {', '.join(LABELS)}")
        if self.scope not in get_args(Scope):
            raise UsageError(f"{self.scope!r:.60} is no scope of a rule")
        ends_with_run = self.until == "run" and self.scope == "session"
        for day in filter(None, ("" if ends_with_run else self.until, self.made)):
            try:
                _time(day)
            except (ValueError, OverflowError, TypeError):
                raise UsageError(f"{day!r:.60} is no date; write 2026-12-24") from None
        if not isinstance(self.arguments, Mapping):
            raise UsageError(f"the rule for {self.tool}: write its arguments as {{name: schema}}")
        # What it shows is what it decides by, whatever its caller changes later.
        object.__setattr__(self, "arguments", copied(self.arguments))
        validators = {}
        for name, schema in self.arguments.items():
            try:
                validators[name] = condition(schema, self.decision == "run")
            except (ValidationError, ValueError, TypeError) as error:
                problem = f"{schema!r:.60} is no JSON Schema: {str(error).splitlines()[0]:.200}"
                raise UsageError(f"the rule for {self.tool}: {name}: {problem}") from None
        object.__setattr__(self, "_validators", validators)

    def __reduce__(self) -> tuple[Any, ...]:
        # What checks the values cannot be copied, and a worker process makes its own.
        return Rule, tuple(getattr(self, part.name) for part in fields(self) if part.init)

    def __call__(
        self, tool: Tool, arguments: Mapping[str, object], origins: Origins
    ) -> Answer | None:
        """Return the answer for a call, None where the rule does not fit."""
        if self.paused or not fnmatchcase(tool.name, self.tool):
            return None
        values = {**default_arguments(tool), **arguments}
        undeclared = (name for name in self.arguments if not _is_declared(tool, name, values))
        if wrong := next(undeclared, ""):
            # A tool may take "5000" for a number: a rule for numbers would not judge it.
            return "ask", t("The rule %1 cannot judge the type of %2.", repr(self.label), wrong)
        if self.tool == tool.name and (wrong := self._unknown_argument(tool)):
            return "ask", t(
                "The rule %1 names %2, which %3 does not take.", repr(self.label), wrong, tool.name
            )
        if not (self._fits(values) and self._is_made_from(origins)):
            return None
        if not self._allows(values, origins):
            return self._no_answer(origins)
        if self.decision == "run" and (ended := self.ended(tool)):
            return "ask", ended
        reason = self.reason or t("The rule %1 decides: %2.", repr(self.label), self.decision)
        return _DECISIONS[self.decision], reason

    @property
    def label(self) -> str:
        """What the panel and the journal call the rule."""
        return self.name or self.tool

    def _no_answer(self, origins: Origins) -> Answer | None:
        """Return why a rule of the panel does not run a call; other rules just do not fit it."""
        pair = origins().doubtful
        if not self.scope or self.decision != "run" or pair is None:
            return None
        return "ask", t("The rule %1 does not decide: %2 is %3.", repr(self.label), *map(str, pair))

    def _unknown_argument(self, tool: Tool) -> str:
        """Return an argument of the rule that the tool cannot have, "" where there is none."""
        schema = parameters_schema(tool)
        if schema.get("additionalProperties") or "properties" not in schema:
            return ""
        return next((name for name in self.arguments if name not in schema["properties"]), "")

    def _fits(self, values: Mapping[str, object]) -> bool:
        def fit(read: Mapping[str, object]) -> bool:
            tests = self._validators.items()
            return all(name in read and test.is_valid(read[name]) for name, test in tests)

        return fit(values) or (self.decision != "run" and fit(_normal(values)))

    def _is_made_from(self, origins: Origins) -> bool:
        """Return whether the objects are, or are made from, the inputs that the rule names."""
        named = ((name, made_from(schema)) for name, schema in self.arguments.items())
        return all(not of or of in origins().inputs.get(name, ()) for name, of in named)

    def ended(self, tool: Tool) -> str:
        """Return why the rule runs nothing any more, "" where it does."""
        now = datetime.now(UTC)
        if self.until not in ("", "run") and now >= _time(self.until):
            return t("The rule %1 ended on %2.", repr(self.label), self.until)
        if self.made and now < _time(self.made):
            return t(
                "The rule %1 is newer than the clock of this computer: the clock was set back.",
                repr(self.label),
            )
        if self.code and self.code != tool.version():
            return t("The rule %1 ended: the code of %2 has changed.", repr(self.label), tool.name)
        return ""

    def _allows(self, values: Mapping[str, object], origins: Origins) -> bool:
        """Return whether a value comes from where the rule says; to run a call, all have to."""
        if self.origins is None and self.decision != "run":
            return True
        if self.decision != "run":
            named = {*(self.origins or ())}
            return any(origin.labels & named for origin in origins().arguments.values())
        allowed = LABELS[:-1] if self.origins is None else ("default", *self.origins)
        return all(
            origin.labels.issubset(allowed)
            and ("untrusted" in allowed or self._may_run(name, values.get(name), origin))
            for name, origin in origins().arguments.items()
        )

    def _may_run(self, name: str, value: object, origin: ArgumentOrigin) -> bool:
        """Return whether a value holds no part of what others wrote, as far as anybody can tell.

        The model may have put a part of it, in any spelling, into a text of its own. Where the
        rule names all values that fit, none of them is new.
        """
        schema = self.arguments.get(name)
        is_named = isinstance(schema, Mapping) and not {"const", "enum"}.isdisjoint(schema)
        return is_named or not _may_quote_others(origin, value)


def made_from(schema: object) -> str:
    """Return the input that a rule's condition on an argument names, "" where it names none."""
    return str(schema.get("madeFrom", "")) if isinstance(schema, Mapping) else ""


def source_of(tool: Tool) -> str:
    """Return the source of a tool's function as a rule keeps it, "" where there is none."""
    return (attempt(inspect.getsource, tool.function)[0] or "")[:MOST_SOURCE]


def _is_declared(tool: Tool, name: str, values: Mapping[str, object]) -> bool:
    """Return whether a value has the type that the tool declares, before the tool converts it."""
    schema, value = parameters_schema(tool), values.get(name)
    declared = schema.get("properties", {}).get(name)
    if declared is None or name not in values or (isinstance(value, str) and NAME.fullmatch(value)):
        return True
    return _declared_type(encode({**declared, "$defs": schema.get("$defs", {})})).is_valid(value)


@lru_cache(512)
def _declared_type(schema: str) -> Draft202012Validator:
    return schema_validator(json.loads(schema))


def _time(text: str) -> datetime:
    """Return a time, in this computer's zone where the text has none. Raises ValueError."""
    return datetime.fromisoformat(text).astimezone(UTC)


def _normal(data: object) -> Any:
    """Return JSON data with texts in the form in which characters that look alike are the same."""
    return mapped(data, str, lambda text: unicodedata.normalize("NFKC", text), keys=True)


_DECISIONS: Mapping[str, Verdict] = {"run": "approve", "ask": "ask", "refuse": "reject"}
Approve = str | Sequence[tuple[str, str] | Rule | str] | Policy


def _read_only(tool: Tool, arguments: Mapping[str, object], origins: Origins) -> Answer | None:
    return ("approve", t("The tool is marked read-only.")) if tool.read_only else None


def _always(verdict: Verdict, why: str) -> Test:
    return lambda tool, arguments, origins: (verdict, why)


def _flow(tool: Tool, arguments: Mapping[str, object], origins: Origins) -> Answer:
    """Return the answer of `flow`: what others wrote leads to no effect, and nothing out of here,
    unless a person wants it.
    """
    if tool.external:
        return "ask", t("Policy `flow`: the call reaches others.")
    if tool.destructive:
        return "ask", t("Policy `flow`: the call may delete or overwrite data.")
    if tool.read_only:
        return "approve", t("The tool is marked read-only.")
    call = origins()
    if call.trust == "trusted":
        return "approve", t("Policy `flow`: nothing that others wrote leads to the call.")
    if call.doubtful is None:
        return "ask", t("Policy `flow`: the model has read what others wrote.")
    name, origin = call.doubtful
    return "ask", t("Policy `flow`: %1 is not from you (%2).", name, str(origin))


def _no_rule(call: CallOrigins) -> Answer:
    if call.has_untrusted and call.doubtful is not None:
        name, origin = call.doubtful
        return "ask", t("No rule decides about %1, which is not from you (%2).", name, str(origin))
    return "ask", t("No rule decides about it.")


_ASK = _always("ask", t("It may change something: the tool is not marked read-only."))
PRESETS: Mapping[str, tuple[Test, ...]] = {
    "ask": (_read_only, _ASK),
    "read-only": (_read_only, _always("reject", t("Only read-only tools run in this session."))),
    "all": (_always("approve", t("Policy `all`: nothing waits.")),),
    "none": (_always("ask", t("Policy `none`: every call waits.")),),
    "flow": (_flow,),
}

_STRICTNESS = {
    **{"all": (0, 0, 0), "ask": (0, 0, 1), "none": (1, 1, 1), "read-only": (0, 0, 2)},
    "flow": (0, 1, 0),
}
"""What a preset does with a read-only tool, with one that is also external, and with another one: 0
runs it, or some of its calls, 1 asks, 2 rejects."""


def stricter_preset(preset: str, other: str) -> str:
    """Return `other` where it is as strict as `preset` for every tool, and else `preset`.

    Raises UsageError for a name that is no preset.
    """
    _rules(preset), _rules(other)
    pairs = zip(_STRICTNESS[preset], _STRICTNESS[other], strict=True)
    return other if all(mine <= its for mine, its in pairs) else preset


def fits_glob(glob: str, tool: Tool, arguments: Mapping[str, object]) -> bool:
    """Return whether a call looks like a glob of `tool` or `tool(arguments)`."""
    shown = f"{tool.name}({readable_json(dict(arguments))})"
    return fnmatchcase(tool.name, glob) or fnmatchcase(shown, glob)


def may_fit_glob(glob: str, tool: str) -> bool:
    """Return whether calls of a tool fit a glob, whatever their arguments or with some."""
    starts = (glob[:end] for end in range(len(glob) + 1)) if glob.endswith(("*", ")")) else ()
    return fnmatchcase(tool, glob) or any(fnmatchcase(f"{tool}(", start) for start in starts)


def rule_matching(glob: str, verdict: Verdict) -> Test:
    """Return the rule that answers for calls that look like `tool` or `tool(arguments)`."""

    def rule(tool: Tool, arguments: Mapping[str, object], origins: Origins) -> Answer | None:
        fits = fits_glob(glob, tool, arguments)
        if not fits or (verdict == "approve" and _may_hold_words_of_others(arguments, origins())):
            return None
        return verdict, t("The rule %1 decides: %2.", repr(glob), verdict)

    return rule


def _may_hold_words_of_others(arguments: Mapping[str, object], call: CallOrigins) -> bool:
    """Return whether others wrote a value of a call, or the model may have quoted them in one."""
    quotes = (_may_quote_others(o, arguments.get(name)) for name, o in call.arguments.items())
    return call.has_untrusted or any(quotes)


def _may_quote_others(origin: ArgumentOrigin, value: object) -> bool:
    """Return whether a value has a text that the model wrote after it read what others wrote."""
    return origin.is_of_exposed_model and has_text(value)


@dataclass(frozen=True, slots=True)
class RulePolicy:
    """Rules in their order; the first that fits decides."""

    rules: tuple[Test, ...]

    def __call__(
        self, tool: Tool, arguments: Mapping[str, object], origins: Origins = CallOrigins
    ) -> Judgement:
        """Return the answer for a call; a person is asked where no rule fits."""
        for rule in self.rules:
            if answer := rule(tool, arguments, origins):
                return Judgement(*answer, rule.label if isinstance(rule, Rule) else "")
        return Judgement(*_no_rule(origins()))


def approval_policy(approve: Approve) -> Policy:
    """Return the policy that a setting stands for.

    Raises UsageError for what is no policy: an unknown name, or a list of other things than pairs.
    """
    if callable(approve) and not isinstance(approve, Rule | type):
        return checked_function(approve, "the policy", "tool", "arguments")
    return RulePolicy((*_rules(approve),))


def policy_decision(
    policy: Policy, tool: Tool, arguments: Mapping[str, object], origins: Origins
) -> Judgement:
    """Return what a policy answers for a call.

    Raises UsageError, which names the policy, for anything but a verdict and a sentence.
    """
    if isinstance(policy, RulePolicy):
        return policy(tool, copied(arguments), origins)
    answer: Any = policy(tool, copied(arguments))
    match answer:
        case (str() as verdict, str() as why) if isinstance(answer, tuple):
            # A verdict may be a member of an enum of texts.
            if (plain := str.__str__(verdict)) in VERDICTS:
                # A text of ours is shown in the language of the panel; what is recorded is plain.
                ours = plain == "ask" and type(why) is InterfaceText
                return Judgement(cast(Verdict, plain), why if ours else str.__str__(why))
    if inspect.iscoroutine(answer):
        # Nobody awaits it: closed, it does not warn of that.
        answer.close()
    name = getattr(policy, "__qualname__", None) or class_name(type(policy))
    shown, raised = attempt(repr, answer)
    shown = shown if isinstance(shown, str) else f"a {class_name(type(answer))} ({raised})"
    raise UsageError(
        f"the policy {visible_text(str(name))} answered {visible_text(shown, 80)} for {tool.name}, "
        "which is no decision, so the call does not run. A policy is a plain function, and returns "
        'one of ("approve", WHY), ("reject", WHY) and ("ask", WHY), where WHY is a sentence'
    )


def _rules(approve: object) -> Sequence[Test]:
    if isinstance(approve, str) and approve in PRESETS:
        return PRESETS[approve]
    if isinstance(approve, str) or not isinstance(approve, Sequence):
        raise UsageError(
            f"approve={approve!r:.80} is no policy; there are {', '.join(PRESETS)}, a list of "
            f"Rule(...) or (glob, verdict), and functions.{nearest(str(approve), PRESETS)}"
        )
    last = approve[-1] if approve else None
    named = PRESETS.get(last, ()) if isinstance(last, str) else ()
    return [*map(_rule, approve[:-1] if named else approve), *named]


def _rule(pair: object) -> Test:
    """Return a rule, or the rule of a pair of a glob and a verdict. Raises UsageError."""
    match pair:
        case Rule():
            return pair
        case (str() as glob, str() as verdict) if verdict in VERDICTS:
            return rule_matching(glob, cast(Verdict, verdict))
        case (str(), verdict):
            raise UsageError(f"{verdict!r:.80} is no verdict; there are approve, reject and ask")
    raise UsageError(
        f'{pair!r:.80} in approve is no rule; write Rule("fill*", "run") or ("fill*", "approve")'
    )
