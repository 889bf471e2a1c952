"""What is tapped: ordinary posts, each with its Idempotency-Key; the stream shows what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from flask import Blueprint, Response, jsonify, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from companion import codec
from companion.codec import parse_json, parse_object, shown
from companion.entries import Player, SeatPlan
from companion.errors import NoGame, NotAllowed, Stale, Unreadable
from companion.fold import Step, actor
from companion.table import Post
from companion.view import seen
from rules.core import TABLE, Action, Choice, Game, Noun, Refusal, Refused, Seat
from web import desk, fields
from web.answers import counting
from web.scene import ASKS_KEEP_SURE
from web.shapes import SHAPES
from web.visitors import remember

posts = Blueprint("posts", __name__)
MOST_SEATS = 8


def done(**more: Any) -> Response:
    """Answer a post that was taken."""
    return jsonify({"ok": True, **more})


def submit(gesture: Sequence[Mapping[str, Any]]) -> Response:
    """Keep one gesture of the sender's; raises NotAllowed where a step is not theirs to do."""
    sent = [with_evidence(read_post(one)) for one in gesture]
    visitor = desk.visitor()
    for one in sent:
        visitor.must_act(one.who)
    eyes = visitor.seat if visitor.role == "seat" else None
    kept = desk.desk().table.submit(sent, key=desk.key(), by=desk.by(), eyes=eyes)
    return done(number=kept.number, gesture=kept.gesture, again=kept.again)


def read_post(data: object) -> Post:
    """Read one step of a gesture; raises Unreadable naming what does not read."""
    if not isinstance(data, dict):
        raise Unreadable("not_an_object", got=shown(data))
    who, action, mark = data.get("who"), data.get("action"), data.get("fingerprint")
    if not isinstance(who, int) or isinstance(who, bool):
        raise Unreadable("wrong_value", field="who", got=shown(who), wants=Noun("whole_number"))
    if not isinstance(action, dict):
        raise Unreadable("wrong_value", field="action", got=shown(action), wants=Noun("named_values"))
    if not isinstance(mark, str):
        raise Unreadable("missing_field", field="fingerprint")
    return Post(who, action, mark)


def with_evidence(one: Post) -> Post:
    """Name the picture that an answer to the open proposal rests on."""
    proposal = desk.desk().snapshot.proposal
    if proposal is None or proposal.evidence is None or not isinstance(one.action, Mapping):
        return one
    answers = one.who == proposal.who and one.action.get("do") == proposal.do
    return replace(one, evidence=proposal.evidence.crop) if answers else one


def gesture_from(text: str) -> list[Any]:
    """Read the steps of a gesture."""
    found = parse_json(text)
    if not isinstance(found, list) or not found:
        raise Unreadable("wrong_value", field="gesture", got=shown(found), wants=Noun("list"))
    return found


@posts.post("/table/act")
def act() -> Response:
    """Keep a gesture; its last step may be a form that was filled in beside it (`f.` fields)."""
    gesture = gesture_from(request.form.get("gesture", ""))
    if any(name.startswith("f.") for name in request.form):
        gesture[-1] = _filled(gesture)
    return submit(gesture)


def _filled(gesture: Sequence[Any]) -> dict[str, Any]:
    choice = choice_after(gesture)
    return {**gesture[-1], "action": fields.read(choice, request.form.to_dict(flat=False))}


def choice_after(gesture: Sequence[Any]) -> Choice:
    """Return the form of a gesture's last step in the state its other steps lead to; raises Refused."""
    game, state = state_before(gesture)
    last = read_post(gesture[-1])
    kind = game.actions.get(str(cast("Mapping[str, Any]", last.action).get("do")))
    if kind is None:
        raise Unreadable("unknown_action", got=shown(last.action), known=tuple(game.actions))
    offered = game.offer(state, last.who, kind)
    if isinstance(offered, Refusal):
        raise Refused(offered)
    return offered


def state_before(gesture: Sequence[Any]) -> tuple[Game[Any], Any]:
    """Return the seen state before a gesture's last step; raises Refused where the steps before it are not offered."""
    snapshot = desk.game_on_table()
    view = seen(snapshot, desk.sight("table").eyes)
    assert view.game is not None  # there is one on the table
    state = view.state
    for one in map(read_post, gesture[:-1]):
        state = view.game.apply(
            state, one.who, codec.action_from_data(view.game, cast("Mapping[str, Any]", one.action))
        )
    return view.game, state


@posts.post("/table/undo")
def undo() -> Response:
    """Take back the last gesture."""
    visitor = desk.visitor()
    visitor.must_act(TABLE)
    asked = bool(request.form.get("asked"))
    if asked and visitor.role != "table":
        raise NotAllowed("only_on_the_table")
    kept = desk.desk().table.undo(by=desk.by(), key=desk.key(), seat=visitor.seat, asked=asked)
    return done(number=kept.number)


@posts.post("/table/amend")
def amend() -> Response:
    """Put another action in the place of a step, or decide a step that a correction left open by changing it."""
    visitor = desk.visitor()
    visitor.must_act(TABLE)
    n = number("n")
    action = _other_action(n)
    table = desk.desk().table
    if request.form.get("how"):
        return done(number=table.decide(n, "change", action, by=desk.by(), key=desk.key()).number)
    return done(number=table.amend(n, action, by=desk.by(), key=desk.key()).number)


def step_of(n: int) -> Step:
    """Return a step of the game on the table; raises NoGame."""
    found = next((step for step in desk.game_on_table().steps if step.n == n), None)
    if found is None:
        raise NoGame("no_such_step", got=n)
    return found


def state_at(step: Step) -> Any:
    """Return the state in which a step is done: of one that a correction left open, the table as it is now."""
    return desk.game_on_table().state if step.status == "open" else step.before


def actor_of(game: Game[Any], step: Step, kind: type[Action[Any]]) -> Seat:
    """Return who would do this kind of action in the place of a step."""
    return actor(game, state_at(step), step, cast("Action[Any]", kind))  # it asks for nothing but the kind


def _other_action(n: int) -> Mapping[str, Any]:
    if given := request.form.get("action"):
        return parse_object(given)
    step, game = step_of(n), desk.game_on_table().game
    kind = game.actions.get(request.form.get("do", "")) if game else None
    if game is None or kind is None:
        raise Unreadable("unknown_action", got=shown(request.form.get("do")), known=())
    offered = game.offer(state_at(step), actor_of(game, step, kind), kind)
    if isinstance(offered, Refusal):
        raise Refused(offered)
    return fields.read(offered, request.form.to_dict(flat=False))


@posts.post("/table/decide")
def decide() -> Response:
    """Keep or drop the first step that a correction left open, keep all the rest as far as it goes, or drop it."""
    visitor, table = desk.visitor(), desk.desk().table
    visitor.must_act(TABLE)
    how = request.form.get("how", "")
    if how in ("rest", "drop_rest"):
        rest = table.keep_rest if how == "rest" else table.drop_rest
        return done(number=rest(by=desk.by(), key=desk.key()).number)
    if how not in ("keep", "drop"):
        raise Unreadable("wrong_value", field="how", got=shown(how), wants=Noun("another_value"))
    kept = table.decide(number("n"), "keep" if how == "keep" else "drop", by=desk.by(), key=desk.key())
    return done(number=kept.number)


@posts.post("/table/mend")
def mend() -> Response:
    """Set the facts that differ from what the state says."""
    snapshot = desk.game_on_table()
    assert snapshot.game is not None
    now = snapshot.game.facts(seen(snapshot, desk.sight("table").eyes).state)
    sent = {name: number(f"fact.{name}") for name in now if request.form.get(f"fact.{name}")}
    facts = {name: value for name, value in sent.items() if value != now[name].value}
    action = {"do": "mend", "facts": facts, "reason": request.form.get("reason", "").strip()}
    return submit([{"who": TABLE, "action": action, "fingerprint": request.form.get("fingerprint", "")}])


def number(name: str) -> int:
    """Return a whole number that was sent; raises Unreadable naming the field."""
    got = request.form.get(name, "")
    try:
        return int(got)
    except ValueError:
        raise Unreadable("wrong_value", field=name, got=shown(got), wants=Noun("whole_number")) from None


def must_be_asked(fingerprint: str | None) -> None:
    """Raise Stale unless the table is asked for a count by the form with this fingerprint still."""
    if not fingerprint:
        raise Unreadable("missing_field", field="fingerprint")
    asked = counting(seen(desk.game_on_table(), desk.sight("table").eyes))
    if asked is None or asked.fingerprint != fingerprint:
        raise Stale("stale")


@posts.post("/table/count")
def type_count() -> Response:
    """Propose a count that a person typed."""
    desk.visitor().must_act(TABLE)
    n = number("n")
    must_be_asked(request.form.get("fingerprint"))
    desk.desk().service.type_count(n)
    return done()


@posts.post("/table/left")
def left_in_cup() -> Response:
    """Propose the count that leaves so many in the cup."""
    desk.visitor().must_act(TABLE)
    n = number("n")
    must_be_asked(request.form.get("fingerprint"))
    desk.desk().service.left_in_cup(n)
    return done()


@posts.post("/table/look-again")
def look_again() -> Response:
    """Have the camera read the scene anew."""
    desk.visitor().must_act(TABLE)
    desk.desk().service.look_again()
    return done()


@posts.post("/table/look-away")
def look_away() -> Response:
    """Have the camera look away, or here again."""
    desk.visitor().must_act(TABLE)
    desk.desk().service.look_away(bool(request.form.get("away")))
    return done()


@posts.post("/table/shake")
def shake() -> Response:
    """Shake the simulated cup: anybody may while no game lies on the table."""
    if desk.desk().snapshot.game is not None:
        desk.visitor().must_act(TABLE)
    desk.desk().service.shake()
    return done()


@posts.post("/table/notice")
def notice() -> Response:
    """Answer what everyone was told: seen; or yes, keep sure counts by themselves, or no, ask always."""
    desk.visitor().must_act(TABLE)
    service, told = desk.desk().service, request.form.get("key", "")
    if told == ASKS_KEEP_SURE:
        service.set_confirm("sure" if request.form.get("yes") else "always")
    service.table.notice([one for one in service.table.snapshot.notices if one.key != told])
    return done()


@posts.post("/table/begin")
def begin() -> AnyResponse:
    """Begin a game; the device that does becomes the shared screen."""
    parts, visitor = desk.desk(), desk.visitor()
    if not parts.door.may_take_table(visitor, request):
        raise NotAllowed("table_is_taken")
    parts.table.begin(
        request.form.get("game", ""),
        _seat_plans(),
        first=_first(),
        options=_options(),
        sheet="house" if request.form.get("sheet") == "house" else "box",
        money="box" if request.form.get("money") == "box" else "tablet",
        depth="score" if request.form.get("depth") == "score" else "referee",
        request=desk.key(),
    )
    return at_the_table(done(go="/table"))


def _named_rows() -> list[int]:
    return [at for at in range(MOST_SEATS) if request.form.get(f"name-{at}", "").strip()]


def _seat_plans() -> list[SeatPlan]:
    return [_seat_plan(at) for at in _named_rows()]


def _seat_plan(at: int) -> SeatPlan:
    player = cast("Player", request.form.get(f"player-{at}", "person"))  # the table refuses what it does not know
    colour = request.form.get(f"colour-{at}", "")
    if colour not in SHAPES:
        raise Unreadable("unknown_colour", got=shown(colour))
    return SeatPlan(request.form[f"name-{at}"], colour, player)


def _first() -> int:
    """Return which seat begins: the ticked row, counted among those that have a name."""
    rows, ticked = _named_rows(), number("first") if request.form.get("first") else 0
    return rows.index(ticked) if ticked in rows else 0


def _options() -> dict[str, str]:
    given = {name.partition("-")[2]: value for name, value in request.form.items() if name.startswith("option-")}
    return {name: value for name, value in given.items() if value}


@posts.post("/table/take")
def take() -> AnyResponse:
    """Make this device a shared screen where it may be one; else let it look on."""
    if not desk.desk().door.may_take_table(desk.visitor(), request):
        return redirect("/join")
    return at_the_table(redirect("/table"))


def at_the_table(response: AnyResponse) -> AnyResponse:
    """Remember this device as a shared screen, unless it is one."""
    if desk.visitor().role != "table":
        credential = desk.desk().door.clients.admit("table")
        remember(cast("Response", response), credential, secure=request.is_secure)
    return response


@posts.post("/table/aside")
def aside() -> AnyResponse:
    """Clear the table; the game can be taken up again."""
    desk.visitor().must_be_table()
    desk.desk().table.put_aside()
    return redirect("/")


@posts.post("/table/open/<game>")
def take_up(game: str) -> AnyResponse:
    """Put a game of the journal on the table again."""
    if not desk.desk().door.may_take_table(desk.visitor(), request):
        raise NotAllowed("table_is_taken")
    desk.desk().table.open_game(game)
    return at_the_table(redirect("/table"))
