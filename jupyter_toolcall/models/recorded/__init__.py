"""Recordings: requests and replies of a model, kept in a file and replayed from it.

* tape            what a recording is: turns as lines of JSON without secrets, and their file
* difference      the first difference between a request and the recorded one (pure)
* recorded_model  a model that replays a recording, and one that records another model
"""

from .recorded_model import Recorded, Recording, StandIn

__all__ = ["Recorded", "Recording", "StandIn"]
