"""Reading the ledger by JDBC: every value is what it was, and nothing else can be read."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from sqlalchemy import inspect, make_url

from analytics import extract
from analytics.schema import COLUMNS
from main_server.store.rights import METADATA, SENDERS
from tests.integration.analytics import frames
from tests.integration.analytics.conftest import Ledger
from tests.integration.analytics.days import SEVENTH, Attempt, Message, at

DAY = timedelta(days=1)
CLOCKS_GO_FORWARD = date(2026, 3, 29)
"""In Europe; in New York it is another night, and in UTC none."""


def read(session: SparkSession, ledger: Ledger, day: date = SEVENTH, parts: int = 3) -> Any:
    source = ledger.settings().read_from().address()
    return extract.read_day(session, source, day, parts)


def test_every_column_is_what_it_was(spark: SparkSession, ledger: Ledger) -> None:
    sent = Message(at(SEVENTH, 9, 30, 123), "failed", attempts=3, reason="attempts_used")
    ledger.put(sent, Message(at(SEVENTH, 10)))
    row = read(spark, ledger).where("status = 'failed'").collect()[0].asDict()
    expected = {name: value for name, value in sent.row().items() if name in COLUMNS}
    times = {name: row[name] for name in row if isinstance(row[name], datetime)}
    utc = {name: value.astimezone(UTC).replace(tzinfo=None) for name, value in times.items()}
    assert {**row, **utc, "message_id": bytes(row["message_id"])} == expected


def test_a_day_is_its_messages_and_no_others(spark: SparkSession, ledger: Ledger) -> None:
    first, last = at(SEVENTH, 0), at(SEVENTH, 23, 59, 59_999)
    within = [Message(first, random=bytes(9)), Message(at(SEVENTH, 8)), Message(last)]
    ledger.put(*within, Message(first - 1), Message(last + 1))
    for parts in (1, 3, 24):
        found = [bytes(row["message_id"]) for row in read(spark, ledger, parts=parts).collect()]
        assert sorted(found) == [one.message_id for one in within]


def test_times_of_a_night_when_clocks_go_forward(spark: SparkSession, ledger: Ledger) -> None:
    """02:30 isn't there in much of Europe. An hour more or less would show here."""
    ledger.put(*(Message(at(CLOCKS_GO_FORWARD, hour, 30)) for hour in range(4)))
    hours = f.date_format("queued_at", "HH:mm").alias("at")
    rows = read(spark, ledger, CLOCKS_GO_FORWARD).select(hours, f.unix_millis("queued_at"))
    assert sorted(tuple(row) for row in rows.collect()) == [
        (f"{hour:02}:30", at(CLOCKS_GO_FORWARD, hour, 30)) for hour in range(4)
    ]


def test_with_the_other_scheme_values_would_be_names(
    spark: SparkSession, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Why it must be jdbc:mysql://. If this fails, Spark has learnt MariaDB's quotes."""
    ledger.put(Message(at(SEVENTH)))
    assert read(spark, ledger).where("domain = 'example.com'").count() == 1
    right = extract.jdbc_url
    monkeypatch.setattr(
        extract, "jdbc_url", lambda url: right(url).replace("jdbc:mysql:", "jdbc:mariadb:")
    )
    rows = read(spark, ledger).select("domain", "client_id").collect()
    assert [tuple(row) for row in rows] == [("domain", "client_id")]
    assert read(spark, ledger).where("domain = 'example.com'").count() == 0


def test_attempts_come_with_what_says_whose_they_are(spark: SparkSession, ledger: Ledger) -> None:
    of_the_day, of_another = Message(at(SEVENTH, 9), attempts=2), Message(at(SEVENTH + DAY, 9))
    ledger.put(of_the_day, of_another)
    noted = [Attempt(of_the_day, 1, 40), Attempt(of_the_day, 2, 30_050, 0, "delivered")]
    ledger.note(*noted, Attempt(of_another, 1, 50))
    source = ledger.settings().read_from().address()
    messages = read(spark, ledger)
    found = extract.read_attempts(spark, source, SEVENTH, 3, messages).orderBy("attempt").collect()
    assert [row.asDict() for row in found] == [
        {**row.asDict(), "message_id": bytearray(of_the_day.message_id)}
        for row in frames.noted(spark, *noted).orderBy("attempt").collect()
    ]
    unread = messages.where("FALSE")  # as of a message that came in between
    assert extract.read_attempts(spark, source, SEVENTH, 3, unread).collect() == []


def test_of_senders_the_ledger_tells_what_a_sketch_needs(
    spark: SparkSession, ledger: Ledger
) -> None:
    """The highest rank of each register by client and key, whatever part of the day it is from."""
    sent = [
        Message(at(SEVENTH, n % 24), client=f"c{n % 2}", sender=f"+1{n}", kid=bytes([n % 3] * 8))
        for n in range(300)
    ]
    without = Message(at(SEVENTH), "duplicate", sender=None)
    ledger.put(*sent, without, Message(at(SEVENTH + DAY), sender="+99"))
    source = ledger.settings().read_from().address()
    expected = frames.rows(frames.registers(spark, *sent))
    for parts in (1, 24):
        assert frames.rows(extract.read_senders(spark, source, SEVENTH, parts)) == expected


@pytest.mark.parametrize(
    ("bits", "register", "rank"),
    [
        (bytes(8), 0, 48),
        (b"\xff" * 8, 4095, 1),
        (b"\xf0\x01" + b"\x00\x01\x00\x00\x00\x00", 1, 16),
        (b"\x1f\xff" + b"\x00\x00\x00\x00\x00\x01", 4095, 48),
        (b"\x00\x10" + b"\x00\x00\x00\x00\x00\x02", 16, 47),
    ],
)
def test_registers_and_ranks_are_of_bits_that_have_nothing_in_common(
    spark: SparkSession, ledger: Ledger, bits: bytes, register: int, rank: int
) -> None:
    sent = Message(at(SEVENTH))
    ledger.put(sent)
    ledger.change(sent, sender_number_hashed=bits + b"\xaa" * 24)
    source = ledger.settings().read_from().address()
    (row,) = extract.read_senders(spark, source, SEVENTH, 1).collect()
    assert (row["register"], row["rank"]) == (register, rank)


def test_the_reader_can_read_metadata_alone(spark: SparkSession, ledger: Ledger) -> None:
    assert set(METADATA) == set(COLUMNS)
    shown = inspect(ledger.engine).get_columns(SENDERS)
    assert {column["name"] for column in shown} == {
        *("message_id", "client_id", "domain", "hmac_kid", "sender_register", "sender_rank")
    }
    url = make_url(ledger.server.url("gatepost_lake"))
    options = {"user": url.username, "password": url.password, "driver": extract.DRIVER}
    for query in (
        "SELECT encrypted_body FROM messages",
        "SELECT sender_number_hashed FROM messages",
        "SELECT hmac_kid FROM messages",
        "SELECT wrapped FROM gatepost_keys.data_keys",
        "SELECT day FROM lake_manifest",
    ):
        reader = spark.read.format("jdbc").options(**options, url=extract.jdbc_url(url))
        with pytest.raises(Py4JJavaError, match="denied"):
            reader.option("query", query).load().collect()
