"""The HTTP API: the table as these eyes may know it, one shape for what did not work, and never a mistake of ours."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error

from tests.web.house import Device, House, house

EXAMPLES = 25


def act(tablet: Device, who: int, action: dict[str, Any], fingerprint: str, key: str = "") -> Any:
    step = {"who": who, "action": action, "fingerprint": fingerprint}
    return tablet.send("/api/act", {"steps": [step]}, key=key)


JSON = {"Content-Type": "application/json"}


def fingerprint(tablet: Device, who: int, do: str) -> str:
    found: str = tablet.get(f"/api/choices?who={who}").get_json()["choices"][str(who)][do]["fingerprint"]
    return found


def test_the_state_is_what_these_eyes_may_know(home: House, tablet: Device) -> None:
    home.play(8)
    state = tablet.get("/api/state").get_json()
    assert (state["game"], state["turn"]["phase"], state["turn"]["movers"]) == ("schuettels", "shake", [-1])
    assert state["facts"]["market"] == {"money": 40}
    assert state["log"][0]["words"] == "Anna shakes 8 gnomes: tailor shop. Anna places a good at the tailor shop."


def test_a_choice_carries_the_fingerprint_that_a_post_needs(home: House, tablet: Device) -> None:
    mark = fingerprint(tablet, -1, "shake")
    assert act(tablet, -1, {"do": "shake", "count": 8}, mark, key="once").status_code == 200
    assert act(tablet, -1, {"do": "shake", "count": 8}, mark, key="once").get_json()["again"]
    assert act(tablet, -1, {"do": "shake", "count": 8}, mark).status_code == 409
    assert home.state.supply == (9, 10, 10)


def test_what_may_not_be_done_says_why(tablet: Device) -> None:
    refused = tablet.get("/api/choices").get_json()["choices"]["0"]["sell"]["refused"]
    assert refused["code"] == "not_now"


def test_a_hand_typed_count_is_proposed(home: House, tablet: Device) -> None:
    assert tablet.send("/api/count", {"left": 7, "fingerprint": tablet.asks()}).status_code == 200
    proposal = home.service.table.snapshot.proposal
    assert proposal is not None
    assert proposal.answers[0].value == 8
    assert tablet.send("/api/count", {"fingerprint": tablet.asks()}).status_code == 422


def test_a_count_that_was_asked_for_before_is_stale(tablet: Device) -> None:
    late = tablet.send("/api/count", {"fell": 8, "fingerprint": "of another turn"})
    assert (late.status_code, late.get_json()["code"]) == (409, "stale")


def test_what_is_nested_deeper_than_anything_of_ours_is_refused(tablet: Device) -> None:
    deep = "[" * 50_000 + "]" * 50_000
    for path in ("/api/act", "/api/amend"):
        answer = tablet.client.post(path, data=deep, headers={**JSON, "Idempotency-Key": "deep"})
        assert (400 <= answer.status_code < 500, answer.get_json()["ok"]) == (True, False)


def test_corrections_go_through_the_api_too(home: House, tablet: Device) -> None:
    home.play(8, 4, 5)
    assert tablet.send("/api/amend", {"n": 1, "action": {"do": "shake", "count": 9}}).status_code == 200
    assert home.state.houses["jewelry"] == (0,)
    assert tablet.send("/api/undo", {"asked": True}).status_code == 200
    assert home.state.houses["tailor"] == (0,)
    assert tablet.send("/api/decide", {"n": 1, "how": "keep"}).get_json()["ok"] is False


def test_games_and_health_need_no_game(home: House) -> None:
    device = home.device()
    assert device.get("/api/games").get_json()["games"][0]["seats"] == [2, 6]
    assert device.get("/api/health").get_json()["ok"]
    nothing = device.get("/api/state")
    assert (nothing.status_code, nothing.get_json()["code"]) == (404, "no_game_on_table")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/act", {"steps": []}),
        ("/api/act", {"steps": [{"who": "Anna", "action": {}, "fingerprint": ""}]}),
        ("/api/act", {"gesture": []}),
        ("/api/undo", {"asked": "perhaps", "more": 1}),
        ("/api/amend", {"n": -1, "action": {}}),
        ("/api/decide", {"n": 1, "how": "burn"}),
        ("/api/count", {"fell": "eight", "fingerprint": "x"}),
    ],
)
def test_a_body_that_does_not_read_is_refused_in_the_one_shape(tablet: Device, path: str, body: object) -> None:
    answer = tablet.send(path, body)
    found = answer.get_json()
    assert answer.status_code == 422
    assert (found["ok"], found["status"], found["code"]) == (False, 422, "bad_field")
    assert found["field"] in found["error"]


def test_a_post_without_a_key_is_refused(tablet: Device) -> None:
    assert tablet.client.post("/api/undo", json={}).status_code == 422


def test_a_spectator_may_read_and_not_act(home: House, tablet: Device) -> None:
    onlooker = home.device()
    assert onlooker.get("/api/state").status_code == 200
    assert onlooker.send("/api/count", {"fell": 8, "fingerprint": "x"}).get_json()["code"] == "only_looks_on"


def test_whatever_comes_in_no_answer_is_a_mistake_of_ours(tmp_path: Any) -> None:
    with house(tmp_path, is_open=True) as home:
        tablet = home.tablet()
        cookie = {"Cookie": "; ".join(f"{one.key}={one.value}" for one in tablet.client._cookies.values())}
        found = schemathesis.openapi.from_wsgi("/api/openapi.json", home.app)
        for operation in found.get_all_operations():
            _try(operation.ok(), cookie)


def _try(operation: Any, cookie: dict[str, str]) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def attempt(case: Any) -> None:
        response = case.call(headers=cookie)
        case.validate_response(response, checks=[not_a_server_error])

    attempt()
