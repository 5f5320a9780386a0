"""Exit codes: each kind of failure has one, and each one is explained."""

from gatepost.cli.failure import EXIT_OF_KIND, EXITS, Failure, exits_text
from gatepost.client import errors


def test_every_error_of_the_client_has_an_exit_code() -> None:
    kinds = {
        cls.kind
        for cls in vars(errors).values()
        if isinstance(cls, type) and issubclass(cls, errors.GatepostError)
    }
    assert kinds - set(EXIT_OF_KIND) == {"error"}


def test_every_exit_code_is_explained_in_help() -> None:
    assert set(EXIT_OF_KIND.values()) | {0} == set(EXITS)
    for code, what in EXITS.items():
        assert f"{code} " in exits_text()
        assert what in exits_text()


def test_what_is_not_known_is_left_out_for_scripts() -> None:
    failure = Failure("refused", "Words.", status=422, title=None, errors=[], retry_after=0.0)
    assert failure.document() == {
        "kind": "refused",
        "exit_code": 3,
        "message": "Words.",
        "status": 422,
        "retry_after": 0.0,
    }
