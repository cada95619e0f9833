"""The shipped protocols, as data."""
