"""A small MCP server, for lesson 12: a library with three books."""

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequiredResult,
    ResourceLink,
)
from pydantic import BaseModel

server = MCPServer("library", instructions="Finds and reserves books of a small library.")
BOOKS = {
    1: (
        "A short history of tea",
        "Tea came to Europe in ships. It was costly, and locked away.",
    ),
    2: ("Gardens of the north", "The summer is short there, and the days are long."),
    3: ("Tea gardens", "Three leaves and a bud: so the best tea is picked."),
}


class Book(BaseModel):
    number: int
    title: str


BRANCH = {
    "type": "object",
    "properties": {"branch": {"type": "string", "enum": ["Centre", "Harbour"]}},
    "required": ["branch"],
}


@server.tool()
def search_books(word: str) -> list[Book]:
    """Find books by a word of their title."""
    titles = {number: title for number, (title, _) in BOOKS.items()}
    return [Book(number=n, title=t) for n, t in titles.items() if word.lower() in t.lower()]


@server.resource("library://books/{number}", mime_type="text/plain")
def book_text(number: int) -> str:
    return BOOKS[number][1]


@server.tool()
def open_book(number: int) -> CallToolResult:
    """Return a link to the text of a book."""
    title, uri = BOOKS[number][0], f"library://books/{number}"
    return CallToolResult(content=[ResourceLink(uri=uri, name=title)])


@server.tool()
def reserve_book(number: int, context: Context) -> str | InputRequiredResult:
    """Reserve a book. The library asks the reader where to fetch it."""
    title, response = BOOKS[number][0], (context.input_responses or {}).get("branch")
    if not isinstance(response, ElicitResult):
        message = f"Where do you want to fetch {title!r}?"
        form = ElicitRequestFormParams(message=message, requested_schema=BRANCH)
        return InputRequiredResult(input_requests={"branch": ElicitRequest(params=form)})
    if response.content is None:
        return f"{title!r} is not reserved."
    return f"{title!r} is reserved at {response.content['branch']}."


@server.prompt()
def recommend(subject: str) -> str:
    """Ask for a book about a subject."""
    return f"Recommend one book about {subject}, and say in a sentence why."


if __name__ == "__main__":
    server.run()
