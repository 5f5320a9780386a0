"""What is due by what a run went by and by what is set now: nothing that only one lets go."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from main_server.tenants.policy import Policies, due_by_both

TODAY = date(2026, 11, 19)
CLIENTS = [f"{domain}:{name}" for domain in ("a.example", "b.example") for name in ("x", "y")]
DOMAINS = ["a.example", "b.example"]
days = st.integers(6, 60)
policies = st.builds(
    Policies,
    st.dictionaries(st.sampled_from(DOMAINS), days),
    st.dictionaries(st.sampled_from(CLIENTS), days),
    st.frozensets(st.sampled_from(DOMAINS)),
    st.frozensets(st.sampled_from(CLIENTS)),
)


@given(one=policies, other=policies, client_id=st.sampled_from(CLIENTS), ago=st.integers(0, 70))
def test_it_is_due_by_both_or_not_at_all(
    one: Policies, other: Policies, client_id: str, ago: int
) -> None:
    day = TODAY - timedelta(days=ago)
    by_each = [policy.is_due(client_id, day, TODAY) for policy in (one, other)]
    assert due_by_both(one, other).is_due(client_id, day, TODAY) is all(by_each)
