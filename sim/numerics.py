"""How a launch computes with floats: see `launch`."""

NUMERICS = ("exact", "fast", "algebraic")
