"""Boards for people: as text for the terminal and as SVG."""
