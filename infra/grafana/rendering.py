"""Renders a dashboard as Grafana's JSON: all alike, three panels a row, nothing to differ."""

import json
from typing import Any

from infra.grafana.boards import Board, Panel

COLUMNS, WIDTH, HEIGHT = 3, 8, 8
SOURCE = {"type": "prometheus", "uid": "${source}"}


def render(board: Board) -> str:
    return json.dumps(_document(board), indent=1, ensure_ascii=False) + "\n"


def _document(board: Board) -> dict[str, Any]:
    source = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}
    return {
        "uid": f"gatepost-{board.name}",
        "title": board.title,
        "tags": ["gatepost"],
        "schemaVersion": 39,
        "time": {"from": "now-6h", "to": "now"},
        "refresh": "30s",
        "templating": {"list": [source]},
        "links": [{"type": "dashboards", "tags": ["gatepost"], "title": "Gatepost"}],
        "panels": [_panel(number, panel) for number, panel in enumerate(board.panels)],
    }


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    row, column = divmod(number, COLUMNS)
    place = {"h": HEIGHT, "w": WIDTH, "x": column * WIDTH, "y": row * HEIGHT}
    targets = [
        {"refId": chr(ord("A") + n), "expr": query, "legendFormat": legend or panel.title}
        for n, (legend, query) in enumerate(panel.queries.items())
    ]
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "targets": targets,
    }
