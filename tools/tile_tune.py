"""`tile-tune`: find the tile sizes, warps and stages that make a kernel fast, without a GPU.

`run` compiles all candidates of a kernel's search space, counts what they do, and ranks them by a
model. It does not repeat candidates whose results are in the store. `report` writes the results of
a store as a page, `export` as JSON.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from tilec.ending import end_on_signals
from tilec.isa import DEFAULT_TARGET, TilecError
from tilec.tuning import load
from tilec.tuning.cores import MANY
from tilec.tuning.errors import TuningError
from tilec.tuning.pool import PATIENCE
from tilec.tuning.problems import Problem, problem, read_problems, unique
from tilec.tuning.report import page
from tilec.tuning.store import Store
from tilec.tuning.strategies import TRIALS, Strategy
from tilec.tuning.studies import Progress, Study, tune

from .cluster_flags import add_tls_flags, tls_of
from .colours import say
from .common import Parser, leave, run
from .files import check_outputs, write_output

_EXAMPLES = """\
examples:
  tile-tune run gemm.py --target sm_80 --target sm_90a --problem m=4096,n=4096,k=4096 --jobs 2
  tile-tune run double.json --pin warps=2 --store double.sqlite --format json
  tile-tune report tune.sqlite -o tune.html
"""
_LONGEST = 200
"""Characters shown of why a candidate was refused; the page has all."""
_PERIOD = 0.2
"""Seconds between two looks at the progress."""


def _pin(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"([A-Za-z_]\w*)=(-?[0-9]{1,18})", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=NUMBER")
    return found[1], int(found[2])


def _count(text: str) -> int:
    if not re.fullmatch("[0-9]{1,4}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 to 9999")
    return int(text)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,6}", text) or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds from 1 to 999999")
    return float(text)


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser("tile-tune", __doc__ or "", epilog=_EXAMPLES)
    commands = made.add_subparsers(dest="command", required=True, metavar="run|report|export")

    def command(name: str, what: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=what, description=what)

    add = command("run", "assess all candidates and rank them").add_argument
    add(
        "input",
        help="a .py file with a kernel under @tilec.tunable, or a .json file that declares a space",
    )
    add("--kernel", metavar="NAME", help="the kernel to tune, if the file has several")
    what = f"target to compile for (may be repeated); default: {DEFAULT_TARGET}"
    add("--target", metavar="TARGET", action="append", default=[], help=what)
    what = "sizes, such as m=4096,n=4096 (may be repeated); default: those of the declaration"
    add("--problem", metavar="SIZES", action="append", default=[], help=what)
    add("--problems", metavar="FILE", help="a file with the sizes of a problem on each line")
    what = "fix a parameter to a value (may be repeated)"
    add("--pin", metavar="NAME=NUMBER", type=_pin, action="append", default=[], help=what)
    what = "the file that stores results; default: tune.sqlite"
    add("--store", metavar="FILE", default="tune.sqlite", help=what)
    what = "how candidates are chosen; default: model-first, all by the model, the best on the GPU"
    add("--strategy", choices=[*map(str, Strategy)], default=str(Strategy.MODEL_FIRST), help=what)
    what = f"candidates that --strategy optuna tries; default: {TRIALS}"
    add("--trials", metavar="N", type=_count, help=what)
    what = (
        f"processes that compile, 0 for this one; default: 0, on {MANY} cores or more, with Dask "
        "and work for them, a cluster of this machine with one for each core"
    )
    add("--jobs", metavar="N", type=_count, help=what)
    what = (
        "a Dask scheduler whose workers compile, such as tcp://127.0.0.1:8786; 'local': a new one "
        "with --jobs workers, by default one for each core"
    )
    add("--scheduler", metavar="ADDRESS", help=what)
    add_tls_flags(add)
    what = "seconds that a candidate may take in another process; default: 300"
    add("--patience", metavar="SECONDS", type=_seconds, default=PATIENCE, help=what)
    what = "let ptxas say what candidates take, and refuse those that spill"
    add("--ptxas", action="store_true", help=what)
    what = "reject candidates whose bits differ from the default's on the simulator, for SIZES"
    add("--same-bits", metavar="SIZES", help=what)
    what = "time the N best on the GPU, in turns; all, N at a time, with --strategy exhaustive"
    add("--measure", metavar="N", type=_count, default=0, help=what)
    add("--top", metavar="N", type=_count, default=5, help="how many to print; default: 5")
    add("--format", choices=("text", "json"), default="text", help="default: text")

    for name, what in (
        ("report", "write a page with the results of a store"),
        ("export", "write the results of a store as JSON"),
    ):
        add = command(name, what).add_argument
        add("store", help="the file of results")
        add("-o", dest="output", default="-", metavar="FILE", help="default: stdout")
    return made


def body(arguments: argparse.Namespace) -> int:
    """The command; returns its exit code."""
    try:
        return _run(arguments) if arguments.command == "run" else _written(arguments)
    except TuningError as error:
        if not error.place:
            raise
        say(f"{error}\n")
        return 1


def _run(arguments: argparse.Namespace) -> int:
    tunable = load(arguments.input, arguments.kernel)
    problems = _problems(arguments, tunable.sizes)
    bits = arguments.same_bits
    studies = tune(
        tunable.pinned(dict(arguments.pin)),
        targets=arguments.target or [str(DEFAULT_TARGET)],
        problems=problems,
        store=arguments.store,
        workers=arguments.jobs,
        scheduler="" if arguments.scheduler == "local" else arguments.scheduler,
        tls=tls_of(arguments),
        patience=arguments.patience,
        strategy=arguments.strategy,
        trials=arguments.trials,
        assembled=arguments.ptxas,
        same_bits=None if bits is None else problem(bits, tunable.sizes),
        measured=arguments.measure,
        progress=_Shown(),
    )
    if arguments.format == "json":
        sys.stdout.write(
            json.dumps([_json(one, arguments.top) for one in studies], indent=1) + "\n"
        )
    else:
        sys.stdout.write("\n".join(_text(one, arguments.top) for one in studies))
    if not all(one.ranked for one in studies):
        raise TilecError("all candidates were rejected")
    return 0


def _problems(arguments: argparse.Namespace, sizes: Mapping[str, int]) -> list[Problem]:
    given = [problem(text, sizes) for text in arguments.problem]
    given += read_problems(arguments.problems, sizes) if arguments.problems else []
    return unique(given)


def _json(study: Study, top: int) -> dict[str, object]:
    ranked = [one.result() for one in study.ranked[:top]]
    key = {"kernel": study.key.kernel, "sizes": study.key.sizes, "target": study.key.target}
    return {**key, "best": ranked, "ranked": len(study.ranked), "refused": dict(study.refused)}


def _text(study: Study, top: int) -> str:
    """The best, and why others were refused."""
    sizes = ", ".join(f"{name}={size}" for name, size in study.key.sizes.items())
    lines = [f"{study.key.kernel}, {sizes}, {study.key.target}: {len(study.ranked)} ranked"]
    for one in study.ranked[:top]:
        said = " ".join(f"{name}={value}" for name, value in sorted(one.candidate.items()))
        limit = one.counts["estimate"]["limit"]
        time_ = "" if one.measured is None else f"{one.measured['median'] * 1e6:.1f} µs measured, "
        lines.append(f"  {time_}{(one.cost or 0) * 1e6:10.1f} µs by the model  {limit:8}{said}")
    for reason, count in study.refused.most_common():
        like = next(one for one in study.outcomes if one.reason == reason)
        said = " ".join(f"{name}={value}" for name, value in sorted(like.candidate.items()))
        detail = f": {_in_a_line(like.detail)}" if like.detail else ""
        lines.append(f"  {count} rejected: {reason}, such as {said}{detail}")
    return "\n".join(lines) + "\n"


def _in_a_line(text: str) -> str:
    """The first line, as far as there is room."""
    first = text.partition("\n")[0]
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}..."


class _Shown:
    """What a run says while it goes on, on standard error.

    Progress is a line on a terminal. A cluster's link, and workers that went, are lines anywhere.
    """

    def __init__(self) -> None:
        self._last = 0.0
        self._link = ""
        self._lost: Mapping[str, int] = {}
        self._bar = sys.stderr.isatty()

    def __call__(self, progress: Progress) -> None:
        if progress.dashboard != self._link:
            self._line(f"dashboard: {progress.dashboard}")
            self._link = progress.dashboard
        for how, count in progress.lost.items():
            if count > self._lost.get(how, 0):
                self._line(f"a worker {how}; what it was at is tried elsewhere")
        self._lost = progress.lost
        now, ended = time.monotonic(), progress.done == progress.total
        if not self._bar or (now - self._last < _PERIOD and not ended):
            return
        self._last = now
        best = "" if progress.best is None else f", best {(progress.best.cost or 0) * 1e6:.1f} µs"
        said = f"{progress.key.target}: {progress.done}/{progress.total}"
        sys.stderr.write(f"\r\033[K{said}, {progress.rate:.1f} a second{best}")
        sys.stderr.write("\r\033[K" if ended else "")
        sys.stderr.flush()

    def _line(self, text: str) -> None:
        sys.stderr.write(f"\r\033[K{text}\n" if self._bar else f"{text}\n")
        sys.stderr.flush()


def _written(arguments: argparse.Namespace) -> int:
    """A page, or JSON, of what a store knows."""
    if not Path(arguments.store).is_file():
        raise TilecError(f"{arguments.store}: no such file")
    check_outputs([arguments.output], [arguments.store])
    with Store(arguments.store) as store:
        if arguments.command == "report":
            text = page(store)
        else:
            text = json.dumps(store.export(), indent=1, sort_keys=True) + "\n"
    write_output(arguments.output, text)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tile-tune`; returns its exit code."""
    return run(parser(), body, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    end_on_signals()
    leave(main())


if __name__ == "__main__":
    command()
