"""What the rules of Trains promise about players. Marked are those who were thrown out."""

CONTRACTS = {
    "choose(entries, left)": "no peers",
    "kick(table, player)": "marks player",
    "mover(table)": "one of table",
    "by_rank(table)": "all of table",
}
