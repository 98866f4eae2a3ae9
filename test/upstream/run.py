"""Runs upstream's tests of mlir-opt with tile-opt, beside the real mlir-opt where there is one.

    python test/upstream/run.py LLVM/mlir/test [--mlir-opt mlir-opt-22] [--filecheck FileCheck-22]

The tests are those of the folders Conversion, Dialect, IR, Pass and Transforms that need mlir-opt,
FileCheck and not alone, and nothing of upstream's test libraries (`selection.py`); where there is a
real mlir-opt of the tests' own version, those that it passes. `set_aside.json` names those that
show a difference between that version of MLIR and the bindings', and says which; the last table
is of those of the others that no RUN line splits. The file is written
by --set-aside-by, given a real mlir-opt that is as new as the bindings: what it fails as well as
tile-opt. Look through what was added: a fault of tile-opt's may hide behind a change of upstream's.

Exit code 1 if fewer than --least percent of the others pass with tile-opt.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from difference import difference
from lit_run import Result, run_tests
from selection import is_whole, select

SET_ASIDE = Path(__file__).with_name("set_aside.json")


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("checkout", type=Path, help="upstream's mlir/test")
    made.add_argument("--mlir-opt", metavar="PATH", help="of the version of the tests")
    made.add_argument(
        "--tile-opt", metavar="COMMAND", default=f"{sys.executable} -m tilec.tools.tile_opt"
    )
    made.add_argument("--filecheck", metavar="PATH", default=shutil.which("FileCheck"))
    made.add_argument("--set-aside-by", metavar="PATH", help="an mlir-opt as new as the bindings")
    made.add_argument("--filter", type=re.compile, metavar="REGEX", help="only tests so named")
    made.add_argument("--least", type=float, default=95, metavar="PERCENT")
    made.add_argument("-j", type=int, default=2, dest="jobs")
    made.add_argument("-v", action="store_true", dest="verbose", help="say how tests fail")
    return made


def table(tests: Iterable[str], columns: Mapping[str, Mapping[str, Result]]) -> Iterator[str]:
    """Lines with how many tests of each folder pass, a column a program."""
    folders: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        folders[test.partition("/")[0]].append(test)
        folders["all"].append(test)
    yield f"{'':12}{'tests':>7}" + "".join(f"{name:>16}" for name in columns)
    for folder in (*sorted(set(folders) - {"all"}), "all"):
        row = f"{folder:12}{len(folders[folder]):7}"
        for results in columns.values():
            passed = sum(results[test].passed for test in folders[folder])
            row += f"{passed:8}{passed / len(folders[folder]):8.1%}"
        yield row


def main(argv: Sequence[str] | None = None) -> int:
    """Run the tests; returns the exit code."""
    arguments = parser().parse_args(argv)
    if not arguments.filecheck:
        raise SystemExit("error: no FileCheck; name LLVM's with --filecheck")
    tests = [
        t
        for t in select(arguments.checkout)
        if not arguments.filter or arguments.filter.search(str(t))
    ]

    def passing(tests: Iterable[Path], mlir_opt: str) -> dict[str, Result]:
        programs = {"mlir-opt": mlir_opt, "FileCheck": arguments.filecheck}
        return run_tests(arguments.checkout, tests, programs, arguments.jobs)

    columns: dict[str, dict[str, Result]] = {}
    if arguments.mlir_opt:
        columns["mlir-opt"] = passing(tests, arguments.mlir_opt)
        tests = [test for test in tests if columns["mlir-opt"][str(test)].passed]
    columns["tile-opt"] = passing(tests, arguments.tile_opt)
    if arguments.set_aside_by:
        ours = {t: one.output for t, one in columns["tile-opt"].items() if not one.passed}
        other = passing(map(Path, ours), arguments.set_aside_by)
        found = {t: difference(text) for t, text in ours.items() if not other[t].passed}
        SET_ASIDE.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    aside = json.loads(SET_ASIDE.read_text(encoding="utf-8"))
    counted = [str(test) for test in tests if str(test) not in aside]
    print("\n".join(table(map(str, tests), columns)))
    print(f"\nWithout {len(tests) - len(counted)} that show a difference of MLIR's version:")
    print("\n".join(table(counted, columns)))
    whole = [t for t in map(str, tests) if is_whole((arguments.checkout / t).read_text("utf-8"))]
    print(f"\nOf {len(whole)} that are one module each, without {sum(t in aside for t in whole)}:")
    print("\n".join(table([test for test in whole if test not in aside], columns)))
    failed = [test for test in counted if not columns["tile-opt"][test].passed]
    for test in failed:
        print(f"fails: {test}: {difference(columns['tile-opt'][test].output)}")
        if arguments.verbose:
            print(columns["tile-opt"][test].output)
    return int(100 * (len(counted) - len(failed)) < arguments.least * len(counted))


if __name__ == "__main__":
    sys.exit(main())
