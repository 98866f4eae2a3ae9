"""`tile-run`: run a kernel of a tile program or of any PTX, and check its results."""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tilec import sim
from tilec.ending import end_on_signals
from tilec.isa import TilecError
from tilec.sim.numerics import NUMERICS
from tilec.sim.orders import ORDER_LIMIT

from .cluster_flags import add_tls_flags, tls_of
from .colours import say
from .common import Parser, leave, run
from .debug_session import DebugSession
from .files import check_outputs, write_outputs
from .launch_flags import ProblemError, add_launch_flags, count, place
from .run_arguments import FORMS
from .run_here import estimated, is_for_gpu, on_cluster, run_on_gpu, simulated
from .run_launch import LaunchArguments, launch_arguments
from .run_problems import run_problems
from .run_program import LoadedProgram, RefusedError, load
from .run_reference import Outcome
from .run_report import as_data, as_text

if TYPE_CHECKING:
    from tilec.tuning.bound import Bound

_EPILOG = f"""\
{FORMS}
examples:
  tile-run examples/gemm.mlir --grid 4,4 --arg randn:512x512:f16 --arg randn:512x512:f16 \\
      --arg zeros:512x512:f32 --check gemm
  tile-run kernel.ptx --kernel scale --grid 8 --block 128 --arg x.npy --arg i32:1024 \\
      --out 0=scaled.npy --report json
"""


def _timeline(text: str) -> str:
    if Path(text).suffix not in (".html", ".json"):
        raise argparse.ArgumentTypeError(f"'{text}' is not FILE.html or FILE.json")
    return text


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser("tile-run", __doc__ or "", epilog=_EPILOG)
    add = made.add_argument
    add("input", help="an .mlir or .ptx file, or - for standard input")
    add_launch_flags(made)
    what = (
        "run a launch for each line of a file: the line's flags of those above, and the command's"
    )
    made.add_argument("--problems", metavar="FILE", help=what)
    add = made.add_argument_group("pictures").add_argument
    what = "write what the warps of a CTA did, step by step, as a page or as JSON"
    add("--timeline", metavar="FILE.html|FILE.json", type=_timeline, help=what)
    what = (
        "write an estimated timeline in cycles, by a first-order timing model, as JSON that "
        "Perfetto and chrome://tracing open"
    )
    add("--trace", metavar="FILE.json", help=what)
    what = "the CTA of --timeline, --trace and --explore; default: 0,0,0"
    add("--cta", metavar="X,Y,Z", type=place, default=(0, 0, 0), help=what)
    what = "write the program after every pass as a page, with the timeline"
    add("--explore", metavar="FILE.html", help=what)
    add = made.add_argument_group("where and how it runs").add_argument
    what = "where to run; auto (the default) is the GPU if there is one, else the simulator"
    add("--device", choices=("sim", "cuda", "auto"), default="auto", help=what)
    what = (
        "a Dask scheduler whose workers simulate problems, or the CTAs of one that do not depend "
        "on each other, such as tcp://127.0.0.1:8786; 'local': one of this machine's own"
    )
    add("--scheduler", metavar="ADDRESS", help=what)
    add_tls_flags(add)
    what = "target to compile for and to simulate; default: the program's own"
    add("--arch", metavar="TARGET", help=what)
    what = "LLVM's optimisation level, -O0 to -O3 (the default)"
    add("-O", dest="level", type=int, choices=range(4), default=3, help=what)
    what = "the hardware's bits (the default), float accuracy, or floats as integers modulo 2^w"
    add("--numerics", choices=NUMERICS, default="exact", help=what)
    add(
        "--no-checks",
        dest="checks",
        action="store_false",
        help="do not check memory accesses and barriers",
    )
    add("--max-steps", metavar="N", type=count, help="stop a run after so many steps")
    what = "explore every order of a CTA's warps, not only the one that runs"
    add("--every-order", action="store_true", help=what)
    what = f"most events to record and steps to take for that; default: {ORDER_LIMIT:,}"
    add("--order-limit", metavar="N", type=count, help=what)
    what = "stop before the first instruction, and read commands; `help` lists them"
    add("--debug", action="store_true", help=what)
    what = "the same, and read the commands from a file instead of standard input"
    add("--debug-commands", metavar="FILE", help=what)
    add = made.add_argument_group("report").add_argument
    what = "format of the report, a page of HTML among them; default: text"
    add("--report", choices=("text", "json", "html"), default="text", help=what)
    what = "add a first-order estimate of the launch on a GPU of the target, and what bounds it"
    add("--estimate", action="store_true", help=what)
    add("--lines", action="store_true", help="add counts for each line of the PTX to a text report")
    add(
        "--dry-run",
        action="store_true",
        help="list the instructions that cannot be simulated, and run nothing",
    )
    return made


def _main(arguments: argparse.Namespace) -> int:
    try:
        program = load(arguments.input, arch=arguments.arch, level=arguments.level)
        return _dry_run(program, arguments) if arguments.dry_run else _run(program, arguments)
    except (RefusedError, ProblemError) as error:
        say(str(error).rstrip("\n") + "\n")
        return 1


def _dry_run(program: LoadedProgram, arguments: argparse.Namespace) -> int:
    found = sim.check(program.ptx, arguments.kernel)
    for error in found:
        say(f"error: {error}\n")
    return 1 if found else 0


def _run(program: LoadedProgram, arguments: argparse.Namespace) -> int:
    arguments.debug |= arguments.debug_commands is not None
    if arguments.order_limit is not None and not arguments.every_order:
        raise TilecError("--order-limit is for --every-order")
    _check_cluster(arguments)
    if arguments.problems is not None:
        return run_problems(program, arguments)
    if arguments.explore and program.compiled is None:
        raise TilecError(f"--explore shows a tile program's passes; {arguments.input} is PTX")
    outputs = [path for _, path in arguments.out]
    if arguments.trace and not arguments.checks:
        raise TilecError("--trace records what the checks see: without --no-checks")
    if arguments.trace and arguments.every_order:
        raise TilecError("--trace and --every-order exclude each other")
    pages = [p for p in (arguments.timeline, arguments.trace, arguments.explore) if p]
    check_outputs([*outputs, *pages], [arguments.input, arguments.check])
    launch = launch_arguments(program, arguments)
    try:
        report = _ran(launch)
    except sim.QuitDebugging:
        return 0
    outcomes = launch.outcomes(report)
    bound, schedule = estimated(launch, report)
    _print(report, bound, schedule, outcomes, arguments)
    if report is not None:
        write_outputs(_pages(program, report, schedule, arguments))
    wrong = launch.wrong(report, outcomes)
    if wrong:
        raise TilecError(wrong)
    write_outputs(launch.files())
    return 0


def _ran(launch: LaunchArguments) -> sim.Report | None:
    """The report of a run; None of one on the GPU."""
    if is_for_gpu(launch.program.arch, launch.flags):
        run_on_gpu(launch)
        return None
    if launch.flags.scheduler is not None:
        return on_cluster(launch)
    return simulated(launch, _session(launch.flags) if launch.flags.debug else None)


def _check_cluster(arguments: argparse.Namespace) -> None:
    """Refuse what one process shows of a launch where workers run it."""
    if arguments.scheduler is None:
        if tls_of(arguments) is not None:
            raise TilecError("--tls-ca, --tls-cert and --tls-key go with --scheduler")
        return
    for flag, given in (
        ("--timeline", arguments.timeline),
        ("--trace", arguments.trace),
        ("--explore", arguments.explore),
        ("--every-order", arguments.every_order and arguments.problems is None),
        ("--debug", arguments.debug),
    ):
        if given:
            raise TilecError(f"{flag} shows a launch that one process runs: without --scheduler")


def _pages(
    program: LoadedProgram,
    report: sim.Report,
    schedule: sim.Schedule | None,
    arguments: argparse.Namespace,
) -> dict[str, str | bytes]:
    """What `--timeline`, `--trace` and `--explore` write, of a run with findings as well."""
    timeline, found = report.timeline, dict[str, str | bytes]()
    if schedule is not None:
        found[arguments.trace] = schedule.to_chrome()
    if timeline is None:
        return found
    if arguments.timeline:
        as_json = Path(arguments.timeline).suffix == ".json"
        found[arguments.timeline] = timeline.to_json() if as_json else timeline.to_html()
    if arguments.explore:
        assert program.compiled is not None
        found[arguments.explore] = program.compiled.explore(timeline)
    return found


def _session(arguments: argparse.Namespace) -> DebugSession:
    """Who reads the commands of `--debug`."""
    if not arguments.debug_commands:
        if arguments.input == "-":
            raise TilecError("--debug reads commands, and '-' the program, from standard input")
        return DebugSession()
    try:
        commands = Path(arguments.debug_commands).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise TilecError(f"{arguments.debug_commands}: {why}") from None
    return DebugSession(io.StringIO(commands))


def _print(
    report: sim.Report | None,
    estimate: Bound | None,
    schedule: sim.Schedule | None,
    outcomes: Sequence[Outcome],
    arguments: argparse.Namespace,
) -> None:
    if arguments.report == "html":
        assert report is not None
        notes = [one.to_text() for one in (estimate, schedule) if one is not None]
        checked = [f"check {arguments.check}: {outcome}" for outcome in outcomes]
        print(report.to_html([*checked, *notes]))
    elif arguments.report == "json":
        print(json.dumps(as_data(report, estimate, outcomes, schedule), indent=2))
    else:
        lines = arguments.lines
        print(as_text(report, estimate, outcomes, arguments.check, lines=lines, schedule=schedule))


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    return run(parser(), _main, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    end_on_signals()
    leave(main())


if __name__ == "__main__":
    command()
