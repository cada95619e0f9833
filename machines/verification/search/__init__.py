"""All roles together: the state space and what is left out of it, with the reasons."""
