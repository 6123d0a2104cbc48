"""Recordings: what a model was told and what it said, kept in a file, and said again.

* tape       what a recording is: turns as lines of JSON, read and written (pure)
* redacting  what never reaches a recording: secrets, and what looks like a key (pure)
* differing  the first difference of what a model is told and what was recorded (pure)
* file       the file of a recording: read, made, and grown by a line
* recording  a model that has another one answer, and writes each turn down
* replaying  a model that says what was recorded
"""

from .recording import Recording
from .replaying import Recorded, StandIn

__all__ = ["Recorded", "Recording", "StandIn"]
