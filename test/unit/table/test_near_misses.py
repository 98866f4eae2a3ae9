"""Programs one step away from legal ones are refused before LLVM, with what would be legal.

Each begins as the program of a form (`form_program`) and is changed in one respect: target,
mnemonic, selector, memory of wmma, metadata, fragment. What is legal after all must compile.
That ptxas refuses such mnemonics too is tested beside the table.
"""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest
import tilec
from tilec import lowering
from tilec.dialects.tile.form_program import FormKernel, form_kernel, form_program
from tilec.isa import TARGETS, Form, Mma, WmmaMemory, WmmaMma, warp_forms
from tilec.isa.wording import counted
from tilec.passes.base import ProgramError

FORMS = list(warp_forms().values())
LOWEST = {form: next(t for t in TARGETS.values() if form.min_ptx(t)) for form in FORMS}
FAMILIES = dict.fromkeys(form.family for form in FORMS)
PARTS = 2
"""Of the table, so that the tests can run side by side."""


def part(number: int, found: list) -> list:
    return found[number::PARTS]


@cache
def program(form: Form) -> str:
    return form_program([made(form)], LOWEST[form])


@cache
def made(form: Form) -> FormKernel:
    return form_kernel(form, LOWEST[form])


@pytest.fixture(autouse=True)
def no_llvm(monkeypatch):
    """Nothing here may go as far as LLVM."""

    def refuse(*_, **__):
        raise AssertionError("an illegal program reaches LLVM")

    monkeypatch.setattr(lowering, "to_llvm_ir", refuse)


def refusal(text: str) -> str:
    """The complaint about a program."""
    with pytest.raises(ProgramError) as caught:
        _ = tilec.compile(text, emit="nvvm").llvm
    return str(caught.value)


def compiles(text: str) -> None:
    tilec.compile(text, emit="nvvm")


def changed(text: str, old: str, new: str) -> str:
    assert old in text, old
    return text.replace(old, new)


# Targets


@pytest.mark.parametrize("number", range(PARTS))
def test_targets_that_lack_the_form(number: int) -> None:
    for at, form in enumerate(part(number, FORMS)):
        lacking = [t for t in TARGETS.values() if not form.min_ptx(t)]
        if not lacking:
            continue
        target = lacking[(0, -1)[at % 2]]
        chip = f'chip = "{LOWEST[form]}"'
        said = refusal(changed(program(form), chip, f'chip = "{target}"'))
        assert f"{form.ptx} does not exist on {target}" in said
        assert re.search(rf"it needs .*{next(iter(form.targets))} \(PTX", said)


# Mnemonics


@cache
def neighbours_of():
    """`neighbours` of the tests of the table: mnemonics one word away."""
    path = Path(__file__).parents[1] / "isa" / "test_near_misses.py"
    spec = importlib.util.spec_from_file_location("isa_near_misses", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.neighbours


@pytest.mark.parametrize("number", range(PARTS))
def test_mnemonics_that_no_form_has(number: int) -> None:
    for at, form in enumerate(part(number, FORMS)[::6]):
        misses = sorted(set(neighbours_of()(form.ptx)) - set(warp_forms()))
        miss = misses[7 * at % len(misses)]
        said = refusal(changed(program(form), f'"{form.ptx}"', f'"{miss}"'))
        assert re.search(r"unknown \S+ form '.*'; nearest legal: \w", said), said


@pytest.mark.parametrize("number", range(PARTS))
def test_forms_of_other_operands(number: int) -> None:
    """A form on the operands of its neighbour: legal if they are the same, else refused."""
    refused = legal = 0
    for at, form in enumerate(part(number, FORMS)):
        near = sorted(set(neighbours_of()(form.ptx)) & set(warp_forms()))
        others = [warp_forms()[ptx] for ptx in near]
        target = LOWEST[form]
        others = [f for f in others if f.family is form.family and f.min_ptx(target)]
        for other in others[at % 5 :: 5]:
            text = changed(program(form), f'"{form.ptx}"', f'"{other.ptx}"')
            if takes(form_kernel(other, target), made(form)):
                compiles(text)
                legal += 1
            else:
                said = refusal(text)
                assert re.search(
                    r"is a (fragment of tensor<|!tile.wmma)|has the layout|does not move a fragment"
                    r"|the fragment is|takes a memref of|apart",
                    said,
                ), said
                refused += 1
    assert refused > 50
    assert legal > 20


def takes(other: FormKernel, given: FormKernel) -> bool:
    """Whether the form of one kernel can stand in the other."""
    wide = all(
        mine.shape[-1] >= theirs.shape[-1]
        for mine, theirs in zip(given.arguments, other.arguments, strict=True)
    )
    return wide and fragments(other) == fragments(given)


def fragments(kernel: FormKernel) -> list[str]:
    """The types of what the instruction takes and gives, its memory left out."""
    text = form_program([kernel], LOWEST[kernel.form])
    aliases = dict(re.findall(r"^(!\w+) = (.*)$", text, re.M))
    found = re.findall(r'"tile\.(?:mma|ld|st|mov|wmma)\w*"\(.* : (.*)$', text, re.M)
    return [
        re.sub(r"!\w+\b(?!\.)|memref<.*?>(?=[,)])", lambda m: aliases.get(m[0], ""), line)
        for line in found
    ]


# Selectors


@pytest.mark.parametrize("number", range(PARTS))
def test_selectors_out_of_range(number: int) -> None:
    for form in part(number, [f for f in FORMS if f.selectors]):
        for selector in form.selectors:
            text, value = program(form), made(form).selectors[selector.name]
            gaps = sorted(set(range(max(selector.legal))) - set(selector.legal))
            for bad in (-1, max(selector.legal) + 1, *gaps[:1]):
                said = refusal(
                    changed(text, f"{selector.name} = {value}}}", f"{selector.name} = {bad}}}")
                    if f"{selector.name} = {value}}}" in text
                    else changed(text, f"{selector.name} = {value},", f"{selector.name} = {bad},")
                )
                legal = ", ".join(map(str, selector.legal))
                assert f"{selector.name} of {form.ptx} is {legal}, not {bad}" in said


# Metadata


SPARSE = [f for f in FORMS if isinstance(f, Mma) and f.sparsity]


@pytest.mark.parametrize("number", range(PARTS))
def test_constant_metadata(number: int) -> None:
    """Two ascending positions; plain `.sp` has them in any order, but different."""
    for at, form in enumerate(part(number, SPARSE)):
        legal = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110}
        if form.sparsity.chunk == 2:
            legal = {0b0100, 0b1110}
        elif "ordered" not in form.ptx:
            legal = {code for code in range(16) if code & 3 != code >> 2}
        load = re.search(r'%e = "tile.load".* -> (\S+)', program(form))
        for code in range(at % 8, 16, 8):
            fill = (
                f"%code = arith.constant {code if code < 8 else code - 16} : i4\n"
                f'    %e = "tile.fill"(%code) : (i4) -> {load[1]}'
            )
            text = changed(program(form), load[0], fill)
            if code in legal:
                compiles(text)
            else:
                said = refusal(text)
                assert f"metadata {code:#06b} is not a code of {form.ptx}; legal: 0b" in said
                assert all(f"{good:#06b}" in said for good in legal)


# wmma


MEMORY = [f for f in FORMS if isinstance(f, WmmaMemory)]


@pytest.mark.parametrize("number", range(2))
def test_strides(number: int) -> None:
    """Rows, or a matrix in them, one element off their alignment, and rows that overlap."""
    for form in MEMORY[number::2]:
        (inside,) = (*form.results, *form.operands)
        (argument,) = (a for a in made(form).arguments if a.name == inside.name)
        lines, across = argument.shape
        size = max(8, inside.type.bits) // 8

        def strided(stride, form=form, argument=argument, lines=lines, across=across):
            old = f"memref<{lines}x{across}x{argument.element}>"
            layout = f"strided<[{stride}, 1]>"
            new = f"memref<{lines}x{across}x{argument.element}, {layout}>"
            text = "\n".join(
                line.replace(old, new) if f"%{argument.name}_global" in line else line
                for line in program(form).splitlines()
            )
            assert new in text
            return text

        compiles(strided(across + form.alignment // size))
        if form.alignment > size:
            said = refusal(strided(across + 1))
            assert re.search(rf"bytes apart; .*{re.escape(form.ptx)} needs a multiple of", said)
            assert f"a multiple of {form.alignment}" in said
        said = refusal(strided(0))
        assert f"needs at least {form.default_stride}" in said
        if form.alignment > size:
            access = re.search(rf'"tile.wmma_\w+"\(.*"{re.escape(form.ptx)}".*', program(form))[0]
            text = changed(program(form), access, access.replace("%c0)", "%c1)"))
            constants = "    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n"
            said = refusal(changed(text, constants.splitlines(keepends=True)[0], constants))
            assert f"begins {counted(size, 'byte')} into a row" in said
            assert f"{form.ptx} needs a multiple of {form.alignment}" in said


def misuses(name: str, type_: str, element: str):
    """Ops that would look into a wmma fragment, and what they say."""
    other = "f32" if element == "f16" else "f16"
    yield f'"tile.store"(%{name}, %d_global, %c0, %c0) : ({type_}, D, index, index) -> ()'
    yield f'%x = "tile.elementwise"(%{name}) {{fn = "arith.negf"}} : ({type_}) -> {type_}'
    yield f'%x = "tile.cast"(%{name}) {{fn = "arith.extf"}} : ({type_}) -> {type_}'
    yield f'%x = "tile.slice"(%{name}) {{index = 0}} : ({type_}) -> {type_}'
    yield f'%x = "tile.convert_layout"(%{name}) : ({type_}) -> {type_}'
    yield (
        f'%x = "tile.wmma_elementwise"(%{name}) {{fn = "arith.truncf"}} : ({type_}) -> '
        f"{type_.replace(f' {element}', f' {other}')}"
    )
    yield f'%x = "tile.wmma_elementwise"(%{name}) {{fn = "tile.lane"}} : ({type_}) -> {type_}'


@pytest.mark.parametrize("number", range(2))
def test_opaque_fragments(number: int) -> None:
    """Nothing looks into a fragment, converts an accumulator, or mixes shapes and layouts."""
    products = [f for f in FORMS if isinstance(f, WmmaMma)][number::2]
    every = sorted({t for f in products for t in re.findall(r'!tile\.wmma<"[^"]*">', program(f))})
    seen = set()
    for at, form in enumerate(products):
        text = program(form)
        aliases = dict(re.findall(r"^(!\w+) = (.*)$", text, re.M))
        memory = re.search(r"%d_global: (memref<\S+>)", text)[1]
        for name in "abcd":
            alias = re.search(rf"%{name} = .* -> (\S+)$", text, re.M)[1]
            operand = form.operand(name)
            if aliases[alias] not in seen:
                seen.add(aliases[alias])
                for op in misuses(name, aliases[alias], operand.type.name):
                    line = op.replace(", D,", f", {memory},")
                    said = refusal(changed(text, "    gpu.return", f"    {line}\n    gpu.return"))
                    assert re.search(
                        r"only the tile\.wmma ops take it|must be a (tensor|!tile\.frag)"
                        r"|unknown elementwise op .*; nearest legal",
                        said,
                    ), said
            # Another fragment of the table in its place: the product says what it takes.
            other = every[(7 * at + ord(name)) % len(every)]
            if other == aliases[alias] or name != "abc"[at % 3]:
                continue
            said = refusal(swapped(text, name, alias, other))
            assert f"operand {name} of {form.ptx} is a {aliases[alias]}, not {other}" in said


def swapped(text: str, name: str, alias: str, other: str) -> str:
    """The product with a fragment of another type as operand `name`."""
    scalar = scalar_of(other)
    call = re.search(r'(    %d = "tile\.wmma_mma"\()(.*?)(\) .* : \()(.*?)(\) -> .*)', text)
    names, given = call[2].split(", "), call[4].split(", ")
    at = "abc".index(name)
    assert given[at] == alias
    names[at], given[at] = "%other", other
    made_here = (
        f"    %scalar = arith.constant {'0' if scalar[0] == 'i' else '0.0'} : {scalar}\n"
        f'    %other = "tile.wmma_fill"(%scalar) : ({scalar}) -> {other}\n'
    )
    line = f"{call[1]}{', '.join(names)}{call[3]}{', '.join(given)}{call[5]}"
    return text.replace(call[0], made_here + line)


def scalar_of(fragment: str) -> str:
    """MLIR's type of a fragment's elements."""
    type_ = fragment.rsplit(maxsplit=1)[-1].rstrip('">')
    integers = {"s8": "i8", "u8": "i8", "s4": "i4", "u4": "i4", "b1": "i1", "s32": "i32"}
    return integers.get(type_, type_)


def test_families_are_not_mixed() -> None:
    """A wmma form in `tile.mma`, and so on for each pair of families."""
    first = {family: next(f for f in FORMS if f.family is family) for family in FAMILIES}
    for family, form in first.items():
        for other in FAMILIES:
            if other is not family:
                wrong = first[other].ptx
                said = refusal(changed(program(form), f'"{form.ptx}"', f'"{wrong}"'))
                assert f"takes a form of {family}; {wrong} is one of {other}" in said
