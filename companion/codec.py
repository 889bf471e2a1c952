"""The only codec: actions, states, choices and values to plain data and back, strictly and by pydantic."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, TypeAlias, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, from_json

from companion.errors import Unreadable
from rules.core import Action, Choice, Game, Message, Money, Noun, Refusal, Seat, Value, Who
from rules.forms import Amounts, Assign, Count, Field, Order, Pick, Text, Values

Data: TypeAlias = dict[str, Any]
"""One JSON object."""
T = TypeVar("T")

FINGERPRINT_CHARS = 16
WANTS = (
    ("int", "whole_number"),
    ("string", "words"),
    ("bool", "yes_or_no"),
    ("dict", "named_values"),
    ("mapping", "named_values"),
    ("tuple", "list"),
    ("list", "list"),
    ("set", "list"),
    ("frozen_set", "list"),
)
"""What pydantic's kinds of mistake say was wanted, by the beginning of their names."""


def parse_json(text: str | bytes) -> object:
    """Read one JSON value; raises Unreadable, also for NaN and for what is nested too deep."""
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        found = re.search(r"column (\d+)", str(error))
        raise Unreadable("not_json", column=int(found[1]) if found else 1) from error


def parse_object(text: str | bytes) -> Data:
    """Read one JSON object; raises Unreadable for anything else."""
    found = parse_json(text)
    if not isinstance(found, dict):
        raise Unreadable("not_an_object", got=shown(found))
    return found


def dump_json(data: object) -> str:
    """Write plain data as one line of JSON, keys sorted, the same for the same data."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def shown(value: object, most: int = 60) -> str:
    """Return a value as short text for a message; what a terminal would obey is shown as a dot."""
    text = value if isinstance(value, str) else _written(value)
    plain = "".join(sign if sign.isprintable() else "·" for sign in text[:most])
    return plain if len(text) <= most else plain[: most - 1] + "…"


def _written(value: object) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):  # Python writes no number of more than 4,300 digits
        return type(value).__name__


def to_data(kind: type[T], thing: T) -> Data:
    """Return a dataclass as plain data."""
    data: Data = _adapter(kind).dump_python(thing, mode="json")
    return data


def from_data(kind: type[T], data: Mapping[str, object]) -> T:
    """Read a dataclass strictly; raises Unreadable naming the field, what stood there and what is wanted."""
    known = tuple(one.name for one in fields(kind))  # type: ignore[arg-type]
    for name in data:
        if name not in known:
            raise Unreadable("unknown_field", field=shown(name), known=known)
    try:
        found: T = _adapter(kind).validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        raise _unreadable(error.errors()[0]) from error
    except (TypeError, ValueError, RecursionError) as error:
        raise Unreadable("not_json", column=1) from error
    return found


def _unreadable(detail: ErrorDetails) -> Unreadable:
    field = ".".join(str(part) for part in detail["loc"])
    if detail["type"] == "missing":
        return Unreadable("missing_field", field=field)
    if detail["type"] == "unexpected_keyword_argument":
        return Unreadable("unknown_field", field=shown(field))
    wants = next((noun for start, noun in WANTS if detail["type"].startswith(start)), None)
    return Unreadable("wrong_value", field=field, got=shown(detail["input"]), wants=Noun(wants or "another_value"))


def _adapter(kind: type[T]) -> TypeAdapter[T]:
    if kind not in _adapters:  # two threads may build the same one: the second is as good
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


_adapters: dict[type[Any], TypeAdapter[Any]] = {}


def action_to_data(action: Action[Any]) -> Data:
    """Return an action as its `do` and its fields."""
    return {"do": action.do, **to_data(type(action), action)}


def action_from_data(game: Game[Any], data: Mapping[str, object]) -> Action[Any]:
    """Read an action of this game strictly; raises Unreadable naming the field."""
    do = data.get("do")
    if do is None:
        raise Unreadable("missing_field", field="do")
    if not isinstance(do, str) or do not in game.actions:
        raise Unreadable("unknown_action", got=shown(do), known=tuple(game.actions))
    return from_data(game.actions[do], {name: value for name, value in data.items() if name != "do"})


def schema(game: Game[Any]) -> Data:
    """Return the JSON schema of the game's actions as they stand in a record line, one alternative each."""
    shared: Data = {}
    kinds = [_action_schema(do, kind, shared) for do, kind in game.actions.items()]
    top: Data = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": game.title, "oneOf": kinds}
    return top | ({"$defs": shared} if shared else {})


def _action_schema(do: str, kind: type[Action[Any]], shared: Data) -> Data:
    found = _adapter(kind).json_schema()
    shared.update(found.get("$defs", {}))
    who = {"type": "integer", "minimum": -1}
    required = [one.name for one in fields(kind) if _is_required(one)]  # type: ignore[arg-type]
    return {
        "title": do,
        "type": "object",
        "description": (kind.__doc__ or do).strip().splitlines()[0],
        "properties": {"who": who, "do": {"const": do}, **found.get("properties", {})},
        "required": ["do", *required],
        "additionalProperties": False,
    }


def _is_required(one: Any) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def state_kind(game: Game[Any]) -> type[Any]:
    """Return the class of a game's states: what its `start` says it returns."""
    kind = get_type_hints(type(game).start)["return"]
    assert isinstance(kind, type), f"{game.key}: start must say which class of state it returns"
    return kind


def state_to_data(game: Game[Any], state: object) -> Data:
    """Return a state as plain data, the same for equal states."""
    data: Data = _plain(_adapter(state_kind(game)).dump_python(state))
    return data


def state_from_data(game: Game[Any], data: Mapping[str, object]) -> Any:
    """Read a state back; raises Unreadable."""
    return from_data(state_kind(game), data)


def state_hash(game: Game[Any], state: object) -> str:
    """Return 16 hex digits that are the same for equal states, on every machine."""
    return digest(state_to_data(game, state))


def _plain(value: object) -> Any:
    """Order what has no order: sets print differently from one start of Python to the next."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_plain(one) for one in value), key=dump_json)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


def value_to_data(value: Value | Hashable) -> Any:
    """Return one value of a message, a view or a form as plain data; nouns, seats and money keep their kind."""
    match value:
        case Who(seat):
            return {"who": seat}
        case Noun(key):
            return {"noun": key}
        case Money(amount):
            return {"money": amount}
        case Message(key, values):
            return {"message": key, "values": value_to_data(values)}
        case tuple():
            return [value_to_data(one) for one in value]
        case Mapping():
            return {str(name): value_to_data(one) for name, one in value.items()}
    return value


def refusal_to_data(refusal: Refusal) -> Data:
    """Return a refusal as its code, the rule it names and its values."""
    return {"code": refusal.code, "rule": refusal.rule, "values": value_to_data(refusal.values)}


def field_to_data(field: Field) -> Data:
    """Return one field of a form: its kind and its limits."""
    match field:
        case Pick(among, least, most):
            return {"kind": "pick", "among": value_to_data(among), "least": least, "most": most}
        case Count(least, most, step):
            return {"kind": "count", "least": least, "most": most, "step": step}
        case Amounts(most, total):
            return {"kind": "amounts", "most": value_to_data(most), "total": value_to_data(total)}
        case Assign(keys, values):
            return {"kind": "assign", "keys": value_to_data(keys), "values": value_to_data(values)}
        case Order(things):
            return {"kind": "order", "things": value_to_data(things)}
        case Values(limits):
            return {"kind": "values", "limits": {name: field_to_data(one) for name, one in limits.items()}}
        case Text(most):
            return {"kind": "text", "most": most}
    raise TypeError(f"a field that the codec does not know: {type(field).__name__}")


def choice_to_data(choice: Choice) -> Data:
    """Return a form: what it does, its fields with their limits, what it is about, and what sense may fill it in."""
    return {
        "do": choice.kind.do,
        "fields": {name: field_to_data(one) for name, one in choice.fields.items()},
        "about": value_to_data(choice.about),
        "sense": choice.sense,
        "zones": list(choice.zones),
    }


def fingerprint(game: Game[Any], who: Seat, do: str, choice: Choice) -> str:
    """Return 16 hex digits that change when the form does: over who, do, fields and what it is about."""
    form = choice_to_data(choice)
    return digest([game.key, who, do, form["fields"], form["about"]])


def digest(data: object) -> str:
    """Return 16 hex digits that are the same for equal plain data."""
    return hashlib.sha256(dump_json(data).encode()).hexdigest()[:FINGERPRINT_CHARS]


def values_from(names: Sequence[str], entries: Sequence[str]) -> dict[str, str]:
    """Read `name=value` entries; raises Unreadable for an entry without `=` or a name that is not among `names`."""
    found: dict[str, str] = {}
    for entry in entries:
        name, equals, value = entry.partition("=")
        if not equals:
            raise Unreadable("no_equals_sign", got=entry)
        if name not in names:
            raise Unreadable("no_such_option", option=name, known=tuple(names))
        found[name] = value
    return found
