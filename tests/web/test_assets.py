"""What is sent to a browser: vendored code as it was vetted, within the budget, nothing inline, no game's name."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

import rules
import web
from rules.registry import GAMES
from web.shapes import SHAPES, STRANGER, mark

WEB = Path(web.__file__).parent
SCRIPTS = sorted((WEB / "static" / "js").glob("*.js"))
TEMPLATES = sorted([*(WEB / "templates").glob("*.html"), *(WEB / "games").glob("*/*.html")])
SCRIPT_BUDGET, STYLE_BUDGET = 45_000, 10_000
LONGEST_MODULE = 500


def gz(*paths: Path) -> int:
    return sum(len(gzip.compress(path.read_bytes(), 9)) for path in paths)


def test_vendored_code_is_what_was_vetted() -> None:
    vendor = WEB / "static" / "vendor"
    known = json.loads((vendor / "checksums.json").read_text())
    assert {path.name for path in vendor.glob("*.js")} == set(known)
    for name, entry in known.items():
        assert hashlib.sha256((vendor / name).read_bytes()).hexdigest() == entry["sha256"], name


def test_scripts_and_styles_stay_within_the_budget_of_a_page() -> None:
    assert gz(*SCRIPTS, *(WEB / "static" / "vendor").glob("*.js")) <= SCRIPT_BUDGET
    for style in (WEB / "games").glob("*/page.css"):
        assert gz(WEB / "static" / "css" / "companion.css", style) <= STYLE_BUDGET, style


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_our_modules_are_short_and_checked(script: Path) -> None:
    lines = script.read_text().splitlines()
    assert lines[0] == "// @ts-check"
    assert len(lines) < LONGEST_MODULE
    assert not re.search(r"\beval\b|randomUUID|new Function", script.read_text())


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_script_and_no_style_stands_in_a_page(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"\sstyle=|\son\w+=|<style|javascript:|\| ?safe\b", text)
    assert re.findall(r"<script(?![^>]*\ssrc=)", text) == []


def test_only_a_games_own_folder_names_it() -> None:
    names = re.compile("|".join(rf"\b{key}\b" for key in GAMES))
    ours = [path for path in WEB.rglob("*") if path.suffix in (".py", ".html", ".js", ".css", ".po")]
    outside = [path for path in ours if WEB / "games" not in path.parents]
    assert [str(path.relative_to(WEB)) for path in outside if names.search(path.read_text(encoding="utf-8"))] == []


def test_colours_sizes_and_times_are_tokens() -> None:
    for style in [WEB / "static" / "css" / "companion.css", *(WEB / "games").glob("*/page.css")]:
        rules = re.sub(r":root[^{]*\{[^}]*\}", "", style.read_text())
        literal = set(re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(|\b\d+m?s\b", rules))
        assert literal <= {"#fff", "#000"}, style  # outlines over a photograph, whatever the theme
        sizes = set(re.findall(r"font-size: ([^;}]+)", rules))
        assert all(size.strip().startswith(("var(", "inherit", "min(")) for size in sizes), sizes


def test_every_colour_has_one_shape_of_its_own() -> None:
    assert len(set(SHAPES.values())) == len(SHAPES) == 15
    assert f"c-{STRANGER}" in mark("chartreuse")
    style = (WEB / "static" / "css" / "companion.css").read_text()
    for colour in SHAPES:
        assert f".c-{colour} {{ --piece: var(--{colour}); }}" in style
        assert SHAPES[colour] in mark(colour)


def test_the_picture_for_the_readme_is_small() -> None:
    assert (WEB / "help" / "tablet.png").stat().st_size < 120_000


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_page_and_a_guide_in_both_languages(game: str) -> None:
    assert (WEB / "games" / game / "page.html").is_file()
    for language in ("en", "de"):
        guide = Path(rules.__file__).parent / game / "guide" / f"{language}.md"
        assert guide.read_text(encoding="utf-8").startswith("# ")
