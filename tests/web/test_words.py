"""Everything the pages say, in both languages, in short plain words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from babel.messages.pofile import read_po

import web
from companion.words import Words, languages
from tests.web.house import Device, House
from web.conduct import Plays
from web.failures import HTTP_CODES
from web.help_pages import PAGES, TOPICS

WEB = Path(web.__file__).parent
SOURCES = [*WEB.rglob("*.py"), *WEB.rglob("*.html")]
USED = re.compile(r"""\bt\(\s*["']([a-z_]+)["'][,)]|\b(?:speech|speech\(\))\.text\(\s*["']([a-z_]+)["'][,)]""")
RAISED = re.compile(r"""(?:NotAllowed|Unreadable|NoGame)\(["']([a-z_]+)["']""")
MADE = {
    *(f"theme_{one}" for one in ("light", "dark", "system")),
    *(f"money_{one}" for one in ("tablet", "box")),
    *(f"depth_{one}" for one in ("referee", "score")),
    *(f"{what}_{one}" for what in ("seat", "make") for one in get_args(Plays)),
    *(f"values_{one}" for one in ("box", "house")),
    *(f"{step}{more}" for step in ("tray_empty", "tray_pieces", "gems_empty", "gems_pieces") for more in ("", "_more")),
    *(f"{other}{way}" for other in ("", "other_", "all_others_") for way in ("gains", "pays")),
    *("role_table", "role_seat", "role_seat_other", "role_watch"),
    *("menu_look_here", "menu_look_away", "back_to_table", "back_to_start", "left_title", "fell_title", "left_more"),
    "fell_more",
    *HTTP_CODES.values(),
}
"""Keys that are put together where they are used."""
SIDES = ("/table/more", "/table/seats", "/table/mend", "/table/pad", "/table/invite")
NEVER = re.compile(r"\b(error|invalid|please|fehler|ungültig|bitte)\b", re.IGNORECASE)


def catalogue(language: str) -> dict[tuple[str, str], list[str]]:
    with (WEB / "words" / f"{language}.po").open("rb") as file:
        found = read_po(file, abort_invalid=True)
    texts = {}
    for one in found:
        key = one.id if isinstance(one.id, str) else one.id[0]
        if key:
            texts[one.context or "", key] = [one.string] if isinstance(one.string, str) else list(one.string)
    return texts


def used_keys() -> set[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    return {first or second for first, second in USED.findall(text)}


def test_there_are_words_in_english_and_german() -> None:
    assert {"en", "de"} <= set(languages())


@pytest.mark.parametrize("language", languages())
def test_every_text_a_page_asks_for_is_there(language: str) -> None:
    texts = catalogue(language)
    there = {key for context, key in texts if context == "web"}
    assert used_keys() - there - MADE == set()
    assert {key for key in MADE if key not in there} == set()
    assert all(all(one.strip() for one in text) for text in texts.values())


def test_no_text_is_left_over() -> None:
    there = {key for context, key in catalogue("en") if context == "web"}
    assert there - used_keys() - MADE == set()


def test_both_languages_have_the_same_texts_with_the_same_values() -> None:
    english, german = catalogue("en"), catalogue("de")
    assert english.keys() == german.keys()
    for key, texts in english.items():
        values = [set(re.findall(r"\{(\w+)", " ".join(one))) for one in (texts, german[key])]
        assert values[0] == values[1], key


@pytest.mark.parametrize("language", languages())
def test_no_text_blames_begs_or_shouts(language: str) -> None:
    for key, texts in catalogue(language).items():
        for text in texts:
            assert not NEVER.search(text), key
            assert "!" not in text, key


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("code", sorted(set(RAISED.findall("\n".join(path.read_text() for path in WEB.rglob("*.py"))))))
def test_everything_a_page_refuses_has_words(language: str, code: str) -> None:
    assert Words(language).text("refusal", code, {"got": "x", "n": 1}) != code.replace("_", " ")


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    "path",
    ["/", "/play", "/count", "/what", "/count/pieces", "/join", "/devices", "/calibrate", "/help", "/table", *SIDES],
)
def test_every_page_reads_in_the_readers_language(
    home: House, tablet: Device, language: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    tablet.language = language
    assert tablet.get(path).status_code == 200
    assert [one.getMessage() for one in caplog.records if "no text" in one.getMessage()] == []


def test_a_chosen_language_comes_before_the_browsers(tablet: Device) -> None:
    tablet.post("/choose", {"language": "de"})
    assert '<html lang="de"' in tablet.get("/").get_data(as_text=True)


@pytest.mark.parametrize("name", TOPICS)
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_help_page_is_there(tablet: Device, name: str, language: str) -> None:
    assert (PAGES / f"{name}.{language}.md").is_file()
    tablet.language = language
    page = tablet.get(f"/help/{name}").get_data(as_text=True)
    assert "<h2>" in page or "<p>" in page
    assert not NEVER.search(re.sub(r"<[^>]+>", " ", page))


def test_a_games_guide_is_shown(tablet: Device) -> None:
    links = re.findall(r'href="(/help/game/\w+)"', tablet.get("/help").get_data(as_text=True))
    assert links
    assert "<ol>" in tablet.get(links[0]).get_data(as_text=True)


@pytest.mark.parametrize("depth", ["referee", "score", "count"])
@pytest.mark.parametrize("role", ["table", "seat", "watch"])
def test_no_region_shows_what_stands_behind_it(home: House, depth: str, role: str) -> None:
    home.begin(depth=depth)
    devices = {"table": home.tablet, "seat": lambda: home.phone(0), "watch": home.device}
    page = devices[role]().table()
    for behind in ("&lt;Macro", "<Macro", "&lt;function", "Undefined", "&lt;bound"):
        assert behind not in page
