"""How compiled kernels are launched: their ABI, arguments, occupancy, and the launch itself."""
