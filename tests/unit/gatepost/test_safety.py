"""What must not be in production: sample secrets, private files that others can read."""

import secrets
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.safety import password_faults, private_file_faults, url_password_faults

SAMPLES = ["", "password", "Password123!", "changeme", "CHANGE_ME", "secret", "root", "test1234"]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_is_a_fault(sample: str) -> None:
    assert len(password_faults(sample, "gatepost_main")) == 1


@pytest.mark.parametrize("simple", ["short1A", "aaaaaaaaaaaaaaaaaaaa", "abababababababab"])
def test_so_is_what_is_too_simple(simple: str) -> None:
    assert "too simple" in password_faults(simple)[0]


def test_so_is_the_name_of_the_user() -> None:
    assert password_faults("gatepost_main", "gatepost_main")
    assert password_faults("Gatepost_Main", "gatepost_main")


def test_what_was_drawn_at_random_is_none() -> None:
    """As infra/dev makes them."""
    for _ in range(500):
        assert password_faults(secrets.token_urlsafe(24), "gatepost_main") == []


@given(password=st.text("#§¶€", min_size=1, max_size=40))
def test_no_fault_ever_says_the_password(password: str) -> None:
    (fault,) = password_faults(password, "someone")
    assert password not in fault


@pytest.mark.parametrize(
    ("url", "count"),
    [
        ("redis://127.0.0.1:6379/0", 1),
        ("redis://user@127.0.0.1:6379/0", 1),
        ("redis://user:@127.0.0.1:6379/0", 1),
        ("redis://user:change%5Fme@127.0.0.1:6379/0", 1),
        ("redis://user:kJ3x%2FzP9_qwLm7@127.0.0.1:6379/0", 0),
        ("rediss://:kJ3x_zP9_qwLm7@127.0.0.1:6379/0", 0),
    ],
)
def test_the_password_in_a_url(url: str, count: int) -> None:
    assert len(url_password_faults(url)) == count


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o777])
def test_a_private_file_that_others_can_read_is_a_fault(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "a.key"
    file.touch()
    file.chmod(mode)
    assert private_file_faults(file) == [f"{file} can be read by others: chmod 600 {file}"]


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_its_owners_alone_is_none(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "a.key"
    file.touch()
    file.chmod(mode)
    assert private_file_faults(file) == []
    assert private_file_faults(tmp_path / "none") == []
