"""Which texts a game needs, read from its code: so that a test can say what a language lacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from companion.sheets import house_sheet
from rules.core import Game, Setup

MAKERS = {"Message": ("log",), "Refusal": ("refusal",), "Noun": ("noun",)}
"""What makes a key, and where its text stands."""


def keys(game: Game[Any]) -> frozenset[tuple[str, str]]:
    """Return every (context, key) that a registered game needs, as far as its code names them outright.

    Its deeds on buttons, its options and their values, its phases, the things of its facts and zones, and every
    message, refusal and noun its code makes by name.
    """
    return frozenset(_declared(game)) | spoken(resources.files("rules") / game.key)


def spoken(folder: Traversable) -> frozenset[tuple[str, str]]:
    """Return the keys that the code of a folder names outright."""
    files = (file for file in folder.iterdir() if file.name.endswith(".py"))
    return frozenset(key for file in files for key in _made(ast.parse(file.read_bytes())))


def _declared(game: Game[Any]) -> Iterator[tuple[str, str]]:
    for do, kind in game.actions.items():
        yield "do", do
        yield from (("phase", phase) for phase in kind.phases)
    for name, option in game.options.items():
        yield "option", name
        yield from (("option", f"{name}.{value}") for value in option.values)
    state = game.start(Setup(game.seats[0], sheet=house_sheet(game.key)))
    for fact in game.facts(state).values():
        yield "noun", fact.what.key
        if fact.where is not None:
            yield "noun", fact.where.key
    for zone, pieces in game.shows(state).items():
        yield from (("noun", name) for name in (zone, *pieces))


def _made(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield from ((context, first.value) for context in MAKERS.get(node.func.id, ()))
