"""``accord studio``: a run in a browser, from its journal; and a person's seat in a game.

`steps` replays the journal as it is written (`shadows` says where the peers stand, `boards` what a game looks like),
`page` makes one file of it to keep, `site` serves it, `beside` a run that goes on. `seat_site` serves the page of a
`runtime.players.seat`. `guard` says who may look.
"""
