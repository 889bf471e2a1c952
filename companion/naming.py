"""Names that a sense or a box gives to things, in the reader's words where there are any."""

from __future__ import annotations

from companion.words import Words


def named(words: Words, name: str) -> str:
    """Return a thing's name in the reader's language, or as it is written on the box."""
    return words.noun(name) if words.has("noun", name) else name.replace("_", " ")


def colour_named(words: Words, group: str) -> str:
    """Name a group of colour: the second of one name carries a number behind it."""
    colour, _, number = group.partition(" ")
    return f"{named(words, colour)} {number}".rstrip()
