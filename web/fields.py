"""A form of the rules as a form of a page: every kind of field written out, and what was filled in read back."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, TypeAlias

from companion import codec
from companion.errors import Unreadable
from rules.core import Choice, Game, Noun, Who
from rules.forms import Amounts, Assign, Count, Field, Order, Pick, Text, Values
from web.speech import Speech

Described: TypeAlias = dict[str, Any]
Filled: TypeAlias = Mapping[str, list[str]]
"""What came in: each name with its values, in their order."""


def described(choice: Choice, speech: Speech, game: Game[Any] | None = None) -> Described:
    """Return a form as the template draws it; fields that leave nothing to fill in are not drawn.

    Values of the box are asked for in the words of their `game`.
    """
    drawn = [_described(name, one, speech, game) for name, one in choice.fields.items() if not one.sole]
    return {"do": choice.kind.do, "fields": drawn}


def _described(name: str, one: Field, speech: Speech, game: Game[Any] | None) -> Described:
    start: Described = {"name": name, "words": thing(name, speech), "hint": ""}
    match one:
        case Pick(among, least, most):
            hint = speech.text("pick_hint", least=least, most=most) if most > 1 else ""
            choices = [(token(value), thing(value, speech)) for value in among]
            return start | {"kind": "pick", "among": choices, "least": least, "most": most, "hint": hint}
        case Count(least, most, step):
            return start | {"kind": "count", "least": least, "most": most, "step": step}
        case Text(most):
            return start | {"kind": "text", "most": most}
        case Amounts():
            return start | {
                "kind": "amounts",
                "cells": list(_amount_cells(name, one, speech)),
                "hint": _totals(one, speech),
            }
        case Values(limits):
            cells = [
                _number(f"f.{name}.{key}", _question(key, speech, game), limit, None) for key, limit in limits.items()
            ]
            return start | {"kind": "values", "cells": cells}
        case Assign(keys, values):
            return start | {"kind": "assign", "cells": _choosers(name, keys, values, speech)}
        case Order(things):
            places = tuple(range(1, len(things) + 1))
            return start | {"kind": "order", "cells": _choosers(name, places, things, speech)}
    raise TypeError(f"a field that no page draws: {type(one).__name__}")


def _number(name: str, words: str, limit: Count, value: int | None) -> Described:
    return {"name": name, "words": words, "least": limit.least, "most": limit.most, "step": limit.step, "value": value}


def _amount_cells(name: str, one: Amounts, speech: Speech) -> Iterator[Described]:
    for row, cells in one.most.items():
        for cell, most in cells.items():
            words = f"{thing(row, speech)}, {thing(cell, speech)}"
            yield _number(f"f.{name}.{token(row)}.{token(cell)}", words, Count(0, most), 0)


def _totals(one: Amounts, speech: Speech) -> str:
    rows = (
        speech.text("row_hint", who=thing(row, speech), least=least, most=most)
        for row, (least, most) in one.total.items()
    )
    return " · ".join(rows)


def _choosers(name: str, keys: tuple[Hashable, ...], values: tuple[Hashable, ...], speech: Speech) -> list[Described]:
    among = [(token(value), thing(value, speech)) for value in values]
    return [
        {"name": f"f.{name}.{token(key)}", "words": thing(key, speech), "among": among, "chosen": token(values[at])}
        for at, key in enumerate(keys)
    ]


def token(value: Hashable) -> str:
    """Return the text by which a value is posted."""
    return value if isinstance(value, str) else codec.dump_json(codec.value_to_data(value))


def thing(value: Hashable, speech: Speech) -> str:
    """Name a value of a form: a seat, a thing of the game, or one part of a thing (`forge.2`)."""
    if isinstance(value, Who | Noun):
        return speech.value(value)
    if not isinstance(value, str):
        return str(value)
    parts = value.replace("/", ".").split(".")
    return " ".join(part if part.isdigit() else speech.noun(part) for part in parts)


def told(name: str, speech: Speech) -> str:
    """Name a value that a box tells, by its parts without the first, which says where it is written."""
    return thing(name.partition(".")[2] or name, speech)


def _question(name: str, speech: Speech, game: Game[Any] | None) -> str:
    """Ask for a value that a box tells: in a sentence of its game, else by its name."""
    asked = None if game is None else game.asks(name)
    return told(name, speech) if asked is None else speech.say(asked)


def read(choice: Choice, filled: Filled) -> dict[str, Any]:
    """Read a filled form as the action's data; raises Unreadable naming the field that does not read."""
    data: dict[str, Any] = {"do": choice.kind.do}
    for name, one in choice.fields.items():
        data[name] = _plain(one.sole[0]) if one.sole else _read(name, one, filled)
    return data


def _plain(value: object) -> Any:
    return codec.parse_json(codec.dump_json(value))


def _read(name: str, one: Field, filled: Filled) -> Any:
    match one:
        case Pick(among):
            return [_one_of(name, among, got) for got in filled.get(f"f.{name}", [])]
        case Count():
            return _whole(name, _single(name, filled, f"f.{name}"))
        case Text():
            return _single(name, filled, f"f.{name}", "")
        case Values(limits):
            given = {key: _single(name, filled, f"f.{name}.{key}", "") for key in limits}
            return {key: _whole(key, got) for key, got in given.items() if got}
        case Amounts(most):
            return {token(row): _read_row(name, row, cells, filled) for row, cells in most.items()}
        case Assign(keys, values):
            return {token(key): _chosen(name, key, values, filled) for key in keys}
        case Order(things):
            return [_chosen(name, at, things, filled) for at in range(1, len(things) + 1)]
    raise TypeError(f"a field that no page reads: {type(one).__name__}")


def _read_row(name: str, row: Hashable, cells: Mapping[Hashable, int], filled: Filled) -> dict[str, int]:
    numbers = {token(cell): _single(name, filled, f"f.{name}.{token(row)}.{token(cell)}", "0") for cell in cells}
    return {cell: int(n) for cell, got in numbers.items() if (n := _whole(name, got or "0"))}


def _chosen(name: str, key: Hashable, values: tuple[Hashable, ...], filled: Filled) -> Any:
    return _one_of(name, values, _single(name, filled, f"f.{name}.{token(key)}"))


def _one_of(name: str, among: tuple[Hashable, ...], got: str) -> Any:
    for value in among:
        if token(value) == got:
            return _plain(value)
    raise Unreadable("wrong_value", field=name, got=codec.shown(got), wants=Noun("another_value"))


def _single(name: str, filled: Filled, key: str, otherwise: str | None = None) -> str:
    values = filled.get(key, [])
    if not values and otherwise is None:
        raise Unreadable("missing_field", field=name)
    return values[-1] if values else otherwise or ""


def _whole(name: str, got: str) -> int:
    try:
        return int(got)
    except ValueError:
        raise Unreadable("wrong_value", field=name, got=codec.shown(got), wants=Noun("whole_number")) from None
