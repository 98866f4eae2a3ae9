"""What `tile-lower-math` makes of ops that are no instruction."""
