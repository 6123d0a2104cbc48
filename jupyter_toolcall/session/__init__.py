"""The session that a program holds: what can be read of it, and what can be done with it."""

from .session import Session as Session
