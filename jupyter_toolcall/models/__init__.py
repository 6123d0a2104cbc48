"""Who answers a request: providers, recordings, scripts, or a person.

It holds `Request` and `Reply`, one client for each provider, retries and prices. A model is a
function from a request to a reply, and keeps no session. It knows neither journals nor schemes.
"""

from ..core.events import Call, Usage
from ..schemes.messages import Assistant, Message, Model, Reply, Request, Result, Results, User
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
