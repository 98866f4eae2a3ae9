"""What `tile-lower-math` makes of ops that are not an instruction."""
