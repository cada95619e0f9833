"""What the rules of Tsuro promise about players."""

CONTRACTS = {
    "eject(table, player)": "marks player",
    "playing(table, player)": "true only if player is unmarked",
}
