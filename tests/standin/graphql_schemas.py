"""GraphQL schemas of any size, generated in the shape of GitHub's: ids, connections, mutations."""

from __future__ import annotations

from collections.abc import Iterator


def forge(kinds: int, fields: int = 20) -> str:
    """Return a schema with so many kinds of object that have an id, and fields of each."""
    return "\n".join([_COMMON, *(_kind(n, kinds, fields) for n in range(kinds)), *_roots(kinds)])


def kind(number: int) -> str:
    """Return the name of a kind of object: `Issue` is the first."""
    return "Issue" if number == 0 else f"Thing{number}"


_COMMON = '''
"""Text with a date and a time in it."""
scalar DateTime
scalar URI
scalar HTML
enum Order { ASC DESC }
enum State { OPEN CLOSED MERGED }
"""An object with an id."""
interface Node { id: ID! }
type PageInfo { endCursor: String, hasNextPage: Boolean! }
type Note { text: String!, length: Int! }
input Sort { by: String! = "created", order: Order = ASC }
'''


def _kind(number: int, kinds: int, fields: int) -> str:
    name, other = kind(number), kind((number + 1) % kinds)
    rows = [
        "id: ID!",
        f'"""The number of the {name}."""\n  number: Int!',
        f'"""Identifies the title of the {name}."""\n  title: String!',
        "state: State!",
        f'"""The {other} that it belongs to."""\n  owner: {other}!',
        f'"""A list of its parts."""\n  parts({_PAGE}): {name}Connection!',
        "labels: [String!]",
        "note: Note",
    ]
    rows += [_row(index, name, other) for index in range(fields - len(rows))]
    lines = "\n  ".join(rows[:fields])
    page = f"{{ nodes: [{other}], pageInfo: PageInfo!, totalCount: Int! }}"
    return (
        f'"""A {name} is content in a repository."""\ntype {name} implements Node {{\n  {lines}\n}}'
        f"\ntype {name}Connection {page}"
    )


_PAGE = (
    '"""Returns the elements that come after a cursor."""\n    after: String\n'
    '    """Returns the first _n_ elements."""\n    first: Int = 30\n    sort: Sort = {order: DESC}'
)


def _row(index: int, name: str, other: str) -> str:
    doc = f'"""Identifies the part number {index} that the {name} has at this time."""\n  '
    shapes = (
        "text{n}: String!",
        "count{n}(since: DateTime): Int!",
        "url{n}: URI!",
        "closed{n}: Boolean!",
        "link{n}(key: String!): {other}",
        "at{n}: DateTime",
    )
    return doc + shapes[index % len(shapes)].format(n=index, other=other)


def _roots(kinds: int) -> Iterator[str]:
    names = [kind(number) for number in range(kinds)]
    yield "type Query {\n  node(id: ID!): Node"
    yield "  search(text: String!, state: State = OPEN, first: Int): Note!"
    yield from (f"  find{name}(number: Int!): {name}" for name in names)
    yield "}\ntype Mutation {"
    yield "  addComment(subjectId: ID!, body: String!, others: [ID!]): AddCommentPayload"
    yield "  moveCard(input: MoveInput!): AddCommentPayload"
    yield from (f"  close{name}(input: Close{name}Input!): Close{name}Payload" for name in names)
    yield "}\ntype AddCommentPayload { ok: Boolean!, clientMutationId: String }"
    yield "input MoveInput { cardId: ID!, columnId: ID, anything: HTML, note: String }"
    for name in names:
        yield f"input Close{name}Input {{ id: ID!, reason: String, clientMutationId: String }}"
        yield f"type Close{name}Payload {{ clientMutationId: String, item: {name} }}"
