"""The options of `./dev bench`: the programs of bench/, by their modules' names."""

import argparse

from infra.dev.options.programs import Programs, one_of

SUBJECTS = ("gatepost", "one_at_a_time", "plain")
QUEUE_PARTS = ("rates", "depth", "peers", "idle")


def path() -> argparse.ArgumentParser:
    words = "Measure the whole path, in one run on a stack of its own; write docs/performance.md."
    parser = argparse.ArgumentParser(prog="./dev bench path", description=words)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each load (10)")
    parser.add_argument("--backlog", type=int, default=200_000, help="messages to drain (200,000)")
    parser.add_argument("--only", choices=SUBJECTS, help="one subject; writes no document")
    return parser


def queue() -> argparse.ArgumentParser:
    words = "Measure the queue engine by itself, in one run on a Redis of its own."
    parser = argparse.ArgumentParser(prog="./dev bench queue", description=words)
    parser.add_argument(
        "parts",
        nargs="*",
        type=one_of(QUEUE_PARTS),
        metavar="PART",
        help=f"some of: {', '.join(QUEUE_PARTS)}; else all",
    )
    parser.add_argument("--messages", type=int, default=1_000_000, help="the deepest queue")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual messages, for rates")
    _write(parser, "docs/performance-queue.md")
    return parser


def revocation() -> argparse.ArgumentParser:
    words = "Measure how long a certificate is taken after the revoking call has answered."
    parser = argparse.ArgumentParser(prog="./dev bench revocation", description=words)
    parser.add_argument("--trials", type=int, default=102, help="in all, over the three scenes")
    parser.add_argument("--connections", type=int, default=200, help="live ones, in all")
    parser.add_argument("--revoked", type=int, default=500, help="others that are revoked already")
    _write(parser, "docs/performance-revocation.md")
    return parser


def portal() -> argparse.ArgumentParser:
    words = "Measure how long people wait for the portal's pages, with ten million messages."
    parser = argparse.ArgumentParser(prog="./dev bench portal", description=words)
    parser.add_argument("--rows", type=int, default=10_000_000, help="messages in the ledger")
    _write(parser, "docs/performance-portal.md")
    return parser


def analytics() -> argparse.ArgumentParser:
    words = "Measure what a night of the pipeline costs, with three million messages."
    parser = argparse.ArgumentParser(prog="./dev bench analytics", description=words)
    parser.add_argument("--large", action="store_true", help="thirty million messages")
    parser.add_argument("--scale", type=float, default=1.0, help="of the messages, to try it out")
    _write(parser, "docs/performance-analytics.md")
    return parser


def _write(parser: argparse.ArgumentParser, document: str) -> None:
    parser.add_argument("--write", action="store_true", help=f"write {document}")


PROGRAMS = Programs(
    "bench",
    "Measure.",
    {
        "path": path,
        "queue": queue,
        "revocation": revocation,
        "portal": portal,
        "analytics": analytics,
    },
    default="path",
)
