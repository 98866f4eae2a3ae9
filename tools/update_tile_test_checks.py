"""`update-tile-test-checks`: write the CHECK lines of lit tests from what their commands print.

Of each RUN line `tile-opt … %s … | FileCheck %s` the command before FileCheck is run, and what it
prints of each function goes in front of the function, values named by variables. Lines with its
prefix are replaced, others kept.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple, NoReturn

from tilec.isa import TilecError
from tilec.testing.lit_config import TOOLS

from .common import Parser, hurry, leave, run
from .files import read_input, write_outputs

NOTE = "// NOTE: CHECK lines written by update-tile-test-checks: what is, not what is meant"
_RUN = re.compile(r"^\s*// RUN:\s*(.*)$")
_FUNCTION = re.compile(r"^\s*(?:gpu|func|llvm)\.func .*?@([\w$.-]+)")
_VALUE = re.compile(r"%([A-Za-z0-9_$.-]+)")


class Check(NamedTuple):
    """A RUN line.

    Attributes:
        command: what FileCheck reads the output of.
        prefix: of its lines.
    """

    command: str
    prefix: str


def checks(text: str) -> Iterator[Check]:
    """The RUN lines of a test whose output FileCheck reads.

    Raises:
        TilecError: for one with several prefixes, which this cannot write.
    """
    pending = ""
    for line in text.split("\n"):
        found = _RUN.match(line)
        if found is None:
            continue
        pending += found[1]
        if pending.endswith("\\"):
            pending = pending[:-1] + " "
            continue
        command, bar, filecheck = pending.rpartition("|")
        pending = ""
        if not bar or not filecheck.strip().startswith("FileCheck"):
            continue
        prefix = re.search(r"--?check-prefix(?:es)?[= ](\S+)", filecheck)
        name = prefix[1] if prefix else "CHECK"
        if "," in name:
            raise TilecError(f"cannot assign lines to several prefixes: {name}")
        yield Check(command.strip(), name)


def output_of(check: Check, path: str) -> str:
    """What a command prints.

    Raises:
        TilecError: if it fails.
    """
    command = check.command.replace("%s", shlex.quote(path))
    for tool in TOOLS:
        python = f"{shlex.quote(sys.executable)} -m tilec.tools.{tool.replace('-', '_')}"
        command = re.sub(rf"(?<![\w./-]){tool}(?![\w./-])", python.replace("\\", r"\\"), command)
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise TilecError(f"'{check.command}' fails: {done.stderr.strip().splitlines()[:1]}")
    return done.stdout


def functions(output: str) -> dict[str, list[str]]:
    """The lines of each function of a printed module, by name."""
    found: dict[str, list[str]] = {}
    lines = iter(output.split("\n"))
    for line in lines:
        function = _FUNCTION.match(line)
        if function is None:
            continue
        taken = found[function[1]] = [line]
        indent = line[: len(line) - len(line.lstrip())]
        if line.rstrip().endswith("{"):
            for inner in lines:
                taken.append(inner)
                if inner == f"{indent}}}":
                    break
    return found


def written(lines: Sequence[str], prefix: str) -> list[str]:
    """The CHECK lines of a function; a value has a variable, named as it is."""
    known: set[str] = set()

    def variable(match: re.Match[str]) -> str:
        name = re.sub(r"\W", "_", match[1]).upper()
        name = f"V{name}" if name[0].isdigit() else name
        if name in known:
            return f"%[[{name}]]"
        known.add(name)
        return f"%[[{name}:[A-Za-z0-9_]+]]"

    found = []
    for at, line in enumerate(lines):
        plain = line.strip().replace("[[", "{{\\[\\[}}")
        shown = _VALUE.sub(variable, plain)
        if at == 0:
            head, parenthesis, rest = shown.partition("(")
            found.append(f"// {prefix}-LABEL: {head}{parenthesis}")
            found.append(f"// {prefix}-SAME: {rest}")
        elif plain:
            found.append(f"// {prefix}-NEXT: {shown}")
    return found


def updated(text: str, path: str) -> str:
    """A test with its CHECK lines written anew.

    Raises:
        TilecError: if it has no RUN line that this understands, or a command of one fails.
    """
    of_test = list(checks(text))
    if not of_test:
        raise TilecError(f"{path} has no RUN line whose output FileCheck reads")
    prefixes = "|".join(re.escape(one.prefix) for one in of_test)
    old = re.compile(
        rf"^\s*// (?:{prefixes})(?:-(?:LABEL|SAME|NEXT|NOT|DAG|EMPTY|COUNT-\d+))?:.*\n", re.M
    )
    kept = old.sub("", text).replace(f"{NOTE}\n", "")
    new = {one.prefix: functions(output_of(one, path)) for one in of_test}
    lines: list[str] = []
    placed: set[str] = set()
    for line in kept.split("\n"):
        function = _FUNCTION.match(line)
        if function and function[1] not in placed:
            placed.add(function[1])
            indent = line[: len(line) - len(line.lstrip())]
            for prefix, of_prefix in new.items():
                if function[1] in of_prefix:
                    lines += [f"{indent}{one}" for one in written(of_prefix[function[1]], prefix)]
        lines.append(line)
    return "\n".join([NOTE, *lines])


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser("update-tile-test-checks", __doc__ or "")
    made.add_argument("tests", nargs="+", metavar="TEST", help="lit tests to update in place")
    return made


def _main(arguments: argparse.Namespace) -> int:
    write_outputs({path: updated(read_input(path), path) for path in arguments.tests})
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run `update-tile-test-checks`; returns its exit code."""
    return run(parser(), _main, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    hurry()
    leave(main())


if __name__ == "__main__":
    command()
