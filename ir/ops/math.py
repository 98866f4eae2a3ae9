"""`math`: what scalars, vectors and tensors have alike."""

from __future__ import annotations

from .shapes import ternary

fma = ternary("math.fma")
