"""Pure games and tournament schedules; they know nothing of messages, sockets or YAML."""
