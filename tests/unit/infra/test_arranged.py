"""What shares a stack stands together, and what has stores of its own, each in one half."""

from pathlib import Path, PurePath
from random import Random

from tests.arranged import OWN, STACK, arranged

FILES = {
    "tests/acceptance": 30,
    "tests/acceptance/portal": 10,
    "tests/acceptance/two_stores": 20,
    "tests/integration/queue": 40,
    "tests/unit/proxy": 60,
    "tests/unit/queue": 40,
}


def shuffled(seed: int) -> list[tuple[PurePath, str]]:
    tests = [
        (PurePath(folder) / f"test_{number % 3}.py", f"{folder} {number}")
        for folder, count in FILES.items()
        for number in range(count)
    ]
    Random(seed).shuffle(tests)
    return tests


def folders(tests: list[str]) -> list[str]:
    """Each as often as its tests come anew."""
    names = [test.split()[0] for test in tests]
    return [name for name, before in zip(names, ["", *names], strict=False) if name != before]


def test_all_are_there_once_and_each_half_begins_with_what_is_its_own() -> None:
    for seed in range(20):
        given = shuffled(seed)
        found = arranged(given)
        assert sorted(found) == sorted(test for _, test in given)
        first, second = found[: len(found) // 2], found[len(found) // 2 :]
        assert set(folders(first)[:2]) == {"tests/acceptance", "tests/acceptance/portal"}
        assert folders(second)[:2] == ["tests/acceptance/two_stores", "tests/integration/queue"]
        assert len(folders(found)) <= len(FILES) + 1, "what fills the first half ends anywhere"


def test_within_a_folder_the_order_is_the_one_that_was_given() -> None:
    given = shuffled(0)
    for folder in FILES:
        before = [test for _, test in given if test.split()[0] == folder]
        assert [test for test in arranged(given) if test.split()[0] == folder] == before


def test_a_few_are_arranged_as_well() -> None:
    assert arranged([]) == []
    assert arranged([(PurePath("tests/acceptance/test_path.py"), "one")]) == ["one"]


def test_the_folders_that_are_named_are_there() -> None:
    root = Path(__file__).parents[3]
    assert [name for name in (*STACK, *OWN) if not (root / name).is_dir()] == []
