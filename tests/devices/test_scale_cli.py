"""`companion scale`: kept bytes read line by line, and a scale read live."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from companion.cli import companion
from companion.words import Words, languages
from devices.errors import ScaleCannot, ScaleNotConfirmed, ScaleSilent, ScaleUnknown
from devices.fake_scale import FakeScale
from devices.health import MESSAGE_CODES
from devices.scales.weighing import ERRORS
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


def test_one_weight_at_rest_is_printed() -> None:
    result = run("--port", "sim://scale?protocol=ohaus&load=57.3", "--once")
    assert (result.exit_code, result.stdout) == (0, "57.30 g, at rest\n")
    result = run("--port", "sim://scale?protocol=ohaus&load=57.3", "--once", "--json")
    assert json.loads(result.stdout)["grams"] == 57.3


def test_a_scale_of_unknown_kind_is_guessed_aloud_and_weighs_once_its_load_is_known() -> None:
    with FakeScale("st-gs", load_g=500.0) as fake:
        guessed = run("--port", fake.url, "--once")
        assert guessed.exit_code == 2
        assert guessed.stdout == ""
        assert "This could be st-gs (its lines fit" in guessed.stderr
        known = run("--port", fake.url, "--once", "--known", "500")
        assert known.stdout == "500.00 g, at rest\n"
        wrong = run("--port", fake.url, "--once", "--known", "300")
        assert wrong.exit_code == 2


def test_weighings_go_on_until_nobody_reads_along(tmp_path: Path) -> None:
    program = "from companion.cli import companion; companion()"
    with FakeScale("st-gs", load_g=500.0) as fake:
        command = [sys.executable, "-c", program, "scale", "--port", fake.url, "--protocol", "st-gs"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            lines = [running.stdout.readline() for _ in range(4)]
            fake.put(9000.0)
            over = next(line for line in running.stdout if not line.startswith(("500", "5,")))
            fake.unplug()
            gone = next(line for line in running.stderr if "unplugged" in line)
            running.terminate()
    assert lines[-1] == "500.00 g, at rest\n"
    assert over
    assert fake.url in gone


@pytest.mark.parametrize("language", languages())
def test_every_state_and_every_answer_of_a_scale_has_words(language: str) -> None:
    words = Words(language, strict=True)
    for code, names in MESSAGE_CODES.items():
        if code.startswith("scale_"):
            assert words.text("refusal", code, dict.fromkeys(names, "x"))
    for error in ERRORS | {"overload"}:
        assert words.text("refusal", f"weighing_{error}")
    for kind in (ScaleUnknown, ScaleSilent, ScaleCannot, ScaleNotConfirmed):
        assert words.text("refusal", kind.code, dict.fromkeys(("scale", "what", "given", "valid"), "x"))
