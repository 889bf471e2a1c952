"""Messages in the reader's language: .po files beside the code that speaks, read by Babel at start, kept in memory.

A msgid is a key, its msgctxt the kind of thing: `log` (what happened, by `do`), `refusal`, `noun`, `phase`, `option`,
`do` (a deed on a button), `setting`, `web`. In a text `{who}` is a value, `{where.in}` the noun's form `in` (msgid
`forge.in`, else `forge`), `[ ... ]` a part that is left out where one of its values is missing, `[a|b]` the first part
that is not.
"""

from __future__ import annotations

import gettext
import io
import logging
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from babel import Locale
from babel.lists import format_list
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import PoFileError, read_po
from babel.numbers import format_decimal

from companion.errors import CompanionError, Unreadable
from rules.core import TABLE, Message, Money, Noun, Refusal, Refused, Value, Who
from rules.registry import GAMES

log = logging.getLogger(__name__)

PACKAGES = ("companion", "web")
SENTENCES = ("log", "refusal")
PLACE = re.compile(r"\{(\w+)(?:\.(\w+))?\}")
PART = re.compile(r"\[([^\]]*)\]")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What a terminal would obey, or a line would end at."""
HUGE = 10**15
SHOWN_DIGITS = 9


class Missing(LookupError):
    """A text that a language does not have."""


def languages() -> tuple[str, ...]:
    """Return the languages there are: those that have files beside the companion's own code."""
    folder = resources.files("companion") / "words"
    return tuple(sorted(one.name[:-3] for one in folder.iterdir() if one.name.endswith(".po")))


class Words:
    """One language's texts, of all packages and of one game before all others.

    `strict` raises Missing for a text that is not there; else its key is shown and the log says so.
    """

    def __init__(self, language: str, game: str | None = None, *, strict: bool = False) -> None:
        if language not in languages():
            raise Unreadable("unknown_language", got=language, known=languages())
        self.language = language
        self._locale = Locale.parse(language)
        self._strict = strict
        self._books = _books(language, game)
        self._told: set[tuple[str, str]] = set()

    def say(
        self, thing: Message | Refusal | Refused | CompanionError, names: Sequence[str] = (), *, context: str = ""
    ) -> str:
        """Put a message or a refusal into words; `names` are the players' by seat."""
        match thing:
            case Message(key, values):
                of = "refusal" if self._found("log", key, None) is None else "log"
                return self.text(context or of, key, values, names)
            case Refusal(code, _, values):
                return self.text(context or "refusal", code, values, names)
            case Refused():
                return self.say(thing.refusal, names)
        return self.text(context or "refusal", thing.code, thing.values, names)

    def text(self, context: str, key: str, values: Mapping[str, Value] | None = None, names: Sequence[str] = ()) -> str:
        """Return the text of a key with its values put in; the value `n` decides the plural."""
        values = values or {}
        n = values.get("n")
        template = self._found(context, key, n if isinstance(n, int) else None)
        if template is None:
            return self._missed(context, key)
        template = PART.sub(lambda part: _chosen(part[1], values), template)
        text = PLACE.sub(lambda place: self._placed(place, values, names), template)
        is_given = _is_given(template, values, names)
        return text[:1].upper() + text[1:] if context in SENTENCES and not is_given else text

    def noun(self, key: str, form: str | None = None) -> str:
        """Return a thing's name, in a form where it has that one (`in`: "in the forge")."""
        found = self._found("noun", f"{key}.{form}", None) if form else None
        return found or self._found("noun", key, None) or self._missed("noun", key)

    def has(self, context: str, key: str) -> bool:
        """Say whether there is a text of a key."""
        return self._found(context, key, None) is not None

    def value(self, value: Value, names: Sequence[str] = (), form: str | None = None) -> str:
        """Put one value into words."""
        match value:
            case Who(seat):
                return names[seat] if 0 <= seat < len(names) else self._unnamed(seat, names)
            case Noun(key):
                return self.noun(key, form)
            case Money(amount):
                return self._number(amount)
            case Message():
                return self.say(value, names)
            case bool():
                return self.noun("yes" if value else "no")
            case int():
                return self._number(value)
            case tuple():
                return self._listed(value, names, form)
            case Mapping():
                return "; ".join(f"{name}: {self.value(one, names)}" for name, one in value.items())
        return CONTROL.sub("·", value or "")

    def _listed(self, values: tuple[Value, ...], names: Sequence[str], form: str | None) -> str:
        said = [self.value(one, names, form) for one in values]
        if values and all(isinstance(one, Message) for one in values):
            return " ".join(said)
        return format_list(said, locale=self._locale) if said else ""

    def _number(self, number: int) -> str:
        """Say a whole number; of a huge one, which nobody means, the beginning."""
        if abs(number) < HUGE:
            return format_decimal(number, locale=self._locale)
        spare = 10 ** max(0, int(math.log10(abs(number))) - SHOWN_DIGITS)
        shown = format_decimal(abs(number) // spare, locale=self._locale)
        return f"{'-' if number < 0 else ''}{shown}…"

    def _unnamed(self, seat: int, names: Sequence[str]) -> str:
        if seat == TABLE:
            return self.noun("the_table")
        if names or seat < 0:
            return self.noun("no_seat")
        return self.text("noun", "seat", {"number": seat + 1})

    def _placed(self, place: re.Match[str], values: Mapping[str, Value], names: Sequence[str]) -> str:
        name, form = place[1], place[2]
        value = values.get(name)
        if name == "do" and isinstance(value, str):
            return self.text("do", value)
        if value is None and name not in values:
            return self._missed("value", name)
        return self.value(value, names, form)

    def _found(self, context: str, key: str, n: int | None) -> str | None:
        for book in self._books:
            if (found := book.find(context, key, n)) is not None:
                return found
        return None

    def _missed(self, context: str, key: str) -> str:
        if self._strict:
            raise Missing(f"{self.language}: no text for {context} {key!r}")
        if (context, key) not in self._told:
            self._told.add((context, key))
            log.warning("no text for %s %r in %s", context, key, self.language)
        return key.replace("_", " ")


class Book:
    """One .po file's texts in memory."""

    def __init__(self, catalogue: Catalog) -> None:
        data = io.BytesIO()
        write_mo(data, catalogue)
        data.seek(0)
        self._texts = gettext.GNUTranslations(data)
        self.texts = {(m.context or "", key_of(m.id)): strings_of(m.string) for m in catalogue if m.id}
        """Every text by context and key, each with its plural forms."""

    def find(self, context: str, key: str, n: int | None) -> str | None:
        """Return a text, in the form for `n` things where it has several; None where there is none."""
        texts = self.texts.get((context, key), ())
        if not texts or not all(texts):
            return None
        if len(texts) == 1:
            return texts[0]
        return self._texts.npgettext(context, key, key, 1 if n is None else n)


def read(file: Traversable) -> Catalog:
    """Read a .po file; raises Unreadable naming the file and the line."""
    try:
        return read_po(io.BytesIO(file.read_bytes()), abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise Unreadable("words_unreadable", file=file.name, why=str(error)) from error


def files(language: str) -> Iterator[tuple[str | None, Traversable]]:
    """Return each .po file of a language with the key of the game it belongs to, None for what all games share."""
    for package in PACKAGES:
        yield None, resources.files(package) / "words" / f"{language}.po"
    for key in GAMES:
        yield key, resources.files("rules") / key / "words" / f"{language}.po"


def _books(language: str, game: str | None) -> tuple[Book, ...]:
    """Return the books in which to look, in their order: the game's own, those of all games, those of other games."""
    rank: dict[str | None, int] = {None: 1} if game is None else {game: 0, None: 1}
    return tuple(book for _, book in sorted(_all_books(language), key=lambda one: rank.get(one[0], 2)))


@cache
def _all_books(language: str) -> tuple[tuple[str | None, Book], ...]:
    return tuple((key, Book(read(file))) for key, file in files(language) if file.is_file())


def _chosen(part: str, values: Mapping[str, Value]) -> str:
    """Return the first alternative of an optional part whose values are all there, else nothing."""
    for one in part.split("|"):
        if all(values.get(place[1]) not in (None, (), "") for place in PLACE.finditer(one)):
            return one
    return ""


def _is_given(template: str, values: Mapping[str, Value], names: Sequence[str]) -> bool:
    """Whether a text begins with a player's name or with what somebody wrote: that keeps its first letter."""
    first = PLACE.match(template)
    if first is None or first[1] == "do":
        return False
    match values.get(first[1]):
        case Who(seat):
            return 0 <= seat < len(names)
        case given:
            return isinstance(given, str)


def key_of(found: str | Sequence[str]) -> str:
    """Return a .po entry's key: its msgid, without the plural one."""
    return found if isinstance(found, str) else found[0]


def strings_of(found: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return a .po entry's texts: one, or one a plural form."""
    return (found,) if isinstance(found, str) else tuple(found or ())
