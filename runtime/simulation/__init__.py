"""Games of a spec played in memory, all roles together with their rules and players: what data shows, and no proof."""
