"""YAML to nodes with places: `nodes` reads it, `flow_style` takes calls and lists inside braces as they stand."""
