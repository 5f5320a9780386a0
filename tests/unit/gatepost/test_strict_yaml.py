"""A name that is in a file twice is refused: which of the two counts, nobody can know."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gatepost.config.settings import load
from gatepost.config.strict_yaml import parse_yaml
from gatepost.errors import ConfigurationError
from main_server.tenants.domains.seeding import read_domains
from proxy.settings import ProxySettings

Read = Callable[[Path], object]
FILE = Path("some.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", r"'a' is there twice, at line 3"),
        ("a:\n  b: 1\n  b: 2\n", r"'b' is there twice, at line 3"),
        ("a: [{b: 1, b: 2}]", r"'b' is there twice"),
        ("hunter 2: 1\nhunter 2: 2", r"used: a name is there twice, at line 2"),
        ("1: a\n1: b", r"a name is there twice"),
        ("a: *b", "not YAML at line 1"),
        ("{[1]: 2}", "can't be used"),
        ("a: 2026-13-99", "a value that is none"),
        ("[" * 5_000, "nested too deep"),
        ("- " * 5_000, "nested too deep"),
        ("\0", "not YAML"),
    ],
)
def test_what_is_wrong_is_told_and_where(text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        parse_yaml(FILE, text)


def test_what_is_there_once_is_taken() -> None:
    text = "a: {b: 1, c: 2}\nd: &one {b: 3}\ne: *one\nf: {<<: *one, c: 4}\n"
    once = {"a": {"b": 1, "c": 2}, "d": {"b": 3}, "e": {"b": 3}, "f": {"b": 3, "c": 4}}
    assert parse_yaml(FILE, text) == once


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (lambda file: load(ProxySettings, file), "redis: {host: a}\nredis: {host: b}\n"),
        (lambda file: load(ProxySettings, file), "redis: &a [*a]\n"),
        (read_domains, "domains:\n  a.example: {}\n  a.example: {retention_days: 1}\n"),
        (read_domains, "domains: {}\ndomains: {a.example: {}}\n"),
        (read_domains, "domains: [{name: a.example}, {name: a.example}]\n"),
        (read_domains, "domains: &a {a.example: *a}\n"),
    ],
)
def test_neither_settings_nor_domains_are_read_from_what_is_not_clear(
    tmp_path: Path, read: Read, text: str
) -> None:
    file = tmp_path / "some.yaml"
    file.write_text(text)
    with pytest.raises(ConfigurationError):
        read(file)


def test_what_is_merged_twice_over_is_no_doubled_name() -> None:
    text = "a: &a {x: 1}\nb: {inner: &b {<<: *a, x: 2}}\ntop: {<<: *b, y: 3}\n"
    assert parse_yaml(Path("x.yaml"), text)["top"] == {"x": 2, "y": 3}
