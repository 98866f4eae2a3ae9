"""`builtin`: casts that a later conversion resolves."""

from __future__ import annotations

from .shapes import cast

unrealized_conversion_cast = cast("builtin.unrealized_conversion_cast")
