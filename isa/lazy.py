"""`cached_property` without a lock, as Python has it from 3.12 on.

That of 3.11 locks a property of all objects of a class while one of them works it out: threads
wait for each other's compilations, and the child of a fork for one that ended with its parent.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING

__all__ = ["cached_property"]

if sys.version_info < (3, 12) and not TYPE_CHECKING:
    _functools = cached_property

    class cached_property(_functools):  # noqa: N801 (its name)
        """A property that is worked out once for each object."""

        def __get__(self, instance: object, owner: type | None = None) -> object:
            """The value, which stands in the object's `__dict__` from then on."""
            if instance is None:
                return self
            values = vars(instance)
            if self.attrname not in values:
                values[self.attrname] = self.func(instance)
            return values[self.attrname]
