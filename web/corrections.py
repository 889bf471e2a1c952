"""Panels that fill in, refuse, allow or amend one action."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from flask import render_template

from companion.codec import action_to_data, dump_json, shown
from companion.errors import Unreadable
from companion.fold import Step
from companion.view import Seen, seen
from rules.core import TABLE, Action, Choice, Game, Message, Noun, Refusal, Seat, would_change
from rules.forms import Count
from web import desk, fields, posts
from web.answers import asks
from web.options import Ahead, Option, written_out
from web.scene import Scene


def open_form(gesture: str) -> str:
    """Show the form of a gesture's last step, to be filled in field by field."""
    steps = posts.gesture_from(gesture)
    for step in steps:
        desk.visitor().must_act(posts.read_post(step).who)
    choice = posts.choice_after(steps)
    speech = desk.speech()
    return render_template(
        "side_form.html",
        title=speech.do(Message(choice.kind.do, choice.about)),
        url="/table/act",
        asks=asks(now_seen()),
        hidden={"gesture": dump_json(steps)},
        form=fields.described(choice, speech, desk.game_on_table().game),
    )


def why(do: str, gesture: str, who: str) -> str:
    """Show why an action is not offered, and the mend that allows it this once."""
    seat = _actor(who)
    desk.visitor().must_act(seat)
    first = [] if gesture in ("", "[]") else posts.gesture_from(gesture)
    game, state = posts.state_before([*first, {"who": seat, "action": {"do": do}, "fingerprint": ""}])
    if do not in game.actions:
        raise Unreadable("unknown_action", got=do, known=tuple(game.actions))
    refusal = game.offer(state, seat, game.actions[do])
    speech = desk.speech()
    if not isinstance(refusal, Refusal):
        more = {"why": speech.text("is_offered"), "rule": "", "asks": asks(now_seen())}
        return render_template("side_why.html", title=speech.do(Message(do)), **more)
    facts = _would_set(game, state, seat, game.actions[do])
    return render_template(
        "side_why.html",
        title=speech.do(Message(do, refusal.values)),
        why=speech.say(refusal),
        asks=asks(now_seen()),
        rule=speech.rule(refusal.rule),
        may_mend=desk.sight("table").acts_for(TABLE),
        facts=urlencode(
            {f"fact.{name}": value for name, value in facts.items()}
            | {"reason": speech.do(Message(do, refusal.values))}
        ),
    )


def now_seen() -> Seen:
    """Return the table as who sends this request may know it; raises NoGame where no game lies there."""
    return seen(desk.game_on_table(), desk.sight("table").eyes)


def _actor(who: str) -> Seat:
    """Return the actor that a request names, TABLE where it names none; raises Unreadable for one that is not there."""
    header = desk.game_on_table().header
    seats = len(header.seats) if header else 0
    if who and who not in [str(one) for one in (TABLE, *range(seats))]:
        raise Unreadable("wrong_value", field="who", got=shown(who), wants=Noun("another_value"))
    return int(who) if who else TABLE


def _would_set(game: Game[Any], state: Any, who: int, kind: type[Action[Any]]) -> dict[str, int]:
    """Return the facts that the refused action would have changed, where it can be made without a form."""
    try:
        action = kind()
    except TypeError:  # it needs values, and a refusal offers no form to take them from
        return {}
    return would_change(game, state, who, action)


def amend(n: int, *, decides: bool) -> str:
    """Show what may stand in the place of a step: the same deed with other values first, then other deeds."""
    desk.visitor().must_act(TABLE)
    step, game = posts.step_of(n), desk.game_on_table().game
    assert game is not None  # a step is a step of a game
    speech, eyes = desk.speech(), desk.sight("table").eyes
    return render_template(
        "side_amend.html",
        n=n,
        decide=decides,
        do=step.action.do,
        url="/table/amend",
        told=speech.say(step.told(game, eyes)),
        forms=list(_replacements(game, step)),
    )


def _replacements(game: Game[Any], step: Step) -> Iterator[dict[str, Any]]:
    state = game.see(posts.state_at(step), desk.sight("table").eyes)
    kinds = sorted(game.actions.values(), key=lambda kind: kind.do != step.action.do)
    for kind in kinds:
        who = posts.actor_of(game, step, kind)
        offered = game.offer(state, who, kind)
        if isinstance(offered, Choice) and kind.do != "mend":
            yield _replacement(Ahead(game, state), step, who, offered)


def _replacement(ahead: Ahead, step: Step, who: Seat, choice: Choice) -> dict[str, Any]:
    described = fields.described(choice, desk.speech(), ahead.game) | {
        "words": desk.speech().do(Message(choice.kind.do, choice.about))
    }
    counts = [(name, one) for name, one in choice.fields.items() if isinstance(one, Count)]
    filled = written_out(choice)
    if len(counts) == len(choice.fields) == 1 and filled:
        name = counts[0][0]
        values = [getattr(action, name) for action in filled]
        return described | {"pad": {"name": name, "values": values, "now": getattr(step.action, name, None)}}
    options = [(action, ahead.option(who, choice, action)) for action in filled if action != step.action]
    return described | {"buttons": [_button(action, option) for action, option in options]}


def _button(action: Action[Any], option: Option) -> dict[str, Any]:
    scene = Scene(desk.desk().snapshot, desk.sight("table"), desk.speech(), desk.desk().service.crop)
    return {"action": dump_json(action_to_data(action)), "words": scene.label(option), "lines": scene.lines(option)}
