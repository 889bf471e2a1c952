"""Words: the same keys in each language, the same values in each text, none missing, none unkind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from random import Random

import pytest

from companion import players, wordlist
from companion.errors import Unreadable
from companion.refused import message_of
from companion.words import PLACE, Book, Missing, Words, files, languages, read
from rules.core import TABLE, Choice, Message, Money, Noun, Refusal, Refused, Who, moves
from rules.registry import GAMES
from tests.rules import drive
from vision.errors import CalibrationRefused

LANGUAGES = languages()
ROOT = Path(__file__).parents[2]
UNKIND = re.compile(r"\b(errors?|invalid|please|bitte|fehler|ungültig)\b", re.IGNORECASE)
SHOUTS = {do for game in GAMES.values() for do, kind in game.actions.items() if kind.called}
"""What the box itself has players call out."""
NAMES = ("Anna", "Ben", "Cleo", "Dora", "Emil", "Finn")


def books() -> Iterator[tuple[str, dict[str, Book]]]:
    """Return each folder's books by language."""
    by_language = {language: list(files(language)) for language in LANGUAGES}
    for at, (key, file) in enumerate(by_language["en"]):
        found = {language: by_language[language][at][1] for language in LANGUAGES}
        if any(one.is_file() for one in found.values()):
            yield f"{key or ''}:{file}", {language: Book(read(one)) for language, one in found.items()}


BOOKS = dict(books())


def test_there_are_english_and_german() -> None:
    assert {"en", "de"} <= set(LANGUAGES)


@pytest.mark.parametrize("folder", BOOKS)
def test_each_language_has_the_same_keys_and_every_text(folder: str) -> None:
    first, *others = BOOKS[folder].values()
    for other in others:
        assert other.texts.keys() == first.texts.keys()
    for language, book in BOOKS[folder].items():
        assert [key for key, texts in book.texts.items() if not texts or not all(texts)] == [], language


@pytest.mark.parametrize("folder", BOOKS)
def test_each_language_puts_in_the_same_values(folder: str) -> None:
    first, *others = BOOKS[folder].values()
    for other in others:
        for key, texts in first.texts.items():
            assert _places(texts) == _places(other.texts[key]), key
            assert len(texts) == len(other.texts[key]), key


def _places(texts: tuple[str, ...]) -> set[str]:
    return {place[1] for text in texts for place in PLACE.finditer(text)} - {"n"}


@pytest.mark.parametrize("folder", BOOKS)
def test_texts_are_kind_and_short(folder: str) -> None:
    for language, book in BOOKS[folder].items():
        for (context, key), texts in book.texts.items():
            for text in texts:
                assert not UNKIND.search(text), (language, context, key, text)
                assert "!" not in text or key in SHOUTS, (language, context, key, text)
                assert len(text) <= 400, (language, context, key)


def core_keys() -> list[tuple[str, str]]:
    """Return every key that the code of rules/ itself makes, and that core builds from parts."""
    built = {("log", f"move_{what}_{way}") for what in ("money", "bank", "pieces") for way in ("more", "less")}
    return sorted(wordlist.spoken(resources.files("rules")) | built)


@pytest.mark.parametrize(("context", "key"), core_keys())
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_key_of_the_rules_core_is_missing(language: str, context: str, key: str) -> None:
    words = Words(language, strict=True)
    assert words.text(context, key, _anything(language, context, key))


def _anything(language: str, context: str, key: str) -> dict[str, str | int]:
    book = BOOKS[next(folder for folder in BOOKS if folder.startswith(":"))][language]
    return {place[1]: 3 for text in book.texts[context, key] for place in PLACE.finditer(text)}


def raised_codes() -> set[str]:
    """Return the code of every CompanionError that companion/ raises by name."""
    found = set()
    for file in (ROOT / "companion").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
                first = node.args[0]
                if node.func.id in ERRORS and isinstance(first, ast.Constant):
                    found.add(str(first.value))
    return found


ERRORS = {
    "Unreadable", "Stale", "NotAllowed", "NoGame", "Undecided", "JournalDamaged", "JournalFull", "JournalInUse",
    "CompanionError",
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_that_companion_raises_has_words(language: str) -> None:
    words = Words(language)
    assert [code for code in sorted(raised_codes()) if words._found("refusal", code, None) is None] == []


VISION_REFUSES = re.compile(r"""(?:PictureRefused|CalibrationRefused|_refused)\(\s*"([a-z_0-9]+)\"""")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_picture_and_table_that_vision_refuses_has_a_cure_in_words(language: str) -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "vision").rglob("*.py"))
    codes = set(VISION_REFUSES.findall(text)) | {"hand", "turned", "frozen"}
    words = Words(language)
    assert [code for code in sorted(codes) if not words.has("refusal", code)] == []


def test_colours_that_look_alike_are_named_in_the_readers_language() -> None:
    error = CalibrationRefused("colours_alike", {"first": "gold", "second": "orange", "apart": 1.2, "least": 2.0})
    said = Words("de", strict=True).say(message_of(error), context="refusal")
    assert said.startswith("Gold und Orange sehen in diesem Licht gleich aus.")


def test_pieces_that_are_too_small_are_told_by_how_many_pixels() -> None:
    error = CalibrationRefused("pieces_small", {"length_px": 17.6, "least_px": 24.0})
    said = Words("en", strict=True).say(message_of(error), context="refusal")
    assert "18 pixels long, 24 are needed" in said
    assert said.endswith("Bring the camera nearer.")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", GAMES)
def test_a_game_has_every_text_its_code_names(key: str, language: str) -> None:
    words = Words(language, key)
    missing = [
        (context, name)
        for context, name in sorted(wordlist.keys(GAMES[key]))
        if words._found(context, name, None) is None
    ]
    assert missing == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", GAMES)
def test_whole_games_can_be_told(key: str, language: str) -> None:
    """Everything a random game says: steps, refusals, moves, views, ends."""
    game, words = GAMES[key], Words(language, key, strict=True)
    for seed in range(3):
        random = Random(seed)
        state = drive.start(key, game.seats[seed % len(game.seats)], seed)
        player = players.RandomPlayer(random)
        while (who := players.next_mover(game, state)) is not None:
            action = player.act(game, state, who)
            assert words.say(action.tell(game.see(state, None), who), NAMES)
            after = game.apply(state, who, action)
            for move in moves(game.facts(state), game.facts(after)):
                assert words.say(move, NAMES)
            if random.random() < 0.1:
                _say_offers(game, words, state)
            state = after
        for reason in game.scored(state).reasons:
            assert words.say(reason, NAMES)


def _say_offers(game: object, words: Words, state: object) -> None:
    for who in (TABLE, 0):
        for offer in game.choices(state, who, None).values():  # type: ignore[attr-defined]
            if isinstance(offer, Refusal):
                assert words.say(offer, NAMES)
            elif isinstance(offer, Choice):
                assert words.value({**offer.about}, NAMES) is not None


@pytest.fixture
def words() -> Words:
    return Words("en")


def test_names_money_and_nouns_are_put_in(words: Words) -> None:
    message = Message("move_money_less", {"who": Who(1), "money": Money(1320)})
    assert words.say(message, NAMES) == "Ben gives 1,320 back."
    assert Words("de").say(message, NAMES) == "Ben gibt 1.320 zurück."


def test_a_seat_without_a_name_and_the_table_have_words(words: Words) -> None:
    assert words.value(Who(3)) == "seat 4"
    assert words.value(Who(TABLE)) == "the table"


@pytest.mark.parametrize("seat", [-7, 99, 10**40])
def test_a_seat_that_is_not_there_is_said_so(words: Words, seat: int) -> None:
    assert words.value(Who(seat), NAMES) == "a seat that is not there"
    assert words.value(Who(-7)) == "a seat that is not there"


def test_a_sentence_that_begins_with_the_table_begins_with_a_capital(words: Words) -> None:
    turn = Refusal("not_your_turn", "act", {"who": Who(TABLE), "turn": (Who(0),)})
    assert words.say(turn, NAMES) == "It is not the turn of the table. Now: Anna."
    assert Words("de").say(turn, NAMES) == "Der Tisch ist nicht an der Reihe. Jetzt: Anna."
    lower = Refusal("not_your_turn", "act", {"who": Who(0), "turn": (Who(TABLE),)})
    assert Words("de").say(lower, ["anna"]) == "anna ist nicht an der Reihe. Jetzt: der Tisch."


@pytest.mark.parametrize(
    ("first", "zeros", "said"),
    [
        (999_999, 9, "999,999,000,000,000"),
        (1, 15, "1,000,000,000…"),
        (-1, 40, "-1,000,000,000…"),
        (12345678901, 5000, "1,234,567,890…"),
    ],
)
def test_a_huge_number_is_said_by_its_beginning(words: Words, first: int, zeros: int, said: str) -> None:
    number = first * 10**zeros
    assert words.value(number) == words.value(Money(number)) == said


def test_what_a_terminal_would_obey_is_not_said(words: Words) -> None:
    assert words.value("a\x1b[31m\nb\u2028\xa0c") == "a·[31m·b·\xa0c"


def test_the_number_decides_the_plural(words: Words) -> None:
    assert words.say(Message("decide", {}), context="refusal") == "decide"
    assert "step that" in words.text("refusal", "decide_first", {"n": 1})
    assert "2 steps that" in words.text("refusal", "decide_first", {"n": 2})


def test_an_optional_part_is_left_out_where_a_value_is_missing(words: Words) -> None:
    assert words.say(Message("mend", {"reason": "", "what": ()})) == "Set right by hand."
    assert words.say(Message("mend", {"reason": "a cat", "what": ()})) == "Set right by hand (a cat)."


def test_sentences_in_a_sentence_are_said_too(words: Words) -> None:
    moved = (Message("move_money_less", {"who": Who(0), "money": Money(40)}),) * 2
    said = words.say(Message("mend", {"reason": "", "what": moved}), NAMES)
    assert said == "Set right by hand. Anna gives 40 back. Anna gives 40 back."


def test_names_are_never_read_as_places(words: Words) -> None:
    said = words.say(Message("move_money_less", {"who": Who(0), "money": Money(40)}), ["{money} [x|y]"])
    assert said == "{money} [x|y] gives 40 back."


def test_a_missing_text_is_its_key_and_raises_where_tests_ask(words: Words, caplog: pytest.LogCaptureFixture) -> None:
    assert words.say(Message("no_such_thing")) == "no such thing"
    assert "no_such_thing" in caplog.text
    with pytest.raises(Missing):
        Words("en", strict=True).say(Message("no_such_thing"))


def test_refusals_and_what_is_raised_are_said_alike(words: Words) -> None:
    refusal = Refusal("out_of_range", "p. 1", {"got": 16, "least": 0, "most": 15})
    assert words.say(refusal) == words.say(Refused(refusal)) == "16 does not go here. It goes from 0 to 15."
    assert words.say(Unreadable("no_such_game", got="7", known=())) == "There is no game 7."


def test_a_noun_may_have_a_form_of_its_own(words: Words) -> None:
    assert words.value(Noun("yes"), form="in") == "yes"


def test_an_unknown_language_is_told_with_those_there_are() -> None:
    with pytest.raises(Unreadable) as error:
        Words("xx")
    assert error.value.values["known"] == LANGUAGES


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "xx.po"
    file.write_text("this is no list of words", encoding="utf-8")
    with pytest.raises(Unreadable, match="words_unreadable"):
        read(file)
