"""Straight runs of instructions executed by machine code, with numpy's semantics bit for bit.

`forms` says what instructions are in LLVM IR, one function for the lanes of a warp; `driver` is
the loop over warps that calls these; `library` compiles both, and keeps what it has compiled;
`stretches` finds runs of instructions that all have a form, and executes them.
"""
