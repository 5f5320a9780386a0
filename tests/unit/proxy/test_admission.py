"""Admission: a submission or a refusal for any bytes, and a refusal repeats nothing."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatepost.clock import from_ms, iso
from gatepost.errors import GatepostError, IdentityMismatch, Invalid, Malformed
from gatepost.problem import describe
from proxy.admission import Submission, admit
from proxy.settings import Validation
from tests.factories import BODY, CLIENT_ID, NAME, NUMBER, identity

SENDER = identity()
RULES = Validation()
SAMPLE = {
    "sender_number": NUMBER,
    "message_body": BODY,
    "metadata": {"client_id": NAME, "timestamp": "2025-10-20T12:34:56.789Z"},
}
ASTRAL = "\U0001f600"
CANARY = "CANARY"


def document(**given: Any) -> dict[str, Any]:
    return {"sender_number": NUMBER, "message_body": BODY} | given


def try_(what: Any, rules: Validation = RULES) -> Submission:
    body = what if isinstance(what, bytes) else json.dumps(what).encode()
    return admit(body, SENDER, rules)


def mistakes(what: Any, rules: Validation = RULES) -> dict[str, str]:
    with pytest.raises(Invalid) as refused:
        try_(what, rules)
    assert refused.value.errors, "a refusal must say where"
    return {error.pointer: error.detail for error in refused.value.errors}


def test_the_sample_of_the_design_is_admitted() -> None:
    admitted = try_(SAMPLE)
    assert admitted.sender_number == NUMBER
    assert admitted.message_body == BODY
    assert admitted.client_timestamp is not None
    assert iso(admitted.client_timestamp) == "2025-10-20T12:34:56.789Z"


def test_metadata_and_each_of_its_fields_may_be_left_out() -> None:
    for metadata in ({}, {"client_id": NAME}, {"timestamp": "2025-10-20T12:34:56Z"}):
        try_(document(metadata=metadata))
    assert try_(document()).client_timestamp is None


@pytest.mark.parametrize(
    "number", ["+10", "+12", "+999999999999999", "+123456789012345", "+49301234567"]
)
def test_a_number_in_e164_is_admitted(number: str) -> None:
    assert try_(document(sender_number=number)).sender_number == number


BAD_NUMBERS = [
    "",
    "+",
    "+1",
    "1234567890",
    "+0123456789",
    "00491234567",
    "+1234567890123456",
    "++1234567890",
    "+1234567890\n",
    "\n+1234567890",
    "+1234567890\r",
    "+1234567890\0",
    " +1234567890",
    "+1234567890 ",
    "+12 345 67890",
    "+1-234-567-890",
    "+1(234)567890",
    "+1.234567890",
    "+12345a7890",
    "+1234567890;ext=1",
    "tel:+1234567890",
    "+\u0661\u0662\u0663\u0664\u0665\u0666",  # Arabic-Indic digits
    "+1\u0662\u0663\u0664\u0665\u0666",
    "+\uff11\uff12\uff13\uff14\uff15",  # full-width digits
    "+1\U0001d7ce\U0001d7cf\U0001d7d0",  # mathematical digits
    "\uff0b1234567890",  # a full-width plus
    "+123456789\u00b2",  # a superscript
    "+12345\u200b67890",
    "\u202d+1234567890",
    "+1" + "2" * 100_000,
]


@pytest.mark.parametrize("number", BAD_NUMBERS)
def test_a_number_in_any_other_form_is_refused(number: str) -> None:
    assert set(mistakes(document(sender_number=number))) == {"/sender_number"}


@pytest.mark.parametrize("number", BAD_NUMBERS)
def test_the_designs_own_pattern_is_held_to_the_whole_number_in_ascii(number: str) -> None:
    rules = Validation(phone_pattern=r"^\+[1-9]\d{1,14}$")
    assert set(mistakes(document(sender_number=number), rules)) == {"/sender_number"}
    try_(document(), rules)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "x" * 1000,
        ASTRAL,
        ASTRAL * 1000,
        "e\u0301" * 500,
        " x ",
        "\nx\n",
        "\u202ex",
        "\x01\x1f\x7f",
        "\ufeffx",
        "\ufffd\uffff\U0010ffff",
        '"\\/\b\f\n\r\t',
        "<script>alert(1)</script>",
        "'; DROP TABLE messages; --",
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_body_of_1_to_1000_characters_is_admitted_as_it_is(text: str, ascii_only: bool) -> None:
    encoded = json.dumps(document(message_body=text), ensure_ascii=ascii_only).encode()
    assert len(encoded) <= 16 * 1024, "1000 characters must fit, however they are written"
    assert try_(encoded).message_body == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "blank"),
        (" ", "blank"),
        (" \t\r\n ", "blank"),
        ("\u00a0\u2003\u3000\u2028\u2029\x85", "blank"),
        ("x" * 1001, "1000 characters"),
        (ASTRAL * 1001, "1000 characters"),
        ("e\u0301" * 500 + "x", "1000 characters"),
        (" " * 1001, "1000 characters"),
        ("\0", "NUL"),
        ("a\0b", "NUL"),
        ("x" * 999 + "\0", "NUL"),
    ],
)
def test_a_body_that_is_blank_too_long_or_holds_nul_is_refused(text: str, why: str) -> None:
    found = mistakes(document(message_body=text))
    assert set(found) == {"/message_body"}
    assert why in found["/message_body"]


def test_the_length_of_a_body_is_a_setting() -> None:
    rules = Validation(max_body_length=3)
    assert try_(document(message_body=ASTRAL * 3), rules)
    assert "3 characters" in mistakes(document(message_body="xxxx"), rules)["/message_body"]


WRONG_TYPES = ["null", "true", "false", "0", "1", "-1.5", "1e999", "[]", "{}", '["x"]', "9" * 4000]


@pytest.mark.parametrize("value", WRONG_TYPES)
@pytest.mark.parametrize("place", ["sender_number", "message_body"])
def test_a_field_that_is_no_string_is_refused(place: str, value: str) -> None:
    other = {"sender_number": BODY, "message_body": NUMBER}
    fields = [f'"{n}":{value if n == place else json.dumps(document()[n])}' for n in other]
    assert mistakes(("{" + ",".join(fields) + "}").encode()) == {f"/{place}": "must be a string"}


@pytest.mark.parametrize("value", WRONG_TYPES)
@pytest.mark.parametrize("place", ["client_id", "timestamp"])
def test_metadata_that_is_no_string_is_refused(place: str, value: str) -> None:
    start = json.dumps(document())[:-1]
    body = f'{start},"metadata":{{"{place}":{value}}}}}'.encode()
    assert mistakes(body) == {f"/metadata/{place}": "must be a string"}


@pytest.mark.parametrize("value", [v for v in WRONG_TYPES if v != "{}"] + ['"x"', '""'])
def test_metadata_is_an_object(value: str) -> None:
    body = f'{json.dumps(document())[:-1]},"metadata":{value}}}'.encode()
    assert mistakes(body) == {"/metadata": "must be an object"}


@pytest.mark.parametrize("value", [v for v in WRONG_TYPES if v != "{}"] + ['"x"', '""'])
def test_a_document_that_is_no_object_is_refused(value: str) -> None:
    assert mistakes(value.encode()) == {"": "must be an object"}


@pytest.mark.parametrize("body", ["1" * 5000, '{"sender_number":' + "1" * 5000 + "}"])
def test_a_number_of_five_thousand_digits_is_malformed(body: str) -> None:
    with pytest.raises(Malformed):
        try_(body.encode())


def test_every_mistake_is_told_at_once() -> None:
    found = mistakes(
        {"sender_number": 1, "extra": 2, "metadata": {"client_id": 3, "timestamp": "x", "more": 4}}
    )
    assert set(found) == {
        "/sender_number",
        "/message_body",
        "/extra",
        "/metadata/client_id",
        "/metadata/timestamp",
        "/metadata/more",
    }
    assert found["/message_body"] == "is required"


@pytest.mark.parametrize("name", ["extra", "message_id", "Sender_Number", "_", "A" * 64])
def test_an_unknown_field_with_a_plain_name_is_named(name: str) -> None:
    (found,) = mistakes(document(**{name: 1})).items()
    meant = "; did you mean sender_number?" if name == "Sender_Number" else ""
    assert found == (f"/{name}", f"is not a field that is known here{meant}")
    nested = mistakes(document(metadata={name: 1}))
    assert nested == {f"/metadata/{name}": "is not a field that is known here"}


def test_of_many_unknown_fields_the_first_are_told_with_the_right_ones() -> None:
    """A batch may have ten thousand."""
    names = ("sender_numbr", "mesage_body", "metadatas", "sendernumber", "body")
    found = mistakes(document(**dict.fromkeys(names, 1)))
    assert [f"/{name}" for name in names] == list(found)
    assert ["did you mean" in words for words in found.values()] == [True] * 3 + [False] * 2


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "sender_number ",
        "a b",
        "A" * 65,
        "a1",
        "a-b",
        "a/b",
        "a~b",
        "<script>",
        "\n",
        "extra\n",
        "\0",
        "\u0441lient",
        "na\u00efve",
        ASTRAL,
        "../../etc/passwd",
        "+1234567890",
        "__proto__1",
        "$where",
    ],
)
def test_an_unknown_field_with_any_other_name_is_not_named(name: str) -> None:
    for what, pointer in ((document(**{name: 1}), ""), (document(metadata={name: 1}), "/metadata")):
        assert mistakes(what) == {pointer: "is not a field that is known here"}
        with pytest.raises(Invalid) as refused:
            try_(what)
        answer = json.loads(describe(refused.value).body())
        if name.strip():
            assert name not in json.dumps(answer, ensure_ascii=False)


def test_a_hundred_unknown_fields_do_not_make_a_hundred_mistakes() -> None:
    body = json.dumps(document(**{f"f{'x' * n}": 1 for n in range(100)})).encode()
    with pytest.raises(Invalid) as refused:
        try_(body)
    assert len(refused.value.errors) <= 12


@pytest.mark.parametrize("client_id", [NAME, CLIENT_ID])
def test_a_client_id_may_be_the_name_or_domain_and_name(client_id: str) -> None:
    try_(document(metadata={"client_id": client_id}))


@pytest.mark.parametrize(
    "client_id",
    [
        "",
        "client_002",
        "Client_001",
        "client_001 ",
        "client_001\n",
        "client_001\0",
        "client_001.example.com",
        "example.com",
        "example.com:",
        ":client_001",
        "example.com:client_002",
        "example.org:client_001",
        "EXAMPLE.COM:client_001",
        "example.com:client_001:x",
        "gatepost://example.com/client/client_001",
        "gatepost:admin",
        "\u0441lient_001",
        "client_\uff10\uff10\uff11",
        "*",
        "x" * 10_000,
    ],
)
def test_any_other_client_id_disagrees(client_id: str) -> None:
    with pytest.raises(IdentityMismatch) as refused:
        try_(document(metadata={"client_id": client_id}))
    if client_id.strip("*"):
        assert client_id.encode() not in describe(refused.value).body()


def test_what_is_wrong_is_told_before_who_it_claims_to_be() -> None:
    """Or a sender without the right would learn which values pass."""
    assert set(mistakes(document(message_body="", metadata={"client_id": "other"})))


@pytest.mark.parametrize(
    ("stamp", "read"),
    [
        ("2025-10-20T12:34:56Z", "2025-10-20T12:34:56.000Z"),
        ("2025-10-20T12:34:56.7Z", "2025-10-20T12:34:56.700Z"),
        ("2025-10-20T12:34:56.789Z", "2025-10-20T12:34:56.789Z"),
        ("2025-10-20T12:34:56.789999999Z", "2025-10-20T12:34:56.789Z"),
        ("2025-10-20T12:34:56.999999Z", "2025-10-20T12:34:56.999Z"),
        ("2025-10-20T12:34:56+00:00", "2025-10-20T12:34:56.000Z"),
        ("2025-10-20T12:34:56-00:00", "2025-10-20T12:34:56.000Z"),
        ("2025-10-20T14:34:56.5+02:00", "2025-10-20T12:34:56.500Z"),
        ("2025-10-20T18:19:56+05:45", "2025-10-20T12:34:56.000Z"),
        ("2025-10-20T12:34:56+23:59", "2025-10-19T12:35:56.000Z"),
        ("2025-10-20T12:34:56-23:59", "2025-10-21T12:33:56.000Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"),
        ("1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"),
        ("1000-01-01T00:00:00Z", "1000-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999Z"),
        ("9999-12-31T23:59:59+01:00", "9999-12-31T22:59:59.000Z"),
    ],
)
def test_a_timestamp_is_read_to_the_millisecond_and_the_ledger_can_hold_it(
    stamp: str, read: str
) -> None:
    found = try_(document(metadata={"timestamp": stamp})).client_timestamp
    assert found is not None
    assert iso(found) == read
    assert 1000 <= from_ms(found).year <= 9999


@pytest.mark.parametrize(
    "stamp",
    [
        "",
        "now",
        "1760963696",
        "2025-10-20",
        "2025-10-20T12:34:56",
        "2025-10-20 12:34:56Z",
        "2025-10-20t12:34:56z",
        "2025-10-20T12:34Z",
        "2025-10-20T12:34:56.Z",
        "2025-10-20T12:34:56,789Z",
        "2025-10-20T12:34:56.1234567890Z",
        "2025-10-20T12:34:56Z ",
        " 2025-10-20T12:34:56Z",
        "2025-10-20T12:34:56Z\n",
        "2025-10-20T12:34:56Z\0",
        "2025-10-20T12:34:56+0200",
        "2025-10-20T12:34:56+02",
        "2025-10-20T12:34:56+24:00",
        "2025-10-20T12:34:56+02:60",
        "2025-10-20T12:34:56+05:99",
        "2025-10-20T12:34:56\u221202:00",
        "2025-10-20T12:34:56+02:00Z",
        "2025-10-20T24:00:00Z",
        "2025-10-20T25:00:00Z",
        "2025-10-20T12:60:00Z",
        "2016-12-31T23:59:60Z",
        "2025-10-20T12:34:61Z",
        "2025-02-29T00:00:00Z",
        "2025-13-01T00:00:00Z",
        "2025-00-01T00:00:00Z",
        "2025-01-00T00:00:00Z",
        "2025-W43-1T12:34:56Z",
        "2025-293T12:34:56Z",
        "20251020T123456Z",
        "+2025-10-20T12:34:56Z",
        "-001-10-20T12:34:56Z",
        "12025-10-20T12:34:56Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "0999-12-31T23:59:59.999Z",
        "1000-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "\u0662\u0660\u0662\u0665-10-20T12:34:56Z",
        "\uff12\uff10\uff12\uff15-10-20T12:34:56Z",
        "2025-10-20T12:34:56Z" * 1000,
    ],
)
def test_any_other_timestamp_is_refused(stamp: str) -> None:
    assert set(mistakes(document(metadata={"timestamp": stamp}))) == {"/metadata/timestamp"}


@given(
    st.datetimes(
        min_value=datetime(1000, 1, 2),
        max_value=datetime(9999, 12, 30),
        timezones=st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m))),
    )
)
def test_any_time_that_python_writes_is_read_as_the_same_time(moment: datetime) -> None:
    found = try_(document(metadata={"timestamp": moment.isoformat()})).client_timestamp
    assert found is not None
    assert timedelta() <= moment - from_ms(found).replace(tzinfo=UTC) < timedelta(milliseconds=1)


VALID = st.fixed_dictionaries(
    {
        "sender_number": st.from_regex(r"\+[1-9][0-9]{1,14}", fullmatch=True),
        "message_body": st.text(
            st.characters(exclude_characters="\0", exclude_categories=["Cs"]),
            min_size=1,
            max_size=1000,
        ).filter(str.strip),
    },
    optional={
        "metadata": st.fixed_dictionaries(
            {},
            optional={
                "client_id": st.sampled_from([NAME, CLIENT_ID]),
                "timestamp": st.datetimes(
                    min_value=datetime(1000, 1, 1),
                    timezones=st.just(UTC),
                ).map(datetime.isoformat),
            },
        )
    },
)


@given(VALID, st.booleans())
def test_everything_that_is_valid_is_admitted(what: dict[str, Any], ascii_only: bool) -> None:
    admitted = try_(json.dumps(what, ensure_ascii=ascii_only).encode())
    assert admitted.sender_number == what["sender_number"]
    assert admitted.message_body == what["message_body"]


NEARLY = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text()
    | st.sampled_from([NUMBER, BODY, NAME, "2025-10-20T12:34:56Z"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=5)
            | st.sampled_from(
                ["sender_number", "message_body", "metadata", "client_id", "timestamp", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=10,
).map(lambda what: json.dumps(what).encode())


@given(st.binary(max_size=300) | NEARLY)
def test_any_bytes_are_admitted_or_refused_and_nothing_else(body: bytes) -> None:
    try:
        admitted = admit(body, SENDER, RULES)
    except (Malformed, Invalid, IdentityMismatch) as refused:
        problem = describe(refused)
        assert problem.status in (400, 403, 422)
        json.loads(problem.body().decode())
    else:
        assert 1 <= len(admitted.message_body) <= 1000


PLACES: list[dict[str, Any]] = [
    {"sender_number": "{}"},
    {"message_body": "{}\0"},
    {"message_body": "{}" * 200},
    {"metadata": "{}"},
    {"metadata": {"client_id": "{}"}},
    {"metadata": {"timestamp": "{}"}},
    {"metadata": {"client_id": ["{}"]}},
    {"metadata": {"{}+": "{}"}},
    {"sender_number": ["{}"], "message_body": {"{}+": "{}"}},
    {"{}-": "{}"},
    {"known": "{}"},
]


def planted(template: Any, canary: str) -> Any:
    return json.loads(json.dumps(template).replace("{}", canary))


@pytest.mark.parametrize("template", PLACES)
@pytest.mark.parametrize(
    "canary", [f"{CANARY}-7f3a", "4917012345678", f"{CANARY} \u00e4\U0001f600"]
)
def test_nothing_that_was_sent_comes_back(template: dict[str, Any], canary: str) -> None:
    given_ = planted(template, canary)
    body = json.dumps(document(message_body=canary, sender_number="+4917012345678") | given_)
    assert_silent(body.encode(), canary)


@pytest.mark.parametrize(
    "body",
    [
        b'{"CANARY-7f3a',
        b'{"CANARY-7f3a" "x"}',
        b'{"a": CANARY-7f3a}',
        b"CANARY-7f3a",
        b'{"CANARY-7f3a":1,"CANARY-7f3a":2}',
        b'{"a":"CANARY-7f3a\\ud800"}',
        b'{"a":"CANARY-7f3a\xff"}',
        b'{"a":"CANARY-7f3a\\q"}',
        b'{"a":NaN,"b":"CANARY-7f3a"}',
        b'{"a":"CANARY-7f3a","b":' + b"[" * 20,
        b'"CANARY-7f3a"',
        b'["CANARY-7f3a"]',
    ],
)
def test_nothing_of_what_could_not_be_read_comes_back(body: bytes) -> None:
    assert_silent(body, "CANARY-7f3a")


def assert_silent(body: bytes, canary: str) -> None:
    with pytest.raises(GatepostError) as refused:
        admit(body, SENDER, RULES)
    shown = [describe(refused.value).body().decode(), str(refused.value), repr(refused.value)]
    escaped = json.dumps(canary).strip('"')
    for text in shown:
        assert canary not in text
        assert escaped not in text
        assert CANARY not in text
        assert "4917012345678" not in text
    # Nor in a chained exception, which a traceback would show.
    assert refused.value.__cause__ is None


def test_a_submission_shows_nothing_of_itself() -> None:
    admitted = try_(SAMPLE)
    for text in (repr(admitted), str(admitted), f"{admitted}"):
        assert NUMBER not in text
        assert BODY not in text
