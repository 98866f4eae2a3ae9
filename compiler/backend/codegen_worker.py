"""The process in which LLVM generates code: a script that `codegen` runs, without tilec.

LLVM ends its process where it cannot select an instruction, so the process is not the user's.
Requests and replies are `marshal`ed tuples on standard input and output: (LLVM IR, cpu, features,
optimisation level) in, (succeeded, PTX or message) out. It ends at end of input.
"""

from __future__ import annotations

import marshal
import os
import sys

import llvmlite.binding as llvm

TRIPLE = "nvptx64-nvidia-cuda"

_SELECTION = 2
"""The highest level of instruction selection: 3 takes longer for the same code."""

NEEDLESS = ("early-cse", "slsr", "nary-reassociate")
"""Passes of NVPTX's code generation, a fourth of its time, that find next to nothing: MLIR has
merged what is equal, and addresses are computed in steps where they are made."""


class Machine:
    """What generates code of one module: LLVM numbers what it calls, from one to the next.

    Args:
        cpu: the target.
        features: its features.
        level: of optimisation.
    """

    def __init__(self, cpu: str, features: str, level: int) -> None:
        self._level = level
        self._machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
            cpu=cpu, features=features, opt=min(level, _SELECTION)
        )
        self._module: llvm.ModuleRef | None = None

    def to_ptx(self, ir: str) -> str:
        """PTX of a module of LLVM IR, which is kept as long as this, since freeing takes time.

        Raises:
            RuntimeError: if LLVM cannot parse or verify it.
        """
        module = self._module = llvm.parse_assembly(ir)
        module.triple = TRIPLE
        module.data_layout = str(self._machine.target_data)
        _optimize(module, self._machine, self._level, flat=_is_flat(ir))
        text: str = self._machine.emit_assembly(module)
        return text


def _optimize(
    module: llvm.ModuleRef, machine: llvm.TargetMachine, level: int, *, flat: bool
) -> None:
    """LLVM's optimisations of a module.

    Kernels that were tiles come here without calls to inline or variables in memory, and MLIR has
    taken out of their loops what does not change in them: the rest of -O3 looks at thousands of
    instructions in vain, which takes longer than all else.
    """
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    builder = llvm.create_pass_builder(machine, tuning)
    if level and flat:
        passes = llvm.create_new_module_pass_manager()
        passes.add_loop_unroll_pass()
        passes.add_instruction_combine_pass()
    else:
        passes = builder.getModulePassManager()
    passes.run(module, builder)


def _is_flat(ir: str) -> bool:
    """Whether a module has kernels only, and they keep nothing in local memory."""
    return ir.count("\ndefine ") == ir.count("\ndefine ptx_kernel ") and " = alloca " not in ir


def main() -> None:
    """Serve requests until there are no more."""
    # What LLVM itself may print must not stand among the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    # Addresses are computed where it is cheap already; loop strength reduction would have a counter
    # for each, which costs registers.
    llvm.set_option("", "-disable-lsr")
    llvm.set_option("", f"-opt-disable={','.join(NEEDLESS)}")
    last: tuple[str, str, int] | None = None
    machine: Machine | None = None
    while True:
        try:
            ir, *options = marshal.load(sys.stdin.buffer)
        except EOFError:
            return
        wanted = (*options,)
        try:
            if machine is None or wanted != last:
                machine = Machine(*wanted)
            reply = (True, machine.to_ptx(ir))
        except RuntimeError as error:
            reply = (False, str(error))
        marshal.dump(reply, replies)
        replies.flush()
        # While nobody waits: the next module is mostly for the same target.
        machine, last = machine and Machine(*wanted), wanted


if __name__ == "__main__":
    main()
