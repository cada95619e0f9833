"""Whether a program that others wrote keeps to a role: what it may be in, from what is seen on the wire. No I/O."""
