"""The form in `tilec.isa` of a `tcgen05` instruction of a text, on its target. PTX ISA 9.7.16."""

from __future__ import annotations

from functools import cache

from tilec.isa import TARGETS, Form, PtxVersion, UnknownNameError, forms
from tilec.isa.instruction_class import Instruction
from tilec.isa.instructions import instructions, named
from tilec.isa.targets import Since, min_ptx
from tilec.isa.tensor_moves import TensorMove
from tilec.isa.tensor_products import A_PLACES, TensorProduct

from .binding import Binding
from .ptx.module import Address
from .ptx.module import Instruction as SourceInstruction

_FAMILY = "tcgen05."


def tensor_form(binding: Binding) -> Instruction | TensorMove:
    """The form of an instruction; of a product by where A lies, too.

    As ptxas does, it takes the qualifiers in any order.

    Raises:
        UnsupportedInstructionError: if there is none, the text's target or PTX version has none, or
            it is for a pair of CTAs in a kernel with some for one.
    """
    found = _known(binding)
    _check_group(binding)
    check_target(binding, found.since, found.ptx.partition(".a::")[0])
    return found


def check_target(binding: Binding, since: tuple[Since, ...], name: str) -> None:
    """Refuse what the target of the text, or its PTX version, does not have.

    Args:
        binding: the instruction.
        since: which have it.
        name: what it is called.

    Raises:
        UnsupportedInstructionError: naming the targets and versions that have it.
    """
    arch, version = binding.machine.arch, binding.frame.program.module.version
    first = min_ptx(since, TARGETS[arch])
    if first is None:
        where = ", ".join(
            f"{s.target} (PTX {max(s.ptx, TARGETS[s.target].min_ptx)})" for s in since
        )
        raise binding.error(f"{name} does not exist on {arch}; it needs {where}")
    if version and PtxVersion.parse(version) < first:
        raise binding.error(f"{name} needs PTX {first} on {arch}; the text is PTX {version}")


def _check_group(binding: Binding) -> None:
    """Refuse a kernel whose instructions are some for one CTA, some for a pair (ISA 9.7.16.5)."""
    program, group = binding.frame.program, _group(binding.instruction)
    first = program.of_group
    if not group:
        return
    if first is None:
        program.of_group = binding.instruction
    elif _group(first) != group:
        where = program.module.source.line(first.position)
        raise binding.error(
            f"'{binding.instruction.mnemonic}' is of {group}, and line {where} of "
            f"{_group(first)}; all of a kernel are of one"
        )


def _group(found: SourceInstruction) -> str:
    return next((word for word in found.modifiers if word.startswith("cta_group::")), "")


def _known(binding: Binding) -> Instruction | TensorMove:
    mnemonic = binding.instruction.mnemonic
    spelling = mnemonic if named(mnemonic) or mnemonic in forms() else _ordered(mnemonic)
    if spelling is None:
        legal = dict.fromkeys(name.partition(".a::")[0] for name in _table())
        raise binding.error(str(UnknownNameError("instruction", mnemonic, legal)))
    found: Instruction | Form | None = forms().get(spelling) or _placed(binding, spelling)
    assert isinstance(found, (Instruction, TensorMove))
    return found


def _placed(binding: Binding, spelling: str) -> Instruction | None:
    """The instruction of a mnemonic with A where it lies, if it is a product."""
    first = named(spelling)
    if not isinstance(first, TensorProduct) or len(binding.operands) < len(A_PLACES):
        return first
    in_tensor = isinstance(binding.operands[1], Address)
    found = named(spelling, A_PLACES[in_tensor])
    if found is None:
        raise binding.error(f"{spelling} takes A in tensor memory, not by a descriptor")
    return found


def _ordered(mnemonic: str) -> str | None:
    """A mnemonic with its words in the order of the table."""
    return _by_words().get(_words(mnemonic))


def _words(mnemonic: str) -> tuple[str, ...]:
    return tuple(sorted(mnemonic.split(".")))


def _table() -> tuple[str, ...]:
    keys = (*instructions(), *forms())
    return tuple(key for key in keys if key.startswith(_FAMILY))


@cache
def _by_words() -> dict[tuple[str, ...], str]:
    """Mnemonics by their words, whose order tells no two apart."""
    spelled = dict.fromkeys(key.partition(".a::")[0] for key in _table())
    return {_words(one): one for one in spelled}
