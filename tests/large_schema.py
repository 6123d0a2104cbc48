"""A generated GraphQL schema of thousands of fields, shaped like that of a shop or a code host."""

from __future__ import annotations

from typing import Any

LINE = "Returns what the name says, as a part of this; see the pages of the API for more of it."


def large_schema(entities: int, fields: int, mutations: int, arguments: int) -> str:
    """Return a schema of types that refer to one another, with connections, and mutations."""
    parts = ["interface Node { id: ID! }", "scalar DateTime"]
    parts += [_entity(number, entities, fields) for number in range(entities)]
    parts += [
        f"input Change{number}Input {{ id: ID!, title: String, note: String, count: Int }}\n"
        f"type Change{number}Payload {{ errors: [String!]! entity: Entity{number % entities} }}"
        for number in range(mutations)
    ]
    queries = [f'"{LINE}" entity{n}(id: ID, slug: String): Entity{n}' for n in range(entities)]
    changes = [
        f'"{LINE}" changeOfEntity{n}(input: Change{n}Input!{_extra(arguments)}): Change{n}Payload'
        for n in range(mutations)
    ]
    parts.append("type Query { " + " ".join(queries) + " }")
    parts.append("type Mutation { " + " ".join(changes) + " }")
    return "\n".join(parts)


def _entity(number: int, entities: int, fields: int) -> str:
    kind = f"Entity{number}"
    paging = "first: Int, last: Int, after: String, before: String"
    lines = [
        f'"{LINE}" link{n}: Entity{(number + n + 1) % entities}'
        if n % 3
        else f'"{LINE}" list{n}({paging}): Entity{(number + n) % entities}Connection!'
        if n % 2
        else f'"{LINE}" text{n}(channel: String): String'
        for n in range(fields)
    ]
    return (
        f"type {kind} implements Node {{ id: ID! {' '.join(lines)} }}\n"
        f"type {kind}Connection {{ edges: [{kind}Edge!]! nodes: [{kind}!]! total: Int! }}\n"
        f"type {kind}Edge {{ node: {kind}! cursor: String! }}"
    )


def _extra(count: int) -> str:
    return "".join(f", part{number}: String" for number in range(count))


LINKS: list[tuple[str, dict[str, Any]]] = [
    ("entity0", {}),
    *[("Entity0_link1", {})] * 4,
    *[("Entity2_link2", {})] * 4,
    *[("Entity5_link1", {})] * 4,
    *[("Entity7_link4", {})] * 4,
]
"""Calls along a chain of its objects: none of them sends a request."""
