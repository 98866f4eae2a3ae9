"""What other packages register by entry points is found when it is named, and only then.

The packages are real ones, with metadata as pip leaves it; each test is a process of its own.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tilec.isa.plugins import PluginError, plugins

Install = Callable[..., None]
Run = Callable[..., subprocess.CompletedProcess[str]]
RunAll = Callable[[list[tuple[str, list[str], str]]], list[tuple[int, str, str]]]

ACME = '''
from dataclasses import dataclass
from typing import Any, ClassVar

import tilec
from tilec.isa import target
from tilec.ir.mlir import ext, ir
from tilec.passes import Pass, remark, walk
from tilec.pipelines import pipeline

@dataclass(frozen=True)
class Count(Pass):
    """Count the ops of a kind.

    In and out: any level.

    Attributes:
        of: their name.
        most: more of them are an error.
    """

    name: ClassVar[str] = "acme-count"
    of: str = "arith.addi"
    most: int = 9

    def apply(self, module: Any) -> None:
        found = [op for op in walk(module.operation) if op.operation.name == self.of]
        print(f"{len(found)} of {self.of}, at most {self.most}")

@dataclass(frozen=True)
class Answer(Pass):
    """Replace `acme.answer` by a constant."""

    name: ClassVar[str] = "acme-lower-answer"

    def apply(self, module: Any) -> None:
        for op in [op for op in walk(module.operation) if op.operation.name == "acme.answer"]:
            with ir.InsertionPoint(op), op.location:
                i32 = ir.IntegerType.get_signless(32)
                value = ir.IntegerAttr.get(i32, 42)
                new = ir.Operation.create("arith.constant", [i32], [], {"value": value})
            op.result.replace_all_uses_with(new.result)
            op.operation.erase()

def counted(target):
    return pipeline(target).inserted(Count(most=7), before="tile-to-fragments")

def load(context):
    class Acme(ext.Dialect, name="acme"):
        pass

    class AnswerOp(Acme.Operation, name="answer"):
        result: ext.Result[ir.IntegerType]

    with ir.Location.unknown():
        Acme.load()

acme = tilec.DialectPlugin(load, ("acme-lower-answer",))
sm_77 = __import__("dataclasses").replace(target("sm_80"), name="sm_77", number=77)
'''
ENTRIES = {
    "tilec.passes": {"acme-count": "acme:Count", "acme-lower-answer": "acme:Answer"},
    "tilec.pipelines": {"acme": "acme:counted"},
    "tilec.targets": {"sm_77": "acme:sm_77"},
    "tilec.dialects": {"acme": "acme:acme"},
}
PROGRAM = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<32xi32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<32xi32>
    %y = arith.addi %x, %x : i32
    memref.store %y, %a[%i] : memref<32xi32>
    gpu.return
  }
}
"""
FOREIGN = PROGRAM.replace(
    "%x = memref.load %a[%i] : memref<32xi32>", '%x = "acme.answer"() : () -> i32'
)


@pytest.fixture
def acme(install: Install) -> None:
    """A package that registers one of each."""
    install("acme", ACME, ENTRIES)


@pytest.mark.usefixtures("acme")
def test_listed(run: Run) -> None:
    listed = run("tile_opt", "--list-passes").stdout
    ours, _, theirs = listed.partition("\nPasses of other packages:\n\n")
    assert "--tile-kernel-abi" in ours
    assert theirs.startswith(
        "  --acme-count                   Count the ops of a kind. (acme 1.0)\n"
        "      of=<str> (default arith.addi)\n"
        "      most=<int> (default 9)\n"
        "  --acme-lower-answer            Replace `acme.answer` by a constant. (acme 1.0)\n"
        "\nPipelines of other packages, for tilec --pipeline:\n\n"
        "  acme                           (acme 1.0)\n"
    )
    assert "sm_77" in run("tilec", "--list-targets").stdout.split()
    assert " acc, acme, affine" in run("tile_opt", "--show-dialects").stdout


@pytest.mark.usefixtures("acme")
def test_a_pass_beside_others(run: Run) -> None:
    pipeline = "builtin.module(canonicalize,acme-count{of=arith.addi most=3},tile-remove-dead)"
    done = run("tile_opt", "-", f"--pass-pipeline={pipeline}", "-o", "/dev/null", stdin=PROGRAM)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 of arith.addi, at most 3\n", "")
    done = run("tile_opt", "-", "--acme-count=of=gpu.thread_id", "-o", "/dev/null", stdin=PROGRAM)
    assert (done.stdout, done.stderr) == ("1 of gpu.thread_id, at most 9\n", "")


@pytest.mark.usefixtures("acme")
def test_wrong_use_of_a_pass(run: Run) -> None:
    done = run("tile_opt", "-", "--acme-count=off=3", stdin=PROGRAM)
    assert done.stderr == "error: pass 'acme-count' has no option 'off'; legal: of, most\n"
    done = run("tile_opt", "-", "--acme-cuont", stdin=PROGRAM)
    assert done.stderr.startswith("error: unknown pass 'acme-cuont'; nearest: acme-count, ")
    done = run("tile_opt", "-", "--pass-pipeline=gpu.module(acme-count)", stdin=PROGRAM)
    assert done.stderr.startswith("error: 'acme-count' runs on builtin.module; write it outside")


@pytest.mark.usefixtures("acme")
def test_a_pipeline(run: Run) -> None:
    done = run("tilec", "-", "--pipeline", "acme", "-o", "/dev/null", stdin=PROGRAM)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 of arith.addi, at most 7\n", "")


@pytest.mark.usefixtures("acme")
def test_a_target(run: Run) -> None:
    code = (
        "import sys, tilec\n"
        "print(tilec.compile(sys.argv[1], target='sm_77', emit='llvm').target.number)\n"
        "try: tilec.compile(sys.argv[1], target='sm_78')\n"
        "except tilec.TilecError as error: print(error)"
    )
    done = run("python", code, PROGRAM)
    number, unknown = done.stdout.splitlines()
    assert number == "77"
    assert unknown.startswith("unknown target 'sm_78'; nearest legal: ")
    assert "sm_77" in unknown


@pytest.mark.usefixtures("acme")
def test_a_dialect_is_loaded_and_lowered(run: Run) -> None:
    assert '"acme.answer"() : () -> i32' in run("tile_opt", "-", stdin=FOREIGN).stdout
    done = run("tilec", "-", stdin=FOREIGN, TILEC_CACHE="1")
    assert ", 84;" in done.stdout
    assert done.stderr == ""
    assert run("tilec", "--cache", "list").stdout == ""  # its key would not say which acme it was


@pytest.mark.usefixtures("acme")
def test_a_dialect_in_a_program_built_in_python(run: Run) -> None:
    code = (
        "import sys, tilec\n"
        "from tilec.dialect_plugins import load_dialect\n"
        "from tilec.ir.mlir import ir\n"
        "from tilec.frontend.contexts import new_context\n"
        "context = new_context()\n"
        "load_dialect('acme', context)\n"
        "load_dialect('acme', context)\n"
        "print(', 84;' in tilec.compile(ir.Module.parse(sys.argv[1], context)).ptx)\n"
        "try: load_dialect('acne', context)\n"
        "except tilec.TilecError as error: print(error)"
    )
    assert run("python", code, FOREIGN).stdout == (
        "True\nunknown dialect of another package 'acne'; legal: acme\n"
    )


@pytest.mark.usefixtures("acme")
def test_nothing_is_looked_for_that_tilec_and_upstream_have(run: Run) -> None:
    code = (
        "import sys, tilec\n"
        "from tilec.passes.pipeline import run_pipeline\n"
        "compiled = tilec.compile(sys.argv[1], target='sm_90a')\n"
        "compiled.ptx\n"
        "tilec.transform(sys.argv[1], 'canonicalize', 'tile-remove-dead,gpu.module(cse)')\n"
        "try: tilec.transform(sys.argv[1].replace('addi', 'addf'))\n"
        "except tilec.TilecError: pass\n"
        "print('acme' in sys.modules, 'importlib.metadata' in sys.modules)"
    )
    assert run("python", code, PROGRAM).stdout == "False False\n"


BROKEN = {
    "missing": ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
    "raises": ("raise ValueError('as asked')", "ValueError: as asked"),
    "exits": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "syntax": ("def", "SyntaxError: "),
    "absent": ("", "AttributeError: "),
}


def test_broken_packages(install: Install, run: Run, run_all: RunAll) -> None:
    for name, (code, _) in BROKEN.items():
        install(name, code, {group: {name: f"{name}:it"} for group in ENTRIES}, "0.3")
    outcomes = run_all(
        [
            (tool, arguments, text)
            for name in BROKEN
            for tool, arguments, text in (
                ("tile_opt", ["-", f"--{name}"], PROGRAM),
                ("tilec", ["-", "--pipeline", name], PROGRAM),
                ("tilec", ["-", "--target", name], PROGRAM),
                ("tilec", ["-"], FOREIGN.replace("acme", name)),
            )
        ]
    )
    listed = run("tile_opt", "--list-passes")
    assert listed.returncode == 0
    for name, (_, what) in BROKEN.items():
        said = f"{name} 0.3 registers '{name}' as {name}:it, which cannot be loaded: {what}"
        assert f"  --{name:28} error: {said}" in listed.stdout
        for _ in range(4):
            code, out, error = outcomes.pop(0)
            assert (code, out) == (1, "")
            assert error.startswith(f"error: {said}")
    assert run("tilec", "-", stdin=PROGRAM).returncode == 0


WRONG = {
    "passes": {
        "it = 3": "which is not a subclass of tilec.passes.Pass",
        "from tilec.passes import Pass\nfrom dataclasses import dataclass\n"
        "@dataclass(frozen=True)\nclass it(Pass):\n    name = 'other'": ("whose name is 'other'"),
    },
    "pipelines": {
        "it = 3": "which is of type int, not a pipeline",
        "it = 'a('": "which is not a pipeline: pipeline: '(' is never closed",
        "def it(target): return 1 / 0": "which fails for sm_80: ZeroDivisionError: ",
    },
    "targets": {
        "it = 3": "which is of type int, not Target",
        "from tilec.isa import target\nit = target('sm_80')": "whose name is 'sm_80'",
    },
    "dialects": {
        "it = 3": "which is of type int, not tilec.DialectPlugin",
        "import tilec\nit = tilec.DialectPlugin(lambda context: 1 / 0)": (
            "which cannot load the dialect: ZeroDivisionError: "
        ),
        "import tilec\nit = tilec.DialectPlugin(lambda context: None)": "which loads no dialect '",
    },
}


def test_what_is_registered_is_something_else(install: Install, run_all: RunAll) -> None:
    commands, expected = [], []
    for kind, cases in WRONG.items():
        for number, (code, what) in enumerate(cases.items()):
            name = f"{kind}{number}"
            install(name, code, {f"tilec.{kind}": {name: f"{name}:it"}})
            commands.append(
                {
                    "passes": ("tile_opt", ["-", f"--{name}"], PROGRAM),
                    "pipelines": ("tilec", ["-", "--pipeline", name], PROGRAM),
                    "targets": ("tilec", ["-", "--target", name], PROGRAM),
                    "dialects": ("tilec", ["-"], FOREIGN.replace("acme", name)),
                }[kind]
            )
            expected.append(f"error: {name} 1.0 registers '{name}' as {name}:it, {what}")
    for (code, out, error), said in zip(run_all(commands), expected, strict=True):
        assert (code, out) == (1, "")
        assert error.startswith(said)


def test_two_packages_with_one_name(install: Install, run: Run) -> None:
    for name in ("first", "second"):
        install(name, "", {"tilec.passes": {"the-pass": f"{name}:It"}})
    done = run("tile_opt", "-", "--the-pass", stdin=PROGRAM)
    assert done.returncode == 1
    assert "first 1.0" in done.stderr
    assert (
        "second 1.0 both register 'the-pass' in 'tilec.passes'; uninstall"
        in done.stderr.replace("second 1.0 and first 1.0", "first 1.0 and second 1.0")
    )


def test_a_package_cannot_replace_a_pass_of_tilec(install: Install, run: Run) -> None:
    install("greedy", "raise SystemExit", {"tilec.passes": {"tile-remove-dead": "greedy:It"}})
    assert run("tile_opt", "-", "--tile-remove-dead", stdin=PROGRAM).returncode == 0
    listed = run("tile_opt", "--list-passes").stdout
    assert (
        "  --tile-remove-dead             error: greedy 1.0 registers 'tile-remove-dead' as "
        "greedy:It, which is the name of one of tilec's\n"
    ) in listed


def test_json_still_says_the_target(install: Install, run: Run) -> None:
    """What launches a program reads the target's name from the JSON."""
    install("acme", ACME, ENTRIES)
    code = (
        "import sys, tilec\nfrom tilec.launch.abi import Abi\n"
        "abi = Abi(tilec.compile(sys.argv[1], target='sm_77', emit='tile').target,\n"
        "    tilec.isa.PtxVersion(7, 0), ())\n"
        "print(Abi.parse(str(abi)) == abi); print(abi)"
    )
    same, *text = run("python", code, PROGRAM).stdout.splitlines()
    assert same == "True"
    assert json.loads("\n".join(text))["target"] == "sm_77"


def test_entry_points_that_are_none_name_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "odd-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[tilec.passes]\n= =odd\n[\n")
    monkeypatch.syspath_prepend(tmp_path)
    for group in ("tilec.passes", "tilec.targets"):
        with pytest.raises(PluginError, match=r"the entry_points\.txt of odd cannot be read"):
            plugins.__wrapped__(group)  # not what is remembered
