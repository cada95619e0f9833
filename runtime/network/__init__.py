"""Transports and clocks."""
