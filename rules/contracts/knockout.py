"""What a knock-out promises about players. Marked are those who were thrown out."""

CONTRACTS = {
    "entries(cup)": "no peers",
    "kick(cup, player)": "marks player",
    "groups(cup)": "groups of cup",
    "left(cup)": "some of cup",
    "winners(cup)": "some of cup",
    "losers(cup)": "others of cup",
}
