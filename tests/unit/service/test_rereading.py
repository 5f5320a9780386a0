"""Settings read again while a service runs: all is taken up, or nothing, and nobody is cut off."""

import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.unit.service.test_supervisor import Tiny, eventually, free_ports, is_alive, tiny


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Tiny]:
    with tiny(tmp_path, workers=2) as running:
        yield running.wait_ready()


def refusal(service: Tiny) -> str:
    (refused,) = eventually(lambda: service.events("settings.refused"), "a refusal")
    words: str = refused["reason"]
    return words


def test_processes_with_the_new_settings_take_the_places_of_the_others(service: Tiny) -> None:
    before = set(service.children)
    service.reload(note="as it is now")
    eventually(lambda: service.events("settings.reloaded"), "a reload")
    assert not set(service.children) & before
    assert len(service.children) == 2
    status, answer = service.readiness()
    assert status == 200
    assert answer["checks"]["other"]["detail"] == "as it is now"
    assert not service.events("process.died"), "to be replaced is not to die"


def test_a_process_that_dies_later_comes_back_with_the_new_ones(service: Tiny) -> None:
    service.reload(note="as it is now")
    eventually(lambda: service.events("settings.reloaded"), "a reload")
    for _ in service.children:
        service.told("/exit")
    eventually(lambda: len(service.events("process.died")) >= 1, "a death")
    service.wait_ready()
    assert service.readiness()[1]["checks"]["other"]["detail"] == "as it is now"


def test_nobody_is_cut_off_or_turned_away(service: Tiny) -> None:
    over = Event()
    answered: list[int] = []

    def ask() -> None:
        while not over.is_set():
            answered.append(service.ask("/slow" if len(answered) % 4 == 0 else "/"))

    asking = Thread(target=ask)
    asking.start()
    try:
        eventually(lambda: len(answered) > 10, "answers")
        service.reload(note="as it is now")
        eventually(lambda: service.events("settings.reloaded"), "a reload")
        soon = len(answered) + 10
        eventually(lambda: len(answered) > soon or not asking.is_alive(), "answers")
    finally:
        over.set()
        asking.join()
    assert len(answered) > soon, "somebody was turned away"
    assert len(set(answered)) > 2, "both the former and the new ones answered"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"extra": "CANARY-7f3a"}, "extra"),
        ({"problem": ["CANARY-7f3a"]}, "problem"),
        ({"files": ["/none/a.pem"]}, "/none/a.pem is not there"),
    ],
)
def test_what_can_not_be_used_is_refused_in_words(
    service: Tiny, change: dict[str, object], words: str
) -> None:
    before = set(service.children)
    service.reload(**change)
    assert words in refusal(service)
    assert "CANARY" not in service.log()
    assert set(service.children) == before
    assert service.readiness()[0] == 200


def test_a_file_that_is_gone_is_refused(service: Tiny) -> None:
    service.config.unlink()
    service.process.send_signal(signal.SIGHUP)
    assert "can't be read" in refusal(service)
    assert service.readiness()[0] == 200


@pytest.mark.parametrize("what", ["server", "ops", "workers"])
def test_ports_and_the_number_of_processes_want_a_restart(service: Tiny, what: str) -> None:
    server = dict(service.settings["server"])
    (port,) = free_ports(1)
    change = {
        "server": {"server": server | {"port": port}},
        "ops": {"ops": {"port": port}},
        "workers": {"server": server | {"workers": 3}},
    }[what]
    service.reload(**change, note="not taken up either")
    assert "restart" in refusal(service)
    assert service.readiness()[1]["checks"]["other"]["detail"] is None


def test_new_ones_that_do_not_get_ready_change_nothing(service: Tiny) -> None:
    before = set(service.children)
    service.reload(die_at_start=True)
    assert "does not get ready" in refusal(service)
    assert set(service.children) == before
    service.reload(die_at_start=False, note="mended")
    eventually(lambda: service.events("settings.reloaded"), "a reload")
    assert service.readiness()[1]["checks"]["other"]["detail"] == "mended"


def test_refused_settings_are_tried_again_when_asked_to(service: Tiny) -> None:
    service.reload(die_at_start=True)
    refusal(service)
    service.process.send_signal(signal.SIGHUP)
    eventually(lambda: len(service.events("settings.refused")) == 2, "another refusal")


def test_a_problem_that_was_there_before_does_not_hinder(tmp_path: Path) -> None:
    with tiny(tmp_path, problem="it does not answer") as running:
        eventually(lambda: "thing" in running.readiness()[1].get("checks", {}), "heard")
        running.reload(note="as it is now")
        eventually(lambda: running.events("settings.reloaded"), "a reload")


def test_the_logs_level_changes_in_place(service: Tiny) -> None:
    before = set(service.children)
    service.reload(log={"level": "warning"})
    eventually(lambda: service.events("tiny.asked") or service.ask("/"), "a request")
    eventually(lambda: quiet(service), "silence")
    service.reload(log={"level": "debug"})
    eventually(lambda: not quiet(service), "every event")
    assert set(service.children) == before


def test_a_signal_has_everything_written_until_the_next_one(tmp_path: Path) -> None:
    with tiny(tmp_path, log={"level": "info"}) as running:
        eventually(lambda: running.readiness()[0] == 200, "ready")
        assert quiet(running)
        running.process.send_signal(signal.SIGUSR1)
        eventually(lambda: not quiet(running), "every event")
        running.process.send_signal(signal.SIGUSR1)
        eventually(lambda: quiet(running), "silence")


def quiet(service: Tiny) -> bool:
    before = len(service.events("tiny.asked"))
    service.ask("/")
    return len(service.events("tiny.asked")) == before


def test_a_service_that_is_told_to_stop_while_it_reloads_stops(service: Tiny) -> None:
    children = service.children
    service.reload(note="as it is now")
    assert service.stop() == 0
    started = {event["child"] for event in service.events("process.started")}
    assert not any(map(is_alive, {*children, *started}))
