"""A family that no other file knows is in the table, laid out, shown and written as its class says.

It multiplies as a warpgroup does (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"):
accumulators in the registers of 128 threads, tied; A there or in shared memory, B in shared
memory, by descriptor. A second one accumulates in tensor memory. The instructions are made up.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tilec.isa import (
    ExecutionScope,
    Operand,
    Product,
    Register,
    Selector,
    Shape,
    Since,
    Storage,
    TilecError,
    UnknownNameError,
    assembly,
    element_type,
    form,
    forms,
    forms_of,
    instruction,
    target,
)
from tilec.isa.kernel import kernel
from tilec.isa.llvm import call
from tilec.isa.operands import matrix
from tilec.isa.sass import executions
from tilec.isa.spellings import spellings
from tilec.isa.table import current, extend
from tilec.layout import LayoutError, find_form, fragment, fragment_of
from tilec.runtime import from_registers, to_registers
from tilec.tools import tile_isa, tile_layout

DESCRIPTOR = Register("b64", "i64", 64)
ADDRESS = Register("b32", "i32", 32)
SHAPE = Shape(64, 32, 16)
MNEMONIC = "toymma.async.sync.aligned.m64n32k16.f32.f16.f16"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToyMma(Product):
    """D = A·B + C by a warpgroup, or D = A·B if `scale_d` is false."""

    @property
    def selectors(self):
        return (Selector("scale_d", (0, 1), 1, constant=False), Selector("trans", (0, 1), 32, True))

    def mnemonic(self, space=""):
        del space
        return self.ptx.removesuffix(".ra").removesuffix(".da")


def in_memory(name, type_name, rows, cols, storage=Storage.SHARED, register=DESCRIPTOR, tied=None):
    """An operand of which a thread has the descriptor or the address."""
    type_ = element_type(type_name)
    return Operand(
        name, type_, rows, cols, 1, register, type_.bits, storage=storage, tied=tied, listed=False
    )


def toy(ptx, d, a, b, c, scope):
    return ToyMma(
        ptx=ptx,
        family="toymma",
        results=(d,),
        operands=(a, b, c),
        since=(Since.of("sm_90a", "8.0"),),
        intrinsic=None,
        section="none",
        shape=SHAPE,
        scope=scope,
        asynchronous=True,
    )


GROUP = {"storage": Storage.WARPGROUP}
D = matrix("d", "f32", 64, 32, **GROUP)
C = Operand("c", D.type, 64, 32, D.registers, D.register, 32, storage=D.storage, tied="d")
A = matrix("a", "f16", 64, 16, **GROUP)
A_SHARED, B = in_memory("a", "f16", 64, 16), in_memory("b", "f16", 16, 32)
WARPGROUP = ExecutionScope.WARPGROUP
FROM_REGISTERS = toy(f"{MNEMONIC}.ra", D, A, B, C, WARPGROUP)
FROM_SHARED = toy(f"{MNEMONIC}.da", D, A_SHARED, B, C, WARPGROUP)

PLACE = (Storage.TENSOR, ADDRESS)
IN_TENSOR = toy(
    "toymma.tensor.m64n32k16.f32.f16.f16",
    in_memory("d", "f32", 64, 32, *PLACE),
    in_memory("a", "f16", 64, 16, *PLACE),
    B,
    in_memory("c", "f32", 64, 32, *PLACE, tied="d"),
    ExecutionScope.THREAD,
)


@pytest.fixture(autouse=True)
def larger_table():
    with extend(FROM_REGISTERS, FROM_SHARED, IN_TENSOR):
        yield


@pytest.fixture
def run(capfdbinary):
    """Run a command; exit code, standard output, standard error."""

    def run(main, *argv):
        code = main(argv)
        out, err = capfdbinary.readouterr()
        return code, out.decode(), err.decode()

    return run


def test_the_table_has_it_for_a_while():
    assert forms()[FROM_SHARED.ptx] is form(FROM_SHARED.ptx) is FROM_SHARED
    assert instruction(IN_TENSOR.ptx) == (IN_TENSOR, "")
    assert {FROM_REGISTERS, FROM_SHARED, IN_TENSOR} <= set(forms_of(Product))
    assert forms_of(ToyMma) == (FROM_REGISTERS, FROM_SHARED, IN_TENSOR)
    assert current().families[-1] == "toymma"
    with pytest.raises(TilecError, match="two forms called toymma"), extend(FROM_SHARED):
        pass


def test_the_table_is_as_before_afterwards():
    mma = len(forms())
    with extend(toy("another", D, A, B, C, WARPGROUP)):
        assert len(forms()) == mma + 1
    assert len(forms()) == mma
    with pytest.raises(UnknownNameError):
        form("another")


def test_where_only_operands_tell_forms_apart_their_keys_do():
    assert spellings(FROM_SHARED) == spellings(FROM_REGISTERS) == (MNEMONIC,)
    with pytest.raises(TilecError, match=r"is ambiguous; give one of toymma\S*\.ra, toymma\S*\.da"):
        form(MNEMONIC)
    # One of them may not go by the mnemonic that names both.
    with extend(replace(FROM_SHARED, ptx=MNEMONIC)), pytest.raises(TilecError, match="spells two"):
        form("toymma")


def d_place(t, i):
    """Row and column of element i of D in thread t: the ISA's figure for m64nNk16."""
    return (
        16 * (t >> 5) + ((t >> 2) & 7) + 8 * ((i >> 1) & 1),
        8 * (i >> 2) + 2 * (t & 3) + (i & 1),
    )


def a_place(t, i, e=2):
    """Row and column of element i of A in thread t, e elements to a register."""
    r, j = divmod(i, e)
    return 16 * (t >> 5) + ((t >> 2) & 7) + 8 * (r & 1), e * (t & 3) + j + 4 * e * (r >> 1)


@pytest.mark.parametrize(("name", "place"), [("d", d_place), ("c", d_place), ("a", a_place)])
def test_the_one_rule_spreads_it_over_128_threads(name, place):
    layout = fragment_of(FROM_REGISTERS, name)
    assert layout.is_bijective
    assert list(layout.in_sizes) == ["register", "lane", "warp"]
    operand = FROM_REGISTERS.operand(name)
    assert operand.threads == 128
    assert operand.registers == {"a": 4, "d": 16, "c": 16}[name]
    for t in range(128):
        for i in range(operand.elements):
            assert layout(register=i, lane=t % 32, warp=t // 32) == place(t, i)


def test_a_fragment_is_found_by_shape():
    assert find_form("m64n32k16", "d", "f32") is FROM_REGISTERS
    assert fragment("m64n32k16", "a", "f16") == fragment_of(FROM_REGISTERS, "a")
    with pytest.raises(UnknownNameError, match=r"operand 'b'; legal: d, a, c \(of m64n32k16\)"):
        find_form("m64n32k16", "b")


def test_what_lies_in_memory_has_no_fragment():
    with pytest.raises(LayoutError, match=r"operand b of .* lies in shared memory: no register"):
        fragment_of(FROM_REGISTERS, "b")
    with pytest.raises(LayoutError, match=r"operand d of .* lies in tensor memory: no register"):
        fragment_of(IN_TENSOR, "d")
    assert (B.threads, B.per_register, B.elements) == (0, 0, 0)


def test_matrices_go_to_the_registers_of_128_threads_and_back():
    matrix_ = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
    registers = to_registers(FROM_SHARED, "d", matrix_)
    assert registers.shape == (16, 128)
    held = registers.view(np.float32)
    for t in (0, 5, 77, 127):
        for i in range(16):
            assert held[i, t] == matrix_[d_place(t, i)]
    assert (from_registers(FROM_SHARED, "d", registers) == matrix_).all()


def test_ptx_writes_a_tied_operand_once_and_memory_as_it_lies():
    def names(one):
        return {
            **{o.name: [f"%{o.name}{n}" for n in range(o.registers)] for o in one.all_operands},
            **{s.name: [s.name] for s in one.selectors},
        }

    d = ", ".join(f"%d{n}" for n in range(16))
    assert assembly(FROM_SHARED, names(FROM_SHARED)) == (
        f"{MNEMONIC} {{{d}}}, %a0, %b0, scale_d, trans;"
    )
    assert assembly(FROM_REGISTERS, names(FROM_REGISTERS)) == (
        f"{MNEMONIC} {{{d}}}, {{%a0, %a1, %a2, %a3}}, %b0, scale_d, trans;"
    )
    assert assembly(IN_TENSOR, names(IN_TENSOR)) == (
        "toymma.tensor.m64n32k16.f32.f16.f16 [%d0], [%a0], %b0, scale_d, trans;"
    )


def emitted(how):
    """LLVM's PTX of a function whose arguments are the call's and whose result is its result."""
    llvm = pytest.importorskip("llvmlite.binding")
    for initialize in (llvm.initialize_all_targets, llvm.initialize_all_asmprinters):
        initialize()
    values = list(enumerate(how.arguments))
    given = ", ".join(f"{v.type} {1 if v.constant else f'%a{n}'}" for n, v in values)
    parameters = ", ".join(f"{v.type} %a{n}" for n, v in values if not v.constant)
    line = f'call {how.result_type} asm sideeffect "{how.assembly}", "{how.constraints}"({given})'
    back = "ret void" if how.result_type == "void" else f"ret {how.result_type} %r"
    text = (
        'target triple = "nvptx64-nvidia-cuda"\n'
        f"define {how.result_type} @f({parameters}) {{\n"
        f"{'' if back == 'ret void' else '%r = '}{line} #0\n{back}\n}}\n"
        "attributes #0 = { convergent }\n"
    )
    module = llvm.parse_assembly(text)
    module.verify()
    triple = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    return triple.create_target_machine(cpu="sm_90a", features="+ptx80").emit_assembly(module)


def test_llvm_ties_accumulators_to_results():
    how = call(FROM_SHARED)
    assert how.intrinsic is None
    assert [value.name for value in how.results] == ["d"] * 16
    assert [value.name for value in how.arguments] == ["a", "b", *["c"] * 16, "scale_d", "trans"]
    assert [v.tied for v in how.arguments if v.name == "c"] == list(range(16))
    written = emitted(how)
    (line,) = re.findall(rf"{re.escape(MNEMONIC)} \{{(.*?)\}}, %rd\d+, %rd\d+, %p\d+, 1;", written)
    registers = line.split(", ")
    assert len(set(registers)) == 16
    # What is loaded from the parameters is, moved or not, in the very registers of the instruction.
    before = written[: written.index(MNEMONIC)]
    loaded = re.findall(r"ld\.param\.b32\s+(%r\d+), \[f_param_\d+\]", before)
    moves = dict(re.findall(r"mov\.b32\s+(%r\d+), (%r\d+);", before))
    assert [moves.get(register, register) for register in registers] == loaded[-16:]


def test_a_result_in_memory_is_an_argument():
    how = call(IN_TENSOR)
    assert how.results == ()
    assert [value.name for value in how.arguments] == ["d", "a", "b", "scale_d", "trans"]
    assert how.result_type == "void"
    assert re.search(r"f16 \[%r\d+\], \[%r\d+\], %rd\d+, %p\d+, 1;", emitted(how))


def test_tile_isa_lists_and_shows_it(run):
    code, out, _ = run(tile_isa.main, "list", "--family", "toymma", "--format", "json")
    assert code == 0
    assert [entry["ptx"] for entry in json.loads(out)] == [one.ptx for one in forms_of(ToyMma)]
    _, out, _ = run(tile_isa.main, "list", "--target", "sm_90a")
    assert MNEMONIC in out
    _, out, _ = run(tile_isa.main, "list", "--target", "sm_80")
    assert MNEMONIC not in out
    code, out, _ = run(tile_isa.main, "show", FROM_REGISTERS.ptx)
    assert code == 0
    assert re.search(r"executed by +warpgroup", out)
    assert "16 registers .f32, 1 element each, in registers of a warpgroup, written" in out
    assert "in shared memory as 1 register .b64 specifies, read" in out
    assert "warp [16,0] [32,0]" in out
    code, out, _ = run(tile_isa.main, "show", IN_TENSOR.ptx, "--format", "json")
    data = json.loads(out)
    assert (data["scope"], data["asynchronous"], data["shape"]) == ("thread", True, "m64n32k16")
    assert [o["storage"] for o in data["operands"]] == ["tensor memory"] * 2 + [
        "shared memory",
        "tensor memory",
    ]
    assert "tile" not in data
    assert executions(FROM_SHARED) == ()


@pytest.mark.parametrize("format_", ["ptx", "mlir"])
def test_a_kernel_of_one_warp_is_refused(run, tmp_path, format_):
    file = tmp_path / "kernel"
    arguments = (
        "emit",
        FROM_SHARED.ptx,
        "--target",
        "sm_90a",
        "--format",
        format_,
        "-o",
        str(file),
    )
    code, out, err = run(tile_isa.main, *arguments)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert not file.exists()
    with pytest.raises(TilecError, match="d in registers of a warpgroup, a in shared memory"):
        kernel(FROM_SHARED, target("sm_90a"))


def test_tile_layout_shows_every_thread(run):
    arguments = (FROM_REGISTERS.ptx, "--operand", "d")
    _, out, _ = run(tile_layout.main, *arguments, "--format", "json")
    lanes = json.loads(out)["lanes"]
    assert lanes == [[list(d_place(t, i)) for i in range(16)] for t in range(128)]
    _, out, _ = run(tile_layout.main, *arguments, "--element", "50,19")
    assert out == "thread 105, register 9, bits 0-31\n"
    assert d_place(105, 9) == (50, 19)
    _, out, _ = run(tile_layout.main, *arguments, "--lane", "105", "--reg", "9")
    assert out == "register 9, bits 0-31: 50,19\n"
    code, _, err = run(tile_layout.main, *arguments, "--lane", "128")
    assert (code, err) == (1, "error: no thread 128: a warpgroup has threads 0 to 127\n")
    _, out, _ = run(tile_layout.main, *arguments)
    assert "a thread holds 16 registers of 32 bits, 1 element each" in out
    assert "row = (lane >> 2) + 8 * (i >> 1 & 1) + 16 * warp" in out
    _, out, _ = run(tile_layout.main, *arguments, "--format", "csv")
    assert out.splitlines()[0] == "thread,register,low,high,row,col"
    assert len(out.splitlines()) == 1 + 64 * 32
    for format_ in ("svg", "md"):
        _, out, _ = run(tile_layout.main, *arguments, "--format", format_)
        assert "105:9" in out


def test_tile_layout_says_where_an_operand_lies_that_no_thread_holds(run):
    _, out, _ = run(tile_layout.main, FROM_SHARED.ptx, "--operand", "b")
    assert "No register holds operand b: it lies in shared memory." in out
    _, out, _ = run(tile_layout.main, FROM_SHARED.ptx, "--operand", "b", "--format", "json")
    assert json.loads(out)["lanes"] is None
    code, _, err = run(tile_layout.main, FROM_SHARED.ptx, "--operand", "b", "--lane", "3")
    assert code == 1
    assert "operand b of" in err
    assert "lies in shared memory: no register holds it" in err
