"""How fragments become registers, and their ops NVVM and LLVM: a part a file."""
