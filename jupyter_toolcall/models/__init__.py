"""Models: everything between a request and a reply. A new one is a file here."""

from ..events import Call, Usage
from ..request import Assistant, Message, Model, Reply, Request, Result, Results, User
from .recorded import Recorded, Recording
from .scripted import Scripted

__all__ = [
    "Assistant",
    "Call",
    "Message",
    "Model",
    "Recorded",
    "Recording",
    "Reply",
    "Request",
    "Result",
    "Results",
    "Scripted",
    "Usage",
    "User",
]
