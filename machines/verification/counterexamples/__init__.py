"""Runs that show a problem: found, replayed by real sessions."""
