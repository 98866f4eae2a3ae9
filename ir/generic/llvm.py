"""`llvm`, without classes."""
