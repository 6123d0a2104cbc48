"""Which calls of a task would run unasked by rules that cards offered for the calls of other tasks.

The data are the reference calls of tau2-bench (airline and retail). A person approves every call of
all tasks but one, and takes every rule that its card offers. No model takes part.

pip install --no-deps inspect-evals==0.26.0
python -m tests.benchmarks.tau2_rules
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jupyter_toolcall import Scripted, Session, Toolbox, from_definition
from jupyter_toolcall.previews.rule_offers import rule_offers
from jupyter_toolcall.rules.approval_policy import Rule
from jupyter_toolcall.rules.origins import CallOrigins

CONFIRMED = {
    "airline": "book_reservation cancel_reservation update_reservation_flights "
    "update_reservation_baggages update_reservation_passengers",
    "retail": "cancel_pending_order exchange_delivered_order_items modify_pending_order_address "
    "modify_pending_order_items modify_pending_order_payment modify_user_address "
    "return_delivered_order_items",
}
"""The tools whose calls the customer has to confirm, by the policy of each domain."""
OTHERS = {"send_certificate", "transfer_to_human_agents"}
"""The other tools that have effects."""
CLOSED = {"cabin", "flight_type", "insurance", "reason", "amount", "total_baggages"}
CLOSED |= {"nonfree_baggages", "country", "state"}
"""The arguments that take a few values by their meaning."""
Call = Mapping[str, Any]


def tasks_of(domain: str) -> list[list[Call]]:
    """Return the reference calls of each task of a domain. Raises SystemExit without the data."""
    spec = find_spec("inspect_evals")
    if spec is None:
        raise SystemExit("pip install --no-deps inspect-evals==0.26.0")
    (root,) = spec.submodule_search_locations or ("",)
    path = Path(root, "tau2", "data", "domains", domain, "tasks.json")
    tasks = json.loads(path.read_text(encoding="utf-8"))
    return [(task.get("evaluation_criteria") or {}).get("actions") or [] for task in tasks]


def toolbox_of(calls: list[Call]) -> Toolbox:
    """Return tools that take the arguments of these calls, and do nothing."""
    properties: dict[str, dict[str, Any]] = {}
    for call in calls:
        schemas = properties.setdefault(call["name"], {})
        for name, value in call["arguments"].items():
            choices = schemas.setdefault(name, {"enum": []} if name in CLOSED else {})
            if name in CLOSED and value not in choices["enum"]:
                choices["enum"].append(value)
    forms = (
        {"name": name, "parameters": {"type": "object", "properties": schemas}}
        for name, schemas in properties.items()
    )
    return Toolbox(*(from_definition(form, action=lambda **_: "done") for form in forms))


def rules_of(task: list[Call], box: Toolbox) -> Iterator[Rule]:
    """Yield the rules that the cards of a task's calls offer, each before its call is approved."""
    model = Scripted([*((call["name"], call["arguments"]) for call in task), "Done."])
    session = Session(box, model, scheme="flat", max_turns=len(task) + 1).tell("Go on.")
    while session.pending:
        yield from (offer.rule for offer in rule_offers(session.cursor, session.pending[0].id))
        session.decide(session.pending[0], "approve").run()


def main() -> None:
    """Print how many calls would run unasked, and by whose rules."""
    count, unasked = Counter[str](), Counter[str]()
    for domain, confirmed in CONFIRMED.items():
        tasks = tasks_of(domain)
        box = toolbox_of([call for task in tasks for call in task])
        rules = [[*rules_of(task, box)] for task in tasks]
        for left_out, task in enumerate(tasks):
            others = [rule for n, offered in enumerate(rules) if n != left_out for rule in offered]
            for call in task:
                tool = box[call["name"]]
                is_confirmed = tool.name in confirmed.split()
                kind = "to confirm" if is_confirmed else "other" if tool.name in OTHERS else "read"
                count[kind] += 1
                answers = ((rule, rule(tool, call["arguments"], CallOrigins)) for rule in others)
                run_by = [rule for rule, answer in answers if answer and answer[0] == "approve"]
                unasked[kind] += bool(run_by)
                ids = {name for name in call["arguments"] if name not in CLOSED}
                unasked[f"{kind}, ids of others"] += any(
                    rule.arguments.get(name) != {"const": call["arguments"][name]}
                    for rule in run_by
                    for name in ids
                )
    for kind, number in count.items():
        strangers = unasked[f"{kind}, ids of others"]
        print(
            f"{kind:12} {unasked[kind]:4} of {number:4} unasked, {strangers} by a rule of other ids"
        )


if __name__ == "__main__":
    main()
