"""What the rules of Tsuro promise about players."""

PROMISES = {
    "eject(table, player)": "marks player",
    "playing(table, player)": "true only if player is unmarked",
}
