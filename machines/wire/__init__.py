"""Bytes on the wire: cut into messages (`framing`), and turned into values and back (`codec`)."""
