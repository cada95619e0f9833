"""What strangers wrote, made safe to print: names, titles and messages may hold anything a terminal would obey."""

from __future__ import annotations

# Characters that do something to a terminal instead of standing in it, and those that turn the order of what follows.
_CONTROLS = {*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)} - {0x0A}
_ESCAPES = {character: f"\\u{character:04x}" for character in _CONTROLS}


def escape_control_characters(text: str) -> str:
    r"""Return a text with its control characters written out, as in ``\u001b``; only line ends stay.

    All that a command prints goes through here. Within JSON the escape means the character that it stands for.
    """
    return text.translate(_ESCAPES)
