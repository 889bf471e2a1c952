"""Words for one reader: a language, the game on the table, the names of its players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from babel import Locale
from flask import Request

from companion.errors import CompanionError
from companion.proposal import Device
from companion.words import Missing, Words, languages
from rules.core import Message, Noun, Refusal, Refused, Value

COOKIE = "language"


@cache
def words(language: str, game: str | None, *, strict: bool = False) -> Words:
    """Return a language's texts, read once."""
    return Words(language, game, strict=strict)


def language_names() -> tuple[tuple[str, str], ...]:
    """Return every language there is with its own name for itself."""
    return tuple((code, Locale.parse(code).get_language_name(code) or code) for code in languages())


def language_of(request: Request, otherwise: str) -> str:
    """Return the language of a reader: the chosen one, else the best that the browser asks for."""
    chosen = request.cookies.get(COOKIE)
    if chosen in languages():
        return chosen
    return request.accept_languages.best_match(languages()) or otherwise


class Speech:
    """Says things to one kind of reader."""

    def __init__(self, language: str, game: str | None = None, names: Sequence[str] = ()) -> None:
        self.language = language
        self.words = words(language, game)
        self._checked = words(language, game, strict=True)
        self._names = tuple(names)

    def text(self, key: str, **values: Value) -> str:
        """Return a text of the pages."""
        return self.words.text("web", key, values, self._names)

    def say(self, thing: Message | Refusal | Refused | CompanionError) -> str:
        """Put a message, a refusal or what the companion cannot do into words."""
        return self.words.say(thing, self._names)

    def health(self, device: Device) -> str:
        """Say how a device is: what it reports where it works, else what to do about it."""
        says = self.words.say(device.says, self._names, context="log" if device.ok else "refusal")
        name = self.noun(device.name)
        return f"{name[:1].upper()}{name[1:]}: {says}"

    def trouble(self, message: Message) -> str:
        """Say what is in the way and what to do about it."""
        return self.words.say(message, self._names, context="refusal")

    def do(self, message: Message, **more: Any) -> str:
        """Name a deed as it stands on a button."""
        return self.words.text("do", message.key, {**message.values, **more}, self._names)

    def noun(self, noun: Noun | str, form: str | None = None) -> str:
        """Name a thing."""
        return self.words.noun(noun.key if isinstance(noun, Noun) else noun, form)

    def rule(self, rule: str) -> str:
        """Name what a refusal rests on: a numbered reading in words, a part of the rules as it is printed."""
        try:
            return self._checked.noun("_".join(rule.split()))
        except Missing:
            return rule

    def phase(self, key: str) -> str:
        """Name a part of a turn."""
        return self.words.text("phase", key)

    def option(self, name: str, value: str | None = None) -> str:
        """Ask for a house choice in plain words, or name one of its values."""
        return self.words.text("option", name if value is None else f"{name}.{value}")

    def value(self, value: Value, form: str | None = None) -> str:
        """Put one value into words."""
        return self.words.value(value, self._names, form)

    def refusal(self, code: str, values: Mapping[str, Value]) -> str:
        """Say why something may not be done."""
        return self.words.text("refusal", code, values, self._names)
