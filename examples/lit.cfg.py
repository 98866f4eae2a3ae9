"""The examples' RUN lines, run by lit with the configuration of test/lit."""

# `config` and `lit_config` are lit's.
# ruff: noqa: F821
# mypy: ignore-errors

from pathlib import Path

HERE = Path(__file__).resolve().parent
lit_config.load_config(config, str(HERE.parent / "test" / "lit" / "lit.cfg.py"))
config.name = "tilec-examples"
config.suffixes = [".mlir"]
config.test_source_root = str(HERE)
