"""Results of MCP tools as values: JSON, texts, resources, images and audio."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import CallError
from ..tools.plain_data import cut
from ..tools.value_text import StandsForText
from .mcp_connection import connection_by_name
from .mcp_sdk import UNREAD

Json = Mapping[str, Any]
MODEL_TEXT = 4_000
"""Characters that a model reads at once of a text inside a result."""
_READ_CONTENTS: dict[tuple[str, str], tuple[Json, ...]] = {}
"""The contents of linked resources that were read, by server and URI: an object never changes."""


@dataclass(frozen=True)
class McpResource(StandsForText):
    """A resource of an MCP server: its contents, or a link that is read when they are needed.

    Its text stands for it wherever a tool takes a text.
    """

    uri: str
    name: str = ""
    description: str = ""
    mime_type: str = ""
    contents: tuple[Json, ...] | None = None
    """The contents in the result; None for a link."""
    server: str = field(default="", repr=False)
    """The name of the server that a link is read from."""

    def read(self) -> tuple[Json, ...]:
        """Return the contents as the server sends them; a link is read once.

        Raises CallError where the server is not connected, or has no such resource.
        """
        if self.contents is not None:
            return self.contents
        key = self.server, self.uri
        if key not in _READ_CONTENTS:
            try:
                _READ_CONTENTS[key] = tuple(connection_by_name(self.server).read(self.uri))
            except CallError as error:
                raise CallError(f"{self.uri} cannot be read: {error}") from None
        return _READ_CONTENTS[key]

    def text(self) -> str:
        """Return the text of the contents; binary contents are base64. Raises CallError."""
        return "\n".join(map(_part_text, self.read()))

    def text_label(self) -> str:
        """Return a short label for the text, without reading it."""
        return f"text of {self.uri}"

    def preview_value(self) -> object:
        """Return what a preview shows: the contents, as an image or a text."""
        parts = self.read()
        images = [part for part in parts if str(part.get("mimeType", "")).startswith("image/")]
        if len(parts) == 1 and images and "blob" in images[0]:
            return McpImage(images[0]["mimeType"], images[0]["blob"])
        return self.text()

    def __str__(self) -> str:
        return self.name or self.uri


@dataclass(frozen=True, repr=False)
class _Media:
    """What a tool returned as bytes; `data` is base64."""

    mime_type: str
    data: str

    def __repr__(self) -> str:
        return f"{self.mime_type}, {len(self.data) * 3 // 4:,} bytes"


class McpImage(_Media):
    """An image that a tool returned; `data` is base64."""

    def _repr_mimebundle_(self, **options: object) -> dict[str, Any]:
        return {self.mime_type: self.data} if self.mime_type in _SHOWN_IMAGES else {}


_SHOWN_IMAGES = ("image/png", "image/jpeg")


class McpAudio(_Media):
    """A sound that a tool returned; `data` is base64."""

    def _repr_html_(self) -> str:
        source = f"data:{self.mime_type};base64,{self.data}"
        return f'<audio controls src="{html.escape(source)}"></audio>'


TYPES = (McpResource, McpImage, McpAudio)


def result_value(result: Json, tool: str, server: str) -> object:
    """Return a `CallToolResult` as a value.

    Structured content is data. Without it, one block is its value and several blocks are a list.
    Images, sounds and resources are objects; a resource is in a record with its description and
    the beginning of its text.

    Raises:
        CallError: for a result that says that the tool failed.
    """
    blocks: Sequence[Json] = result.get("content", [])
    if result.get("isError"):
        raise CallError(_texts(blocks) or f"{tool} failed, and does not say why")
    # The texts beside structured content are that content once more.
    beside = (b for b in blocks if b.get("type") != "text" or UNREAD in b.get("_meta", {}))
    objects = [_block(block, server) for block in beside]
    if "structuredContent" in result:
        data = _unwrap_result(result["structuredContent"], blocks)
        return {"result": data, "content": objects} if objects else data
    values = [_block(block, server) for block in blocks]
    return values[0] if len(values) == 1 else values or None


def _unwrap_result(data: Any, blocks: Sequence[Json]) -> object:
    """Return the value inside `{"result": ...}`.

    Until 2025 structured content had to be an object, so SDKs wrap other values in one. The text
    beside it has the value alone, which tells a wrapper from a record with a field `result`.
    """
    wrapped = isinstance(data, dict) and [*data] == ["result"]
    return data["result"] if wrapped and '"result"' not in _texts(blocks) else data


def _texts(blocks: Iterable[Json]) -> str:
    return "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text")


def _block(block: Json, server: str) -> object:
    """Return a block of content as a value."""
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image", "mimeType": str(mime), "data": str(data)} if _is_base64(data):
            return McpImage(mime, data)
        case {"type": "audio", "mimeType": str(mime), "data": str(data)} if _is_base64(data):
            return McpAudio(mime, data)
        case {"type": "resource_link", "uri": str(uri)}:
            return _resource_record(_resource(block, uri, None, server))
        case {"type": "resource", "resource": {"uri": str(uri)} as resource}:
            return _resource_record(_resource(resource, uri, (resource,), server))
    return dict(block)


def _resource_record(resource: McpResource) -> dict[str, Any]:
    """Return a record with a resource, its description and the beginning of its text."""
    record: dict[str, Any] = {"resource": resource, "uri": resource.uri}
    record |= {
        key: text
        for key in ("name", "description", "mime_type")
        if (text := getattr(resource, key))
    }
    parts = resource.contents or ()
    if text := "\n".join(str(part["text"]) for part in parts if "text" in part):
        record["text"] = cut(text, MODEL_TEXT)
    return record


def _resource(part: Json, uri: str, contents: tuple[Json, ...] | None, server: str) -> McpResource:
    name = str(part.get("title") or part.get("name") or "")
    description, mime_type = str(part.get("description", "")), str(part.get("mimeType", ""))
    return McpResource(uri, name, description, mime_type, contents, server)


RESOURCE = McpResource.__name__


def restored_resource(record: object, server: str) -> McpResource | None:
    """Return the resource that a recorded result describes.

    None where the record is no resource, or has only the beginning of its text.
    """
    match record:
        case {"uri": str(uri), **fields}:
            text = fields.get("text")
            if isinstance(text, str) and len(text) > MODEL_TEXT:
                return None
            mime_type = str(fields.get("mime_type", ""))
            content = {"uri": uri, "mimeType": mime_type, "text": text}
            contents = None if text is None else ({k: v for k, v in content.items() if v},)
            name, description = str(fields.get("name", "")), str(fields.get("description", ""))
            return McpResource(uri, name, description, mime_type, contents, server)
    return None


def _part_text(part: Json) -> str:
    blob = str(part.get("blob", ""))
    if blob and str(part.get("mimeType", "")).startswith("text/") and _is_base64(blob):
        return base64.b64decode(blob).decode("utf-8", "replace")
    return str(part.get("text", blob))


def _is_base64(data: str) -> bool:
    try:
        base64.b64decode(data, validate=True)
    except ValueError:
        return False
    return True
