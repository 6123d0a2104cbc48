"""Anthropic's models, called through their own SDK.

* abilities  what each model can do: data, with its source
* wire       a Request as the body that the API takes: messages, tools, thinking (pure)
* stream     the API's stream of events as a Reply, and how it ended (pure)
* client     the call itself, and what went wrong; the only file that imports `anthropic`
"""

from .client import Claude

__all__ = ["Claude"]
