"""Who decides: one interface, a file for each kind of player."""
