"""Anthropic's models, spoken to through their own SDK.

* abilities  what each model can do: data, with its source
* declared   which tools go with a request, by the strategy that the model supports (pure)
* binding    which thinking still stands where it was said (pure)
* wire       a Request as the body that the API takes (pure)
* stream     the API's stream of events as a Reply (pure)
* ending     how a reply ended, and what a person is told of it (pure)
* client     the call itself, and what went wrong; the only file that imports `anthropic`
"""

from .client import Claude

__all__ = ["Claude"]
