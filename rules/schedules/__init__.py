"""Who plays whom in an event, and what comes of it: pairings, standings, ratings. Pure: numbers in, numbers out.

A player is a number from 0, in order of seeding. A round is a list of tables, and a table the players who sit at it, in
the order of their seats. Whoever plays at no table of a round has a bye.
"""
