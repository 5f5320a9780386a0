"""What workers say of lost leases is read from their logs, whatever else is in there."""

import json
from pathlib import Path

from tests.chaos.reclaimed import reclaimed


def test_of_all_lines_those_are_read_that_tell_of_lost_leases(tmp_path: Path) -> None:
    lost = {"ts": "2026-11-19T15:13:33.783Z", "event": "leases.reclaimed", "count": 167}
    lines = ["Traceback: leases.reclaimed", json.dumps(lost | {"event": "other"})]
    lines += [json.dumps(lost), json.dumps(lost)[:-9]]
    (tmp_path / "worker-1.log").write_text("\n".join(lines))
    (tmp_path / "proxy-1.log").write_text(json.dumps(lost))
    assert list(reclaimed(tmp_path)) == [{"wall": 1795101213.783, "count": 167}]
