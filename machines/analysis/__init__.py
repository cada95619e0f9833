"""What is known of a spec before it runs; read by engine, checks and verification."""
