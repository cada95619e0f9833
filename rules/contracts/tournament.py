"""What a tournament of pairs promises about players. Marked are those who offended in a game."""

CONTRACTS = {
    "pairs(players)": "pairs of players",
    "both_in(cup, pair)": "whether pair is unmarked",
    "seating(series, number)": "all of series",
    "survivors(cup)": "all of cup",
    "undecided(series)": "true only if nobody is marked",
}
