"""Pictures of a spec: pure functions from the model to DOT."""
