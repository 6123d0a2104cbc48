"""How tools are presented to a model: the schemes `select`, `current`, `flat` and `native`.

A scheme is a few pure functions: what is offered, how a reply is read, how defaults are filled in,
how results are rendered. A new one is a file beside this one, and a row of `SCHEMES` in
`native.py`. The package also composes the request of the next turn from a branch. It sends
nothing (`models`) and decides nothing (`engine`).
"""

from .current import Current
from .native import NAMED, SCHEMES, Native, is_scheme, scheme_named, scheme_recorded
from .scheme import Flat, Offer, Scheme
from .select import Select

__all__ = [
    "NAMED",
    "SCHEMES",
    "Current",
    "Flat",
    "Native",
    "Offer",
    "Scheme",
    "Select",
    "is_scheme",
    "scheme_named",
    "scheme_recorded",
]
