"""What sends operands through shared memory, rounds ahead of their use."""
