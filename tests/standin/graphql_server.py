"""A GraphQL server for the tests: graphql-core behind real HTTP, in a thread of its own.

The bakery has every shape that a schema can have, and both ways to speak of ids. `engine`
answers any schema at all, with what was asked for.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    GraphQLError,
    build_schema,
    get_named_type,
    get_nullable_type,
    graphql_sync,
    is_enum_type,
    is_list_type,
    is_object_type,
)

from tests.standin import web

BAKERY = '''
"""Tells which type an id is of."""
directive @expectedType(name: String!) on FIELD_DEFINITION | ARGUMENT_DEFINITION
scalar DoughID
scalar JSON
"""The absence of a value."""
scalar Void
enum Shape { ROUND LONG BATON }
input Layer { name: String! = "cream", thick: Boolean = false }
input Topping { name: String!, grams: Int = 10, layers: [Layer!] = [{name: "jam"}], inner: Topping }
interface Baked { id: ID!, name: String! }
"""A loaf."""
type Bread implements Baked {
  id: ID!, name: String!, slices(count: Int! = 2): [Slice!]!, half: Half
}
type Cake implements Baked { id: ID!, name: String!, tiers: Int! }
type Slice { number: Int!, butter(fat: Float = 0.8): Slice! }
type Half { of: String! }
union Found = Bread | Cake
"""Flour and water."""
type Dough {
  id: DoughID!
  sync: DoughID!
  _secret: String
  """
  Kneads it.

  Takes a while.
  """
  knead(minutes: Int = 5): Dough!
  top(toppings: [Topping!] = [], main: Topping): Dough!
  mix(with: DoughID): Dough!
  mixAll(others: [DoughID!]!, spare: [DoughID!] = []): Dough!
  shape(as: Shape! = ROUND, more: [Shape!]): Dough!
  import(from: String!, except: [String!]): Dough!
  weight: Int!
  story: String!
  note: String
  noted(data: JSON!): JSON
  rest: Void
  twin: DoughID!
  lost(now: Boolean = true): Dough
  parts: [Dough!]!
  holes: [Half]
  burn: Dough!
  never: String!
  old: String @deprecated(reason: "It is stale.")
}
type Query {
  dough(flour: String! = "rye"): Dough!
  loadDoughFromID(id: DoughID!): Dough!
  node(id: ID!): Baked
  bread(named: String!): Bread
  shelf: [Baked!]!
  find(name: String!): Found
  weigh(breads: [ID!]! @expectedType(name: "Bread"), any: ID @expectedType(name: "Baked")): Int!
  echo(id: ID!): String!
  best: ID! @expectedType(name: "Bread")
  version: String!
  old: Dough! @deprecated
}
type Renamed { ok: Boolean!, name: String, bread: Bread }
type Mutation {
  bake(dough: DoughID!, as: Shape = LONG): Bread!
  rename(bread: ID! @expectedType(name: "Bread"), name: String!): Renamed
  clean: Void
  count: Int!
  version: String!
}
type Subscription { smell: String }
'''


@dataclass
class Dough:
    """A dough is its story, and its id holds that."""

    story: str

    def __getattr__(self, name: str) -> Any:
        if name in ("import", "old", "_secret", "knead", "top", "mixAll", "shape"):
            return lambda info, **given: self._then(name, given)
        raise AttributeError(name)

    def _then(self, done: str, given: Any = None) -> Dough:
        return Dough(f"{self.story} {done}{json.dumps(given) if given else ''}")

    @property
    def id(self) -> str:
        return f"dough:{self.story}"

    @property
    def weight(self) -> int:
        return len(self.story)

    def mix(self, info: Any, **given: Any) -> Dough:
        return self._then("mix", {key: len(value) for key, value in given.items() if value})

    def noted(self, info: Any, data: Any) -> Any:
        return data

    def twin(self, info: Any) -> str:
        return f"{self.id} twin"

    def lost(self, info: Any, now: bool) -> Dough | None:
        return None if now else self

    @property
    def parts(self) -> list[Dough]:
        return [self._then("crust"), self._then("crumb")]

    @property
    def holes(self) -> list[Any]:
        return [{"of": "left"}, None, {"of": "right"}]

    def burn(self, info: Any) -> Any:
        raise GraphQLError(
            "the oven is on fire",
            extensions={"stdout": "x" * 9_000 + "ash", "exitCode": 3, "stderr": "hot\nhotter"},
        )

    never = None
    note = None
    rest = None


def baked(name: str) -> dict[str, Any]:
    slices = [
        {"number": at, "butter": lambda info, fat, at=at: {"number": at + fat}} for at in (1, 2)
    ]
    kind = "Cake" if name.startswith("cake") else "Bread"
    half = None if name == "whole" else {"of": name}
    return {
        **{"__typename": kind, "id": f"{kind}:{name}", "name": name, "tiers": 3, "half": half},
        "slices": lambda info, count: slices[:count],
    }


@dataclass
class Bakery:
    """Query and Mutation; `done` has what mutations did."""

    done: list[str] = field(default_factory=list)
    version: str = "1"

    def dough(self, info: Any, flour: str) -> Dough:
        return Dough(flour)

    def loadDoughFromID(self, info: Any, id: str) -> Dough:
        return Dough(id.removeprefix("dough:"))

    def node(self, info: Any, id: str) -> Any:
        return baked(id.partition(":")[2])

    def bread(self, info: Any, named: str) -> Any:
        return None if named == "nobody" else baked(named)

    def shelf(self, info: Any) -> Any:
        return [baked("loaf"), baked("cake of nuts")]

    def find(self, info: Any, name: str) -> Any:
        return None if name == "nobody" else baked(name)

    def weigh(self, info: Any, breads: list[str], any: str | None = None) -> int:
        return len(breads) * 100 + len(any or "")

    def echo(self, info: Any, id: str) -> str:
        return id

    def best(self, info: Any) -> str:
        return "Bread:best"

    def bake(self, info: Any, dough: str, **given: Any) -> Any:
        self.done.append(f"bake {dough}")
        return baked(dough.removeprefix("dough:"))

    def rename(self, info: Any, bread: str, name: str) -> Any:
        self.done.append(f"rename {bread}")
        return {"ok": True, "name": name}

    def clean(self, info: Any) -> None:
        self.done.append("clean")

    def count(self, info: Any) -> int:
        return len(self.done)


def engine(source: Any, info: Any, /, **given: Any) -> Any:
    """Answer any field of any schema: a text tells how one came there."""
    said = ", ".join(f"{key}: {json.dumps(value, default=str)}" for key, value in given.items())
    here = f"{source or ''}/{info.field_name}" + (f"({said})" if said else "")
    kind = get_nullable_type(info.return_type)
    one = _one(get_named_type(kind), here)
    return [one, one] if is_list_type(kind) else one


def _one(kind: Any, here: str) -> Any:
    if is_object_type(kind):
        return here
    if is_enum_type(kind):
        return next(iter(kind.values.values())).value
    plain: dict[str, Any] = {"Int": 7, "Float": 0.5, "Boolean": True, "Void": None}
    return plain.get(kind.name, here)


@dataclass
class Asked:
    """A request as it came."""

    query: str
    variables: dict[str, Any]
    headers: dict[str, str]


@dataclass
class Server:
    """A server that runs: where it is, its data, and what it was asked."""

    url: str
    root: Any
    requests: list[Asked] = field(default_factory=list)
    answer: Callable[[], tuple[int, bytes]] | None = None
    """What is answered in place of what the schema says."""

    @property
    def queries(self) -> list[str]:
        return [asked.query for asked in self.requests]


@contextlib.contextmanager
def serving(schema: str, root: Any = None, resolver: Any = None) -> Iterator[Server]:
    """Serve a schema on a port of this machine."""
    built = build_schema(schema)

    def routes(request: web.Asked) -> web.Answer:
        asked = json.loads(request.body)
        variables = asked.get("variables") or {}
        server.requests.append(Asked(asked["query"], variables, dict(request.headers)))
        if server.answer is not None:
            status, body = server.answer()
        else:
            found = graphql_sync(
                built, asked["query"], root, variable_values=variables, field_resolver=resolver
            )
            status, body = 200, json.dumps(found.formatted).encode()
        headers = {"content-type": "application/json", "content-length": str(len(body))}
        return web.Answer(body, status, headers)

    with web.Web(routes) as served:
        server = Server(f"{served.url}/graphql", root)
        yield server
