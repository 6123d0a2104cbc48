"""Recordings of a model, and what replays them."""

from .recorded_model import Recorded, Recording, StandIn

__all__ = ["Recorded", "Recording", "StandIn"]
