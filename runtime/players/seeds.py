"""Seeds of the parts of a run, each derived from the seed of the whole."""

from __future__ import annotations

from hashlib import sha256


def derived_seed(seed: int, *path: object) -> int:
    """Return a seed of 63 bits that depends on the run's seed and a path, on nothing else, on every machine."""
    text = "/".join(map(str, (seed, *path)))
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big") >> 1
