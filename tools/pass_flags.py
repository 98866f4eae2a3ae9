"""The flags by which a tool shows what its passes do, named as MLIR names them."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tilec.ir.mlir import ir
    from tilec.passes.base import Diagnostic
    from tilec.passes.instrumentation import Instrumentation
    from tilec.report.diagnostics import Source
    from tilec.report.printing import Style
    from tilec.validation.validator import Validator


def add_pass_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that watch passes, such as `--validate-each` and `--remarks`."""
    group = parser.add_argument_group("passes")
    group.add_argument("--verify-each", action="store_true", help="verify after each pass")
    group.add_argument(
        *("--validate-each", "--validate"),
        action="store_true",
        help="interpret the kernels before and after each pass, and compare the results",
    )
    group.add_argument("--mlir-timing", action="store_true", help="print the time of each stage")
    for when in ("before", "after"):
        group.add_argument(
            f"--mlir-print-ir-{when}",
            metavar="PASS,…",
            help=f"print the IR {when} these passes",
        )
        group.add_argument(
            f"--mlir-print-ir-{when}-all",
            action="store_true",
            help=f"print the IR {when} each pass",
        )
    group.add_argument(
        "--mlir-print-ir-after-change",
        action="store_true",
        help="print the IR after a pass only if the pass changed it",
    )
    group.add_argument(
        "--mlir-print-ir-after-failure",
        action="store_true",
        help="print the IR after a pass that fails",
    )
    group.add_argument(
        "--mlir-print-ir-module-scope",
        action="store_true",
        help="print the whole module even if a pass works on an op inside it",
    )
    group.add_argument(
        "--mlir-print-ir-tree-dir",
        metavar="DIR",
        help="print to files in DIR, with a folder for each op",
    )
    group.add_argument(
        "--mlir-pass-pipeline-crash-reproducer",
        metavar="FILE",
        help="write the module and the pipeline to FILE when a pass fails or crashes",
    )
    group = parser.add_argument_group("remarks")
    group.add_argument(
        "--remarks", action="store_true", help="explain what the passes decide, and why"
    )
    group.add_argument(
        "--remarks-filter",
        type=_pattern,
        metavar="REGEX",
        help="explain only passes whose names match",
    )
    group.add_argument(
        "--remarks-output",
        metavar="FILE",
        help="write the explanations to FILE, as YAML in the format of LLVM's remarks",
    )


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"not a regular expression: {error}") from None
    return text


def wants_remarks(arguments: argparse.Namespace) -> bool:
    """Whether the flags ask for the passes' decisions."""
    return bool(arguments.remarks or arguments.remarks_filter or arguments.remarks_output)


def shown_remarks(found: Sequence[Diagnostic], arguments: argparse.Namespace) -> list[Diagnostic]:
    """The remarks that the terminal is to show.

    Args:
        found: all.
        arguments: what the flags say.
    """
    from tilec.report.selection import chosen  # noqa: PLC0415

    asked = arguments.remarks or (arguments.remarks_filter and not arguments.remarks_output)
    return chosen(found, (arguments.remarks_filter or "") if asked else None)


def written_remarks(
    found: Iterable[tuple[Sequence[Diagnostic], Source]], arguments: argparse.Namespace
) -> dict[str, str]:
    """What is to be written, by file: the remarks for `--remarks-output`, if it is given.

    Args:
        found: all remarks, and the programs that they speak of.
        arguments: what the flags say.
    """
    if not arguments.remarks_output:
        return {}
    from tilec.report.remarks import chosen, to_yaml  # noqa: PLC0415

    wanted = arguments.remarks_filter or ""
    text = "".join(to_yaml(chosen(remarks, wanted), source) for remarks, source in found)
    return {arguments.remarks_output: text}


def _show(style: Style, root: ir.Module | ir.Operation) -> str:
    """The text of a module, or of an op that stands in one."""
    from tilec.report.printing import print_as  # noqa: PLC0415

    op = root.operation
    inside = op.attached and op.parent is not None
    return print_as(root, style._replace(local_scope=True) if inside else style)


def asked_validator(arguments: argparse.Namespace) -> Validator | None:
    """What compares kernels before and after each pass, if the flags ask for it."""
    if not arguments.validate_each:
        return None
    from tilec.validation.validator import Validator  # noqa: PLC0415

    return Validator()


@contextmanager
def instrumented(
    arguments: argparse.Namespace, style: Style | None = None, validator: Validator | None = None
) -> Iterator[Instrumentation | None]:
    """What the flags ask to watch; None if nothing. The times are reported at the end.

    Args:
        arguments: the flags.
        style: how IR is printed.
        validator: compares kernels before and after each pass, if anybody does.
    """
    watching = (
        arguments.mlir_timing
        or validator is not None
        or any(value for name, value in vars(arguments).items() if name.startswith("mlir_print_ir"))
    )
    if not watching:
        yield None
        return
    from tilec.passes.instrumentation import Instrumentation, Selection, time_report  # noqa: PLC0415
    from tilec.report.printing import Style  # noqa: PLC0415

    def selection(names: str | None, *, every: bool) -> Selection:
        return Selection(every, frozenset(filter(None, (names or "").split(","))))

    change = arguments.mlir_print_ir_after_change
    watched = Instrumentation(
        before=selection(arguments.mlir_print_ir_before, every=arguments.mlir_print_ir_before_all),
        after=selection(
            arguments.mlir_print_ir_after,
            every=arguments.mlir_print_ir_after_all
            or (change and not arguments.mlir_print_ir_after),
        ),
        after_change=change,
        after_failure=arguments.mlir_print_ir_after_failure,
        by_op=True,
        module_scope=arguments.mlir_print_ir_module_scope,
        show=partial(_show, style or Style()),
        folder=Path(tree) if (tree := arguments.mlir_print_ir_tree_dir) else None,
    )
    if validator is not None:
        watched.watchers = (validator.around,)
    try:
        yield watched
    finally:
        if validator is not None:
            sys.stderr.write(validator.report())
        if arguments.mlir_timing:
            sys.stderr.write(time_report(watched.times))
