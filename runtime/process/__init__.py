"""The process that a command is: how it ends, what it says and where, what holds it, what it may import."""
