"""How ops on tiles of several units become ops on each, op family by op family."""
