"""`python -m infra.grafana`: writes the dashboards' files anew."""

from pathlib import Path

from infra.grafana.boards import BOARDS
from infra.grafana.rendering import render

FOLDER = Path(__file__).parent / "dashboards"

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for board in BOARDS:
        (FOLDER / f"{board.name}.json").write_text(render(board), encoding="utf-8")
