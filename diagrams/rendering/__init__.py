"""From DOT to a picture."""
