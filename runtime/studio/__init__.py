"""``accord studio``: a run in a browser, from its journal.

`steps` replays the journal (`shadows` says where the peers stand, `boards` what a game looks like), `page` makes one
file of it to keep, and `site` serves it on this machine.
"""
