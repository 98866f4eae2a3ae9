"""A first-order timing model: what a launch's warps did, replayed in cycles of a GPU."""

from .schedule import Recording, Schedule

__all__ = ["Recording", "Schedule"]
