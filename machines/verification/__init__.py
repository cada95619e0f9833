"""Both roles together: every run of a protocol within bounds, and what can go wrong in one. `search` begins here."""
