"""The form that mends: every countable fact in words and in groups, what lies on the table first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import render_template, request

from companion.codec import fingerprint
from companion.view import seen
from rules.core import TABLE, Fact, Who
from web import desk, fields

PRINTED = "printed"
MARKER = "marker"


def form(filled: Mapping[str, int]) -> str:
    """Show every countable fact, filled in as the table is, or as a refused action would have made it."""
    snapshot = desk.game_on_table()
    assert snapshot.game is not None
    view = seen(snapshot, desk.sight("table").eyes)
    offer = view.offers[TABLE]["mend"]
    assert offer.choice is not None  # a mend is offered always
    return render_template(
        "side_mend.html",
        groups=_grouped(snapshot.game.facts(view.state), filled),
        fingerprint=fingerprint(snapshot.game, TABLE, "mend", offer.choice),
        reason=request.args.get("reason", ""),
    )


def _grouped(facts: Mapping[str, Fact], filled: Mapping[str, int]) -> list[tuple[str, list[dict[str, Any]]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for name, fact in sorted(facts.items(), key=lambda pair: not pair[1].on_table):
        groups.setdefault(_group(fact), []).append(_described(name, fact, filled.get(name)))
    return list(groups.items())


def _group(fact: Fact) -> str:
    speech = desk.speech()
    if fact.what.key == PRINTED:
        return speech.noun(fact.what)
    if fact.whose is not None and fact.what.key != MARKER:
        return speech.value(Who(fact.whose))
    return speech.noun(fact.where or fact.what)


def _described(name: str, fact: Fact, filled: int | None) -> dict[str, Any]:
    now = fact.value if filled is None else filled
    return {
        "name": name,
        "words": _words(name, fact),
        "now": now,
        "changed": now != fact.value,
        "least": fact.least,
        "most": fact.most,
        "step": fact.step,
        "among": _among(fact),
    }


def _words(name: str, fact: Fact) -> str:
    """Name a fact within its group: a place of a row by its number, a value of the board by where it is printed."""
    speech = desk.speech()
    if fact.at is not None:
        return speech.text("place_in_row", at=fact.at)
    if fact.what.key == PRINTED:
        return fields.told(name, speech)
    named = (None if fact.what.key == MARKER else fact.what, fact.where)
    return ", ".join(speech.noun(one) for one in named if one is not None)


def _among(fact: Fact) -> list[tuple[int, str]]:
    """Return whom a marker may stand for: a seat; at a place of a row also nobody, the number after the last seat's."""
    header, speech = desk.desk().snapshot.header, desk.speech()
    if fact.what.key != MARKER or header is None:
        return []
    nobody = [] if fact.at is None else [(len(header.names), speech.text("nobody"))]
    return [*enumerate(header.names), *nobody]
