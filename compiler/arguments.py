"""Arguments as a launch passes them, for code out of tree: `from tilec.arguments import passed`."""

from __future__ import annotations

from tilec.launch.arguments import passed

__all__ = ["passed"]
