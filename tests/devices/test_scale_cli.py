"""`companion scale`: kept bytes read line by line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from companion.cli import companion
from tests.devices import scale_checks as checks
from tests.devices.scale_frames import FRAMES

FRAME = b"S S      57.25 g\r\n"


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(companion, ["scale", *arguments], input=given)


def vector(name: str = "a", protocol: str = "mt-sics", data: bytes = FRAME, **more: object) -> str:
    return json.dumps({"id": name, "protocol": protocol, "bytes_hex": data.hex(), **more}) + "\n"


def test_each_line_is_answered_with_its_identifier_and_the_fields_of_an_answer() -> None:
    result = run("--vectors", "-", given=vector() + "\n" + vector("b", data=b"S +\r\n"))
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"id": "a", "grams": 57.25, "unit": "g", "stable": True, "overload": False, "error": None},
        {"id": "b", "grams": None, "unit": None, "stable": None, "overload": True, "error": None},
    ]


def test_settings_and_reads_of_a_line_count() -> None:
    config = {"unit_default": "lbs", "strip_parity": None, "of_another_time": 5}
    result = run("--vectors", "-", given=vector(data=FRAME[:-4] + b"\r\n", config=config, chunks=None))
    assert json.loads(result.stdout)["unit"] == "lb"
    result = run("--vectors", "-", given=vector(data=b"", chunks=[FRAME[:7].hex(), FRAME[7:].hex()]))
    assert json.loads(result.stdout)["grams"] == 57.25


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("nonsense\n", "Line 1: "),
        (vector(protocol="abacus"), "abacus"),
        (vector(config={"unit_default": "stone"}), "stone"),
        (vector(config={"checksum": 3}), "checksum"),
        (vector(config=[]), "[]"),
        ('{"id": "a", "protocol": "ohaus", "bytes_hex": "0"}\n', "hex"),
        ('{"id": "a", "protocol": "ohaus", "chunks": 7}\n', "7"),
    ],
)
def test_a_line_that_does_not_read_is_told_and_the_others_are_answered(line: str, says: str) -> None:
    result = run("--vectors", "-", given=line + vector("b"))
    assert result.exit_code == 2
    assert says in result.stderr
    assert json.loads(result.stdout)["id"] == "b"


def test_every_vector_is_answered_as_it_says(tmp_path: Path) -> None:
    known = FRAMES if not checks.SHARED.exists() else checks.shared()
    file = checks.SHARED if checks.SHARED.exists() else tmp_path / "vectors.jsonl"
    if not checks.SHARED.exists():
        file.write_text("".join(vector(one.name, one.protocol, one.data, config=vars_of(one)) for one in known))
    result = run("--vectors", str(file))
    assert result.exit_code == 0
    for one, line in zip(known, result.stdout.splitlines(), strict=True):
        said = json.loads(line)
        assert said.pop("id") == one.name
        assert checks.is_right(one, [checks.Weighing(**said)]), (one, said)


def vars_of(one: checks.Vector) -> dict[str, object]:
    return {name: getattr(one.profile, name) for name in one.profile.__dataclass_fields__}


def test_without_port_or_vectors_it_says_what_it_needs() -> None:
    result = run()
    assert result.exit_code == 2
    assert "--port" in result.stderr
