"""What stores must be set to, as each engine names it."""

import pytest

from main_server.store.checks import ledger_faults, redis_faults

COMMON = {
    "innodb_flush_log_at_trx_commit": "1",
    "log_bin": "OFF",
    "local_infile": "OFF",
    "general_log": "OFF",
    "slow_query_log": "OFF",
    "sql_mode": "STRICT_TRANS_TABLES,NO_ZERO_IN_DATE",
}
MYSQL = COMMON | {"transaction_isolation": "READ-COMMITTED", "binlog_encryption": "OFF"}
MARIADB = COMMON | {"tx_isolation": "READ-COMMITTED", "encrypt_binlog": "OFF"}
ENGINES = pytest.mark.parametrize("engine", [MYSQL, MARIADB], ids=["MySQL", "MariaDB"])
REDIS: dict[str | None, str | None] = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "aof-load-truncated": "no",
    "maxmemory-policy": "noeviction",
}


@ENGINES
def test_a_ledger_as_it_should_be(engine: dict[str, str]) -> None:
    assert ledger_faults(engine) == []


@ENGINES
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("innodb_flush_log_at_trx_commit", "0"),
        ("innodb_flush_log_at_trx_commit", "2"),
        ("isolation", "REPEATABLE-READ"),
        ("isolation", "READ-UNCOMMITTED"),
        ("log_bin", "ON"),
        ("general_log", "ON"),
        ("slow_query_log", "ON"),
        ("local_infile", "ON"),
        ("sql_mode", ""),
        ("sql_mode", "ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION"),
    ],
)
def test_each_setting_counts(engine: dict[str, str], name: str, value: str) -> None:
    if name == "isolation":
        name = next(one for one in engine if one.endswith("isolation"))
    faults = ledger_faults(engine | {name: value})
    assert len(faults) == 1


@ENGINES
def test_a_binary_log_may_be_there_if_it_is_encrypted(engine: dict[str, str]) -> None:
    sealed = next(one for one in engine if "encrypt" in one)
    assert ledger_faults(engine | {"log_bin": "ON", sealed: "ON"}) == []


@ENGINES
@pytest.mark.parametrize("mode", ["STRICT_ALL_TABLES", "ANSI,STRICT_TRANS_TABLES,TRADITIONAL"])
def test_there_is_more_than_one_way_to_be_strict(engine: dict[str, str], mode: str) -> None:
    assert ledger_faults(engine | {"sql_mode": mode}) == []


def test_what_can_not_be_seen_is_a_fault() -> None:
    assert len(ledger_faults({})) == 3
    assert len(redis_faults({})) == 5


def test_a_redis_as_it_should_be() -> None:
    assert redis_faults(REDIS) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("appendonly", "no"),
        ("appendfsync", "everysec"),
        ("appendfsync", "no"),
        ("no-appendfsync-on-rewrite", "yes"),
        ("aof-load-truncated", "yes"),
        ("maxmemory-policy", "allkeys-lru"),
        ("maxmemory-policy", "volatile-ttl"),
    ],
)
def test_each_setting_of_redis_counts(name: str, value: str) -> None:
    (fault,) = redis_faults(REDIS | {name: value})
    assert name in fault
    assert value in fault
