"""State diagrams: the model, its builder, a writer for each format."""
