"""Where results live: SQLite, one file, several processes, nothing tried twice."""

from .keys import StudyKey
from .outcomes import Outcome, State
from .store import Store

__all__ = ["Outcome", "State", "Store", "StudyKey"]
