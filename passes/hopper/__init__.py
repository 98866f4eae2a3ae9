"""What passes on programs for Hopper decide by, and what they make."""
