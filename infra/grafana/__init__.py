"""Dashboards for Grafana, written down in `boards.py`; `python -m infra.grafana` makes the JSON."""
