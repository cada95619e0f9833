"""The only I/O: streams, server, client, clock, journal, players, command line."""
