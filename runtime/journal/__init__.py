"""What is kept of a run: `writing` and `reading` of its journal, `replay` and `recording` of it, and `losses`."""
