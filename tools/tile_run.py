"""`tile-run`: run a kernel of a tile program or of any PTX, and check its results."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from tilec import sim
from tilec.ending import end_on_signals
from tilec.isa import TilecError, target
from tilec.isa.launch import extents
from tilec.launch.simulated import SMS, for_simulator
from tilec.runtime import cuda
from tilec.sim.orders import ORDER_LIMIT
from tilec.sim.tensor.product import NUMERICS

from .cluster_flags import add_tls_flags, tls_of
from .colours import say
from .common import Parser, leave, run
from .debug_session import DebugSession
from .files import check_outputs, write_outputs
from .run_arguments import FORMS, Array, Value, argument
from .run_program import LoadedProgram, RefusedError, load
from .run_progress import ProgressBar
from .run_reference import Outcome, compare, expected

if TYPE_CHECKING:
    from tilec.tuning.bound import Bound

_COUNT = re.compile("[0-9]{1,18}")
_EPILOG = f"""\
{FORMS}
examples:
  tile-run examples/gemm.mlir --grid 4,4 --arg randn:512x512:f16 --arg randn:512x512:f16 \\
      --arg zeros:512x512:f32 --check gemm
  tile-run kernel.ptx --kernel scale --grid 8 --block 128 --arg x.npy --arg i32:1024 \\
      --out 0=scaled.npy --report json
"""


def _extents(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if len(parts) > 3 or not all(_COUNT.fullmatch(p) and int(p) for p in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is not X, X,Y or X,Y,Z of positive integers")
    return tuple(map(int, parts))


def _place(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if len(parts) > 3 or not all(map(_COUNT.fullmatch, parts)):
        raise argparse.ArgumentTypeError(f"'{text}' is not X, X,Y or X,Y,Z of whole numbers")
    return tuple(map(int, parts))


def _timeline(text: str) -> str:
    if Path(text).suffix not in (".html", ".json"):
        raise argparse.ArgumentTypeError(f"'{text}' is not FILE.html or FILE.json")
    return text


def _count(text: str) -> int:
    if not _COUNT.fullmatch(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not an integer from 0 to 10^18")
    return int(text)


def _output(text: str) -> tuple[int, str]:
    number, equals, path = text.partition("=")
    if not equals or not _COUNT.fullmatch(number) or not path:
        raise argparse.ArgumentTypeError(f"'{text}' is not NUMBER=PATH")
    return int(number), path


def _symbol(text: str) -> tuple[str, str]:
    name, equals, spec = text.partition("=")
    if not equals or not name or not spec:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=SPEC")
    return name, spec


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    made = Parser("tile-run", __doc__ or "", epilog=_EPILOG)
    add = made.add_argument
    add("input", help="an .mlir or .ptx file, or - for standard input")
    add = made.add_argument_group("launch").add_argument
    add("--kernel", metavar="NAME", help="the kernel to run; default: the only one")
    add("--grid", metavar="X,Y,Z", type=_extents, help="CTAs; default: the kernel's own, or 1")
    add("--block", metavar="X,Y,Z", type=_extents, help="threads; default: the kernel's own")
    what = "CTAs of a cluster; default: the kernel's own, or 1"
    add("--cluster", metavar="X,Y,Z", type=_extents, help=what)
    what = "number of SMs, for persistent kernels; default: the GPU's, or 132"
    add("--sms", metavar="N", type=_count, help=what)
    add(
        "--dynamic-smem",
        metavar="BYTES",
        type=_count,
        help="dynamic shared memory; default: the kernel's own, or 0",
    )
    add = made.add_argument_group("arguments and results").add_argument
    add("--arg", metavar="SPEC", action="append", default=[], help="an argument, in order")
    what = "set a .global or .const variable of the PTX before the run"
    add("--symbol", metavar="NAME=SPEC", type=_symbol, action="append", default=[], help=what)
    add("--seed", metavar="N", type=_count, default=0, help="seed of random arguments; default: 0")
    what = "write argument N, counted from 0, to a .npy file"
    add("--out", metavar="N=PATH", type=_output, action="append", default=[], help=what)
    add("--check", metavar="gemm|FILE.py", help="compare the result with numpy")
    add = made.add_argument_group("pictures").add_argument
    what = "write what the warps of a CTA did, step by step, as a page or as JSON"
    add("--timeline", metavar="FILE.html|FILE.json", type=_timeline, help=what)
    what = "the CTA of --timeline and --explore; default: 0,0,0"
    add("--cta", metavar="X,Y,Z", type=_place, default=(0, 0, 0), help=what)
    what = "write the program after every pass as a page, with the timeline"
    add("--explore", metavar="FILE.html", help=what)
    add = made.add_argument_group("where and how it runs").add_argument
    what = "where to run; auto (the default) is the GPU if there is one, else the simulator"
    add("--device", choices=("sim", "cuda", "auto"), default="auto", help=what)
    what = (
        "a Dask scheduler whose workers simulate CTAs that do not depend on each other, such as "
        "tcp://127.0.0.1:8786; 'local': one of this machine's own"
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
    add("--max-steps", metavar="N", type=_count, help="stop a run after so many steps")
    what = "explore every order of a CTA's warps, not only the one that runs"
    add("--every-order", action="store_true", help=what)
    what = f"most events to record and steps to take for that; default: {ORDER_LIMIT:,}"
    add("--order-limit", metavar="N", type=_count, help=what)
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
    except RefusedError as error:
        say(str(error))
        return 1
    return _dry_run(program, arguments) if arguments.dry_run else _run(program, arguments)


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
    if arguments.explore and program.compiled is None:
        raise TilecError(f"--explore shows a tile program's passes; {arguments.input} is PTX")
    values = [argument(spec, i, arguments.seed) for i, spec in enumerate(arguments.arg)]
    outputs = _outputs(arguments.out, values)
    pages = [path for path in (arguments.timeline, arguments.explore) if path]
    check_outputs([*outputs, *pages], [arguments.input, arguments.check])
    before = [np.copy(v) if isinstance(v, np.ndarray) else v for v in values]
    wanted = expected(arguments.check, before) if arguments.check else {}
    on_gpu = _on_gpu(program, arguments)
    try:
        report = (_run_on_gpu if on_gpu else _simulated)(program, values, arguments)
    except sim.QuitDebugging:
        return 0
    ok = report is None or report.ok
    outcomes = [
        compare(number, value, one)
        for number, one in wanted.items()
        if ok and isinstance(value := values[number], np.ndarray)
    ]
    _print(report, _estimated(program, values, report, arguments), outcomes, arguments)
    if report is not None:
        write_outputs(_pages(program, report, arguments))
    if report is not None and not report.ok:
        outcome = _many(len(report.findings), "finding") if report.findings else report.verdict
        raise TilecError(f"kernel '{report.kernel}': {outcome}")
    if any(outcome.wrong for outcome in outcomes):
        raise TilecError(f"--check {arguments.check}: the result is wrong")
    write_outputs({path: _npy(value) for path, value in outputs.items()})
    return 0


def _check_cluster(arguments: argparse.Namespace) -> None:
    """Refuse what one process shows of a launch where workers run it."""
    if arguments.scheduler is None:
        if tls_of(arguments) is not None:
            raise TilecError("--tls-ca, --tls-cert and --tls-key go with --scheduler")
        return
    for flag, given in (
        ("--timeline", arguments.timeline),
        ("--explore", arguments.explore),
        ("--every-order", arguments.every_order),
        ("--debug", arguments.debug),
    ):
        if given:
            raise TilecError(f"{flag} shows a launch that one process runs: without --scheduler")


def _pages(
    program: LoadedProgram, report: sim.Report, arguments: argparse.Namespace
) -> dict[str, str | bytes]:
    """What `--timeline` and `--explore` write, of a run with findings as well."""
    timeline, found = report.timeline, dict[str, str | bytes]()
    if timeline is None:
        return found
    if arguments.timeline:
        as_json = Path(arguments.timeline).suffix == ".json"
        found[arguments.timeline] = timeline.to_json() if as_json else timeline.to_html()
    if arguments.explore:
        assert program.compiled is not None
        found[arguments.explore] = program.compiled.explore(timeline)
    return found


def _on_gpu(program: LoadedProgram, arguments: argparse.Namespace) -> bool:
    simulated = [
        flag
        for flag, given in (
            (f"--numerics {arguments.numerics}", arguments.numerics != "exact"),
            ("--no-checks", not arguments.checks),
            ("--max-steps", arguments.max_steps is not None),
            ("--lines", arguments.lines),
            ("--estimate", arguments.estimate),
            ("--symbol", arguments.symbol),
            ("--timeline", arguments.timeline),
            ("--explore", arguments.explore),
            ("--every-order", arguments.every_order),
            ("--debug", arguments.debug),
            ("--scheduler", arguments.scheduler),
            ("--report html", arguments.report == "html"),
        )
        if given
    ]
    wanted: bool = arguments.device == "cuda"
    if arguments.device == "auto":
        return not simulated and cuda.available(target(program.arch))
    if wanted and simulated:
        raise TilecError(f"--device cuda: {', '.join(simulated)} is only for the simulator")
    return wanted


@dataclass(frozen=True, slots=True)
class _Launch:
    """A kernel, grid, threads of a CTA, CTAs of a cluster, arguments, dynamic shared memory."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...] | None
    passed: list[Value]
    shared: int


def _launch_of(
    program: LoadedProgram, values: Sequence[Value], arguments: argparse.Namespace, sms: int
) -> _Launch:
    name = program.kernel(arguments.kernel)
    grid = extents(arguments.grid or program.grid(name, values), "grid")
    passed = program.passed(name, values, grid)
    block = arguments.block or program.block(name)
    if block is None:
        raise TilecError(f"kernel '{name}' does not fix its threads; --block X,Y,Z gives them")
    shared = arguments.dynamic_smem
    if shared is None:
        shared = program.dynamic_shared(name)
    cluster = arguments.cluster or program.cluster(name)
    ctas = program.launched(name, grid, sms, arguments.sms)
    return _Launch(name, ctas, block, cluster, passed, shared)


def _run_on_gpu(
    program: LoadedProgram, values: Sequence[Value], arguments: argparse.Namespace
) -> None:
    to = _launch_of(program, values, arguments, cuda.gpu().multiprocessors)
    ptx = program.ptx.source.original
    cuda.launch(
        ptx, to.name, to.grid, to.block, to.passed, dynamic_smem=to.shared, cluster=to.cluster
    )


def _simulated(
    program: LoadedProgram, values: Sequence[Value], arguments: argparse.Namespace
) -> sim.Report:
    to = _launch_of(program, values, arguments, SMS)
    settings: dict[str, Any] = {
        "arch": program.arch,
        "dynamic_smem": to.shared,
        "cluster": to.cluster,
        "numerics": arguments.numerics,
        "checks": arguments.checks,
        "max_steps": arguments.max_steps,
        "symbols": _symbols(arguments),
    }
    given = for_simulator(to.passed)
    with ExitStack() as stack:
        session = _session(arguments) if arguments.debug else None
        bar = None if session is not None else stack.enter_context(ProgressBar())
        if arguments.scheduler is not None:
            assert bar is not None
            return _on_cluster(program, to, given, settings, arguments, bar)
        return sim.launch(
            program.ptx,
            to.name,
            to.grid,
            to.block,
            given,
            **settings,
            progress=None if bar is None else bar.update,
            timeline=arguments.cta if arguments.timeline or arguments.explore else None,
            debugger=None if session is None else session.debugger,
            every_order=arguments.every_order,
            order_limit=arguments.order_limit,
        )


def _estimated(
    program: LoadedProgram,
    values: Sequence[Value],
    report: sim.Report | None,
    arguments: argparse.Namespace,
) -> Bound | None:
    """The estimate of a run that completed, where it is asked for."""
    if not arguments.estimate or report is None or not report.completed:
        return None
    from tilec.tuning.bound import bound  # noqa: PLC0415 (only there)
    from tilec.tuning.errors import TuningError  # noqa: PLC0415

    to, known = _launch_of(program, values, arguments, SMS), target(program.arch)
    cluster = extents(to.cluster or (1, 1, 1), "cluster")
    grid, block = extents(to.grid, "grid"), extents(to.block, "block")
    passed = for_simulator(to.passed)
    try:
        return bound(program.ptx, to.name, known, grid, block, passed, cluster, to.shared, report)
    except TuningError as error:  # the run is told of in any case
        say(f"warning: --estimate: {error}\n")
        return None


def _on_cluster(
    program: LoadedProgram,
    to: _Launch,
    given: Sequence[Any],
    settings: dict[str, Any],
    arguments: argparse.Namespace,
    bar: ProgressBar,
) -> sim.Report:
    from tilec.sim.run import Run  # noqa: PLC0415 (only there)

    from .run_on_cluster import Cluster, Launch, simulate  # noqa: PLC0415 (needs Dask)

    run = Run(program.ptx, to.name, to.grid, to.block, given, **settings)
    source = program.ptx.source
    launch = Launch(source.original, source.name, to.name, to.grid, to.block, run.image, settings)
    address = "" if arguments.scheduler == "local" else arguments.scheduler
    report = simulate(run, Cluster(address, tls_of(arguments)), launch, bar.update)
    if not arguments.checks and not report.completed:
        raise sim.SimulationError(report.findings[-1].message, report)
    return report


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


def _symbols(arguments: argparse.Namespace) -> dict[str, Array]:
    """The arrays that variables are set to."""
    found: dict[str, Array] = {}
    for number, (name, spec) in enumerate(arguments.symbol, len(arguments.arg)):
        value = argument(spec, number, arguments.seed)
        if not isinstance(value, np.ndarray | np.generic):
            raise TilecError(f"--symbol {name}={spec}: neither an array nor a number with a type")
        found[name] = np.asarray(value)
    return found


def _outputs(wanted: Sequence[tuple[int, str]], values: Sequence[Value]) -> dict[str, Array]:
    found = {}
    for number, path in wanted:
        value = values[number] if number < len(values) else None
        if not isinstance(value, np.ndarray):
            raise TilecError(f"--out {number}={path}: argument {number} is not an array")
        found[path] = value
    return found


def _npy(array: Array) -> bytes:
    written = io.BytesIO()
    np.save(written, array)
    return written.getvalue()


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _print(
    report: sim.Report | None,
    estimated: Bound | None,
    outcomes: Sequence[Outcome],
    arguments: argparse.Namespace,
) -> None:
    notes = [] if estimated is None else [estimated.to_text()]
    if arguments.report == "html":
        assert report is not None
        checked = [f"check {arguments.check}: {outcome}" for outcome in outcomes]
        print(report.to_html([*checked, *notes]))
        return
    if arguments.report == "json":
        document = {
            "device": str(cuda.gpu()) if report is None else "sim",
            "report": None if report is None else json.loads(report.to_json()),
            "check": [asdict(outcome) for outcome in outcomes],
        }
        if estimated is not None:
            document["estimate"] = estimated.json()
        print(json.dumps(document, indent=2))
        return
    if report is None:
        print(f"ran on {cuda.gpu()}")
    else:
        sys.stdout.write(report.output)
        print("\n".join([report.to_text(lines=arguments.lines), *notes]))
    for outcome in outcomes:
        print(f"check {arguments.check}: {outcome}")


def main(argv: Sequence[str] | None = None) -> int:
    """The command; returns its exit code."""
    return run(parser(), _main, argv)


def command() -> NoReturn:
    """The command line: `main` in a process of its own."""
    end_on_signals()
    leave(main())


if __name__ == "__main__":
    command()
