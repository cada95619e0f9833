"""One role over values that are not known: an abstract interpretation."""
