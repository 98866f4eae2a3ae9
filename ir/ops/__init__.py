"""Functions that make upstream's ops: a file a dialect, each function named after its op.

Operands come first, then what the op says by attributes: predicates, kinds and modes by name.
Result types follow from the operands where they can, and come last where they cannot.
"""
