"""Declares the dashboards: what each panel asks of Prometheus.

What processes and machines count is added up. What each main server says of a store that all share
is one figure told several times: the greatest is taken.
"""

from dataclasses import dataclass, field

POSTS = 'route=~"/api/v1/messages(/batch)?"'
NIGHTLY = 'kind="nightly"'


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel; `queries` are by the names of their lines, `unit` is Grafana's name of the unit."""

    title: str
    unit: str
    queries: dict[str, str]


@dataclass(frozen=True, slots=True)
class Board:
    name: str
    title: str
    panels: list[Panel] = field(default_factory=list)


def quantiles(metric: str, labels: str = "", by: str = "") -> dict[str, str]:
    rate = f"sum by (le{by and ', ' + by}) (rate({metric}_bucket{{{labels}}}[5m]))"
    legend = f"{{{{{by}}}}} " if by else ""
    return {
        f"{legend}{name}": f"histogram_quantile({quantile}, {rate})"
        for name, quantile in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    }


def rate(metric: str, by: str, labels: str = "") -> dict[str, str]:
    return {f"{{{{{by}}}}}": f"sum by ({by}) (rate({metric}{{{labels}}}[5m]))"}


def since(metric: str, labels: str = "") -> str:
    return f"time() - {metric}{{{labels}}}"


OVERVIEW = Board(
    "overview",
    "Gatepost: overview",
    [
        Panel("Alerts that fire", "none", {"": 'count(ALERTS{alertstate="firing"}) or vector(0)'}),
        Panel("Ready", "none", {"{{service}}": "min by (service) (gatepost_ready)"}),
        Panel("Releases", "none", {"{{version}}": "count by (version) (gatepost_build_info)"}),
        Panel("Posts", "reqps", {"all": "gatepost:posts:rate5m"}),
        Panel("Delivered", "ops", {"messages": "gatepost:delivered:rate5m"}),
        Panel(
            "Not accepted",
            "percentunit",
            {
                "requests": "gatepost:posts_failed:ratio5m",
                "messages": "gatepost:messages_unsafe:ratio5m",
            },
        ),
        Panel(
            "Posts, and the way to delivery",
            "s",
            {
                "answered, p95": "gatepost:post_seconds:p95_5m",
                "delivered, p95": "gatepost:under_way_seconds:p95_5m",
            },
        ),
        Panel("Waiting", "none", {"all queues": "sum(gatepost:queue_waiting)"}),
        Panel("Oldest that is ready", "s", {"of all": "max(gatepost:queue_oldest_seconds)"}),
        Panel(
            "Machines",
            "percentunit",
            {
                "{{instance}} processors": "gatepost:cpu:ratio",
                "{{instance}} memory": "gatepost:memory:ratio",
                "{{instance}} {{mountpoint}}": "gatepost:disk:ratio",
            },
        ),
    ],
)

PATH = Board(
    "path",
    "Gatepost: the path of a message",
    [
        Panel("Posts by status", "reqps", rate("gatepost_proxy_requests_total", "status", POSTS)),
        Panel("Messages by promise", "ops", rate("gatepost_proxy_messages_total", "outcome")),
        Panel(
            "Answers to posts",
            "s",
            quantiles("gatepost_proxy_request_seconds", 'route="/api/v1/messages"'),
        ),
        Panel("Commits", "s", quantiles("gatepost_proxy_commit_seconds", by="store")),
        Panel(
            "Main server, by route",
            "s",
            {
                "{{route}} p95": "histogram_quantile(0.95, sum by (le, route) "
                '(rate(gatepost_main_server_request_seconds_bucket{route=~"/internal/messages/.+"}[5m])))'
            },
        ),
        Panel("From acceptance to delivery", "s", quantiles("gatepost_worker_under_way_seconds")),
        Panel("Portal", "reqps", rate("gatepost_portal_requests_total", "status")),
    ],
)

QUEUES = Board(
    "queues",
    "Gatepost: queues",
    [
        Panel("Waiting, by queue", "none", {"{{queue}}": "gatepost:queue_waiting"}),
        Panel("Oldest that is ready", "s", {"{{queue}}": "gatepost:queue_oldest_seconds"}),
        Panel(
            "By place",
            "none",
            {"{{place}}": "sum by (place) (max by (queue, place) (gatepost_queue_messages))"},
        ),
        Panel("Paused by hand", "none", {"{{what}}": "max by (what) (gatepost_paused)"}),
        Panel("In Redis alone", "none", {"{{queue}}": "max by (queue) (gatepost_queue_exposed)"}),
        Panel(
            "Reconciled",
            "ops",
            {
                "enqueued again": "sum(rate(gatepost_reconciler_enqueued_total[5m]))",
                "registered": "sum(rate(gatepost_reconciler_registered_total[5m]))",
            },
        ),
        Panel("Who reconciles", "none", {"{{instance}}": "gatepost_reconciler_leads"}),
    ],
)

WORKERS = Board(
    "workers",
    "Gatepost: workers and other processes",
    [
        Panel("Attempts by result", "ops", rate("gatepost_worker_attempts_total", "result")),
        Panel("Given up", "ops", rate("gatepost_worker_failures_total", "reason")),
        Panel(
            "In the way",
            "ops",
            {
                "retries": "sum(rate(gatepost_worker_retries_total[5m]))",
                "batches given back": "sum(rate(gatepost_worker_outages_total[5m]))",
                "leases lost": "sum(rate(gatepost_worker_late_total[5m]))",
            },
        ),
        Panel("Batches", "s", quantiles("gatepost_worker_deliver_seconds")),
        Panel(
            "Processes",
            "none",
            {
                "{{service}}": "sum by (service) (gatepost_processes)",
                "{{service}} wanted": "sum by (service) (gatepost_processes_wanted)",
            },
        ),
        Panel(
            "Processes that died, in an hour",
            "none",
            {"{{service}}": "sum by (service) (increase(gatepost_process_deaths_total[1h]))"},
        ),
        Panel(
            "Processes in trouble",
            "none",
            {
                "{{service}} {{check}}": "sum by (service, check) (gatepost_troubled_processes)",
            },
        ),
        Panel("Clocks", "s", {"{{service}} {{instance}}": "gatepost_clock_difference_seconds"}),
    ],
)

CERTIFICATES = Board(
    "certificates",
    "Gatepost: certificates",
    [
        Panel(
            "Without a successor, and over within days",
            "none",
            {"{{days}}": "max by (days) (gatepost_certificates_expiring)"},
        ),
        Panel(
            "The CA's own",
            "s",
            {"{{certificate}}": "min by (certificate) (gatepost_ca_seconds_left)"},
        ),
        Panel(
            "Age of the list of revoked ones",
            "s",
            {"{{service}}": "max by (service) (gatepost_crl_age_seconds)"},
        ),
        Panel(
            "Until all are refused",
            "s",
            {"{{service}}": "min by (service) (gatepost_crl_seconds_left)"},
        ),
        Panel(
            "Processes that refuse for want of it",
            "none",
            {"{{service}}": 'sum by (service) (gatepost_troubled_processes{check="revocations"})'},
        ),
    ],
)

STORES = Board(
    "stores",
    "Gatepost: stores",
    [
        Panel(
            "Redis's memory",
            "bytes",
            {
                "used": "max(gatepost_redis_memory_bytes)",
                "limit": "max(gatepost_redis_memory_limit_bytes)",
            },
        ),
        Panel("Redis's longest flush of a minute", "s", {"": "max(gatepost_redis_fsync_seconds)"}),
        Panel("Redis's append-only file", "bytes", {"": "max(gatepost_redis_aof_bytes)"}),
        Panel("Redis's file is well", "none", {"": "min(gatepost_redis_aof_ok)"}),
        Panel(
            "Connections",
            "none",
            {
                "Redis": "max(gatepost_redis_clients)",
                "ledger": "max(gatepost_ledger_connections)",
                "ledger's limit": "max(gatepost_ledger_connections_limit)",
            },
        ),
        Panel("Days of partitions ahead", "none", {"": "min(gatepost_ledger_days_ahead)"}),
        Panel("Rows past the last day", "none", {"": "max(gatepost_ledger_misplaced_rows)"}),
        Panel(
            "Audit log",
            "none",
            {
                "whole": "min(gatepost_audit_whole)",
                "entries": "max(gatepost_audit_entries)",
            },
        ),
        Panel(
            "Since the audit log was checked",
            "s",
            {"": "time() - max(gatepost_audit_checked_timestamp_seconds)"},
        ),
        Panel("Disks", "percentunit", {"{{instance}} {{mountpoint}}": "gatepost:disk:ratio"}),
    ],
)

NIGHT = Board(
    "night",
    "Gatepost: the night",
    [
        Panel(
            "Since the last good run",
            "s",
            {
                "pipeline": since("gatepost_analytics_last_success_timestamp_seconds", NIGHTLY),
                "retention": since("gatepost_retention_last_success_timestamp_seconds"),
                "backup": since("gatepost_backup_last_success_timestamp_seconds"),
                "drill": since("gatepost_backup_drill_last_success_timestamp_seconds"),
            },
        ),
        Panel(
            "The last run went well",
            "none",
            {
                "pipeline": f"gatepost_analytics_last_run_ok{{{NIGHTLY}}}",
                "retention": "gatepost_retention_last_run_ok",
                "backup": "gatepost_backup_last_run_ok",
            },
        ),
        Panel(
            "How long it took",
            "s",
            {
                "pipeline": f"gatepost_analytics_success_seconds{{{NIGHTLY}}}",
                "retention": "gatepost_retention_success_seconds",
                "backup": "gatepost_backup_last_success_seconds",
                "drill": "gatepost_backup_drill_last_success_seconds",
            },
        ),
        Panel(
            "Messages",
            "none",
            {
                "sealed in the lake": f"gatepost_analytics_rows{{{NIGHTLY}}}",
                "taken away": "gatepost_retention_messages",
            },
        ),
        Panel(
            "To be looked at",
            "none",
            {
                "unusual": f"gatepost_analytics_unusual{{{NIGHTLY}}}",
                "changed late": f"gatepost_analytics_late_changes{{{NIGHTLY}}}",
                "counts disagree": f"gatepost_analytics_counts_disagree{{{NIGHTLY}}}",
                "left past its day": "gatepost_retention_left",
            },
        ),
        Panel("Size of the backup", "bytes", {"": "gatepost_backup_last_success_bytes"}),
    ],
)

BOARDS = [OVERVIEW, PATH, QUEUES, WORKERS, CERTIFICATES, STORES, NIGHT]
