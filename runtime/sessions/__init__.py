"""What drives a session of the core over connections."""
