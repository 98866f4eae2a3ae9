"""The examples as a test suite of their own, set up as that of test/lit."""

# `config` and `lit_config` are lit's.
# ruff: noqa: F821
# mypy: ignore-errors

from pathlib import Path

examples = Path(__file__).resolve().parent
lit_config.load_config(config, str(examples.parent / "test" / "lit" / "lit.cfg.py"))
config.name = "tilec-examples"
config.suffixes = [".mlir"]
config.test_source_root = str(examples)
