"""Sequence diagrams: what is said in which order, from a spec alone or from a journal of what was said."""
