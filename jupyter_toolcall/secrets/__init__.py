"""Secrets of the environment: recognised, replaced by markers, and put back where they are needed.

* recognition  which variables hold secrets, and which part of a value is the secret (pure)
* markers      `{secret:NAME}` in place of a value, and the value in place of its marker
"""

from .markers import HIDDEN, Hide, Keys, MissingSecret, Secrets, hiding, marker_keys
from .recognition import LEAST, is_named_secret, secret_values

__all__ = [
    "HIDDEN",
    "LEAST",
    "Hide",
    "Keys",
    "MissingSecret",
    "Secrets",
    "hiding",
    "is_named_secret",
    "marker_keys",
    "secret_values",
]
