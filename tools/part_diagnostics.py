"""What is said of a part of an input: what was reported, or what of it was not expected."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .colours import say

if TYPE_CHECKING:
    from tilec.passes.base import Diagnostic
    from tilec.report.diagnostics import Source


def tell(
    found: Sequence[Diagnostic], source: Source, arguments: argparse.Namespace, *, failed: bool
) -> bool:
    """Print what is to be said, and return whether all is well.

    Args:
        found: what was reported.
        source: the part.
        arguments: the flags, with `--verify-diagnostics`: all is well then if all was expected.
        failed: whether the part was refused.

    Raises:
        TilecError: for an expectation that cannot be read.
    """
    if arguments.verify_diagnostics:
        from .verify_diagnostics import mismatches  # noqa: PLC0415

        only_expected = arguments.verify_diagnostics == "only-expected"
        wrong = list(mismatches(found, source, only_expected=only_expected))
        sys.stderr.writelines(f"{line}\n" for line in wrong)
        return not wrong
    from tilec.report.diagnostics import render  # noqa: PLC0415

    say(render(found, source))
    return not failed
