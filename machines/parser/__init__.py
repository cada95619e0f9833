"""From YAML text to a `machines.model.Spec`: nodes with places, then the keys one by one, all problems in one pass."""
