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


def to_ptx(ir: str, cpu: str, features: str, level: int) -> str:
    """PTX of a module of LLVM IR.

    Raises:
        RuntimeError: if LLVM cannot parse or verify it.
    """
    machine = llvm.Target.from_triple(TRIPLE).create_target_machine(
        cpu=cpu, features=features, opt=level
    )
    module = llvm.parse_assembly(ir)
    module.triple = TRIPLE
    module.data_layout = str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    text: str = machine.emit_assembly(module)
    return text


def main() -> None:
    """Serve requests until there are no more."""
    # What LLVM itself may print must not stand among the replies.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    while True:
        try:
            request = marshal.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            reply = (True, to_ptx(*request))
        except RuntimeError as error:
            reply = (False, str(error))
        marshal.dump(reply, replies)
        replies.flush()


if __name__ == "__main__":
    main()
