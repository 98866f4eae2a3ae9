"""Operands between numpy and memory, fragments and registers."""
