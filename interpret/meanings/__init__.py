"""What ops mean, a dialect or a family a file."""
