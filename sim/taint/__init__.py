"""Values that nothing has written, and what comes of them.

A register, shared or local memory that is read before it is written makes what is read
undefined, not wrong: kernels read stages and lanes that they never use. So it is followed, bit by
bit, until it reaches global memory, a branch, an address or the operand of a barrier. Nothing is
followed in a wave until something undefined is read (`state`); from then on every instruction has a
flow, which says of its results what is undefined, before it is executed (`watcher`). Which of the
`flows` that is, an instruction declares where it is bound (`instructions.registry`).
"""
