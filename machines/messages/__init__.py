"""Types and message bodies: how they are written, what fits them, how they are built and recognised. See `types`."""
