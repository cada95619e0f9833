"""The command-line harnesses of the course that the games come from, one module a game."""
