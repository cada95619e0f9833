"""What the rules of Santorini promise about players."""

CONTRACTS = {
    "forfeit(play, player)": "marks player",
    "offenders(play)": "marked of play",
    "verdict(play, player)": "'CHEATER' if and only if player is marked",
    "mover(play)": "one of play",
}
