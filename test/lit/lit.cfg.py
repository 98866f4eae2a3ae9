"""Configuration of lit: that which `tilec.testing` gives other packages, too."""

# `config` and `lit_config` are lit's.
# ruff: noqa: F821
# mypy: ignore-errors

import importlib.util
from pathlib import Path

repository = Path(__file__).resolve().parents[2]

# By its file: CMake's lit.site.cfg.py says which Python has tilec, and lit may run in another.
spec = importlib.util.spec_from_file_location(
    "tile_lit_config", repository / "compiler" / "testing" / "lit_config.py"
)
tile = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tile)
tile.configure(
    config,
    lit_config,
    name="tilec",
    root=__file__,
    substitutions={"%examples": str(repository / "examples")},
)
