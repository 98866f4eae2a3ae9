"""From LLVM IR to PTX: the PTX version that a module needs, code generation, and a last look."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from tilec.isa import Form, PtxVersion, Target, TilecError, warp_forms
from tilec.isa.atomics import Atomic, atomic_named
from tilec.isa.conversions import CONVERSIONS, Conversion
from tilec.isa.features import first_version
from tilec.isa.llvm import call
from tilec.isa.reductions import REDUCTIONS, Reduction
from tilec.isa.spellings import split_space
from tilec.isa.table import current

from .codegen import CodegenError, generate
from .llvm_22 import NEWEST, known_as, with_target, with_version

# A module begins with its name, so whatever is looked for has a line before it. `re` finds "\n" at
# once, where it would try "^" at every character.
_DECLARED = re.compile(r"\ndeclare .*?@(llvm\.nvvm\.[\w.]+)\(")
_ASSEMBLY = re.compile(r' asm (?:sideeffect )?"((?:\\.|[^"\\])*)"')
_EXTERN = re.compile(r"\n\.extern \.func\s+(?:\([^)]*\)\s*)?([\w.$]+)")
_SYSTEM_CALLS = frozenset({"vprintf", "__assertfail", "malloc", "free"})


@cache
def _by_intrinsic() -> Mapping[str, tuple[Form, ...]]:
    """The forms that each intrinsic may stand for, by its name without the address space."""
    table: dict[str, tuple[Form, ...]] = {}
    for form in warp_forms().values():
        name = call(form, space="").intrinsic
        if name is not None:
            stem = re.sub(r"\.p\d+$", "", name)
            table[stem] = (*table.get(stem, ()), form)
    return table


@cache
def _mnemonic() -> re.Pattern[str]:
    """A matrix instruction in a text of assembly."""
    return re.compile(rf"\b(?:{'|'.join(current().opcodes)})\.[\w.:]+")


def forms_used(ir: str) -> Iterator[Form]:
    """The matrix instruction forms that a module of LLVM IR calls."""
    return _forms(_DECLARED.findall(ir), _assembly(ir))


def _assembly(ir: str) -> Iterator[str]:
    """The texts of inline assembly, the ends of lines as spaces."""
    return (text.replace(r"\0A\09", " ") for text in _ASSEMBLY.findall(ir))


def _forms(called: Iterable[str], assembly: Iterable[str]) -> Iterator[Form]:
    """The forms that intrinsics are, and those in the texts of inline assembly."""
    for name in called:
        stem = re.sub(r"\.p\d+$", "", name)
        yield from _by_intrinsic().get(stem.replace(".stride", ""), ())
    for text in assembly:
        for mnemonic in _mnemonic().findall(text):
            # What is in no table PTX does not document: ptxas will say.
            yield from current().named(split_space(mnemonic)[0])


def ptx_version(ir: str, target: Target) -> PtxVersion:
    """The lowest PTX version that a module of LLVM IR needs on `target`.

    Raises:
        TilecError: if it uses a form that `target` lacks.
    """
    version = target.min_ptx
    called = set(_DECLARED.findall(ir))
    conversions = [c for c in CONVERSIONS.values() if c.intrinsic in called]
    assembly = dict.fromkeys(_assembly(ir))
    words = {word for text in assembly for word in text.split()}
    reductions = [reduction for name, reduction in REDUCTIONS.items() if name in words]
    atomics = {word: found for word in words if (found := atomic_named(word))}
    forms: list[Form | Conversion | Reduction] = [
        *_forms(called, assembly),
        *conversions,
        *reductions,
    ]
    used: list[tuple[str, Form | Conversion | Reduction | Atomic]] = [
        *((one.ptx, one) for one in forms),
        *atomics.items(),
    ]
    for name, one in used:
        needed = one.min_ptx(target)
        if needed is None:
            clauses = ", ".join(f"{s.target} (PTX {s.ptx})" for s in one.since)
            raise TilecError(f"{name} is not available on {target}; it needs {clauses}")
        version = max(version, needed)
    called -= {c.intrinsic for c in conversions}
    others = "\n".join((*sorted(called), *assembly))
    return max(version, first_version(others, target))


def to_ptx(ir: str, target: Target, *, level: int = 3) -> str:
    """PTX of a module of LLVM IR.

    Args:
        ir: the module.
        target: its target.
        level: LLVM's optimisation level, 0 to 3.

    Raises:
        TilecError: if the target lacks a form, LLVM cannot generate code, or the code calls
            a function that nobody defines.
    """
    needed = ptx_version(ir, target)
    feature = min(needed, NEWEST).llvm_feature
    text = generate(ir, cpu=known_as(target), features=feature, level=level)
    _refuse_undefined(text)
    return with_target(with_version(text, needed), target)


def written_version(ptx: str) -> PtxVersion:
    """The version that the header of a PTX module names.

    Raises:
        TilecError: if it has none.
    """
    header = re.search(r"^\.version\s+(\d{1,4})\.(\d{1,4})\b", ptx, re.MULTILINE)
    if not header:
        raise TilecError("the PTX has no .version")
    return PtxVersion(int(header[1]), int(header[2]))


def _refuse_undefined(ptx: str) -> None:
    """Raise if `ptx` calls a function that neither it nor the driver defines.

    LLVM takes an intrinsic that it does not know for such a function.
    """
    for name in _EXTERN.findall(ptx):
        if name in _SYSTEM_CALLS:
            continue
        if name.startswith("llvm."):
            raise CodegenError(f"LLVM 22 has no intrinsic '{name}'")
        hint = ""
        if name.startswith("__nv_"):
            hint = (
                ": it belongs to libdevice, which tilec does not link; write the approximate form"
            )
        raise CodegenError(f"the function '{name}' is not defined{hint}")
