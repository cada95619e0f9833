"""Strategies: who decides for a client. Pure: what is asked in, an answer out."""
