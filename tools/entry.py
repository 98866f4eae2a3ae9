"""Where the commands begin: what they import, which takes its time, may be interrupted, too."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from tilec.ending import end_on_signals

from .import_errors import no_room


def _begin(tool: str) -> None:
    end_on_signals()
    try:
        import_module(f"tilec.tools.{tool}").command()
    except Exception as error:
        said = no_room(error)
        if said is None or os.environ.get("TILEC_TRACEBACK"):
            raise
        sys.exit(f"error: {said}")


def tile_isa() -> None:
    """The command `tile-isa`."""
    _begin("tile_isa")


def tile_layout() -> None:
    """The command `tile-layout`."""
    _begin("tile_layout")


def tile_lsp_server() -> None:
    """The command `tile-lsp-server`."""
    _begin("tile_lsp_server")


def tile_new_pass() -> None:
    """The command `tile-new-pass`."""
    _begin("tile_new_pass")


def tile_opt() -> None:
    """The command `tile-opt`."""
    _begin("tile_opt")


def tile_reduce() -> None:
    """The command `tile-reduce`."""
    _begin("tile_reduce")


def tile_run() -> None:
    """The command `tile-run`."""
    _begin("tile_run")


def tile_translate() -> None:
    """The command `tile-translate`."""
    _begin("tile_translate")


def tile_tune() -> None:
    """The command `tile-tune`."""
    _begin("tile_tune")


def tilec() -> None:
    """The command `tilec`."""
    _begin("tilec")


def update_tile_test_checks() -> None:
    """The command `update-tile-test-checks`."""
    _begin("update_tile_test_checks")
