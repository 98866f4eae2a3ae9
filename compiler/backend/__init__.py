"""From the LLVM dialect to LLVM IR, PTX, cubin and SASS."""
