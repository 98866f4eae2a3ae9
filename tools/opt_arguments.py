"""The arguments of `tile-opt`: mlir-opt's, by the same names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .common import Parser
from .llvm_flags import split_flags
from .pass_flags import add_pass_flags

if TYPE_CHECKING:
    from tilec.report.printing import Style

MARKER = "// -----"
"""What parts a file that is split."""


class OptParser(Parser):
    """Takes flags as LLVM's tools do, and those that it does not know for passes."""

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse does, with `passes`, and in `denied` the switches that are false."""
        flags = split_flags(self, sys.argv[1:] if args is None else args)
        found, _ = super().parse_known_args(flags.known, namespace)
        found.passes, found.denied = flags.passes, flags.denied
        return found, []


def add_input_flags(parser: argparse.ArgumentParser) -> None:
    """Add what is read, how it is parted, and how its diagnostics are checked."""
    parser.add_argument(
        "input", nargs="?", default="-", help="an .mlir file, text or bytecode; - is the default"
    )
    parser.add_argument("-o", dest="output", default="-", metavar="FILE", help="default: stdout")
    parser.add_argument(
        "--split-input-file",
        nargs="?",
        const=MARKER,
        metavar="MARK",
        help=f"split the input at lines of MARK, by default '{MARKER}', and process each part",
    )
    parser.add_argument(
        "--output-split-marker",
        default=MARKER,
        metavar="MARK",
        help="separator between the outputs of the parts",
    )
    parser.add_argument(
        "--verify-diagnostics",
        nargs="?",
        const="all",
        choices=("all", "only-expected"),
        help="check the diagnostics against '// expected-error {{…}}' comments",
    )
    parser.add_argument(
        "--allow-unregistered-dialect",
        action="store_true",
        help="accept operations of unregistered dialects",
    )


def add_opt_flags(made: argparse.ArgumentParser) -> None:
    """Add all flags of `tile-opt`."""
    add_input_flags(made)
    made.add_argument(
        "--no-implicit-module",
        action="store_true",
        help="do not wrap the input in a module; it must be one operation",
    )
    made.add_argument(
        "-p", "--pass-pipeline", metavar="TEXT", help="the passes, such as 'builtin.module(cse)'"
    )
    made.add_argument(
        "--dump-pass-pipeline", action="store_true", help="print the pipeline to stderr"
    )
    made.add_argument(
        "--verify-roundtrip",
        action="store_true",
        help="check that the input survives printing and bytecode unchanged",
    )
    made.add_argument("--emit-bytecode", action="store_true", help="write bytecode, not text")
    made.add_argument(
        "--emit-bytecode-version", type=int, metavar="N", help="write bytecode of version N"
    )
    made.add_argument("--list-passes", action="store_true", help="list tilec's passes and options")
    made.add_argument("--show-dialects", action="store_true", help="list the dialects")
    made.add_argument(
        "--run-reproducer", action="store_true", help="run the pipeline that the input carries"
    )
    made.add_argument(
        "--mlir-pass-statistics",
        action="store_true",
        help="print the statistics of upstream's passes",
    )
    made.add_argument(
        "--mlir-disable-threading",
        action="store_true",
        help="accepted and ignored: tile-opt always uses one thread",
    )
    add_pass_flags(made)
    _add_printing_flags(made)


def _add_printing_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("printed IR")
    switches = {
        "--mlir-print-debuginfo": "print locations",
        "--mlir-pretty-debuginfo": "print locations in a readable form that cannot be parsed again",
        "--mlir-print-op-generic": "print every operation in the generic form",
        "--print-tile-op-generic": "print tilec's operations in the generic form, which mlir-opt "
        "reads with the output of tilec --emit-irdl as its --irdl-file",
        "--mlir-print-local-scope": "print every operation in full, without aliases",
        "--mlir-use-nameloc-as-prefix": "name values after their locations",
        "--mlir-print-assume-verified": "print without verifying first",
        "--mlir-print-skip-regions": "do not print regions",
    }
    for name, text in switches.items():
        group.add_argument(name, action="store_true", help=text)
    group.add_argument(
        "--mlir-elide-elementsattrs-if-larger",
        type=int,
        metavar="N",
        help="do not print the elements of constants with more than N",
    )
    group.add_argument(
        "--mlir-elide-resource-strings-if-larger",
        type=int,
        metavar="N",
        help="do not print resources whose text is longer than N",
    )


def style(arguments: argparse.Namespace, file: str) -> Style:
    """How the flags say that IR is printed.

    Args:
        arguments: the flags.
        file: what locations call the input.
    """
    from tilec.report.printing import Style  # noqa: PLC0415

    return Style(
        locations=arguments.mlir_print_debuginfo,
        file=file if arguments.mlir_print_debuginfo else "",
        pretty_locations=arguments.mlir_pretty_debuginfo,
        generic=arguments.mlir_print_op_generic,
        own_generic=arguments.print_tile_op_generic,
        local_scope=arguments.mlir_print_local_scope,
        elements_limit=arguments.mlir_elide_elementsattrs_if_larger,
        resource_limit=arguments.mlir_elide_resource_strings_if_larger,
        name_prefix=arguments.mlir_use_nameloc_as_prefix,
        assume_verified=arguments.mlir_print_assume_verified,
        skip_regions=arguments.mlir_print_skip_regions,
    )
