"""What was measured, as a page for people and a file for programs."""

from typing import Any

from bench.rig.pages import in_words, whence

SCENES = {
    "both": "Redis and main server up",
    "redis_down": "Redis down",
    "main_down": "main server killed when the call had answered",
}
ACCEPTED = {
    "new": "new connections",
    "live": "live connections",
    "resumed": "connections that offer a session",
}
KINDS = ACCEPTED | {"cut": "live connections are cut"}


def render(results: dict[str, Any]) -> str:
    noise = results["noise"]
    parts = [
        "# How long a revoked certificate is taken",
        "",
        "Written by `./dev bench revocation --write`; every figure is of that one run, on a stack",
        "of its own, everything on one machine. In each trial an administrator revokes one more",
        "certificate (`POST /admin/certificates/revoke`), in use on live connections, on",
        "new ones and on ones that offer a session, and others are in use beside it.",
        "",
        whence(),
        f"- noise before the run: {in_words(noise)}",
        f"- {results['trials']} trials; {results['processes']} proxy processes;"
        f" {results['connections']} live connections, {results['victims_connections']} of them the"
        " victim's",
        f"- {results['revoked']} certificates on the list at the end",
        "",
        "Milliseconds from the answer of the revoking call to when the last request **began** that",
        "was accepted; negative: none was accepted that began after it.",
        "",
        "| | what | trials | median | p95 | largest |",
        "|---|---|---|---|---|---|",
    ]
    for scene, words in SCENES.items():
        for kind, what in KINDS.items():
            values = sorted(one[kind] for one in results["scenes"].get(scene, []))
            if values:
                parts.append(_row(words, what, values))
    every = [one for scene in results["scenes"].values() for one in scene]
    parts += [
        "",
        "The latest request that was accepted began"
        f" {max(one[kind] for one in every for kind in ACCEPTED):.0f} ms after the answer;"
        " the promise is under 1,000.",
        f"Sessions that were resumed: {sum(one['sessions_resumed'] for one in every)}."
        f" Connections of other certificates that were cut: {results['others_cut']}."
        f" Requests of others that were refused: {results['others_refused']}"
        f" (503 while a process could not tell: {results['others_unsure']}).",
        "In each trial the victim's connections were cut by"
        f" {min(one['processes'] for one in every)} to {max(one['processes'] for one in every)}"
        " of the processes.",
    ]
    return "\n".join(parts) + "\n"


def _row(scene: str, what: str, values: list[float]) -> str:
    middle, high = values[len(values) // 2], values[int(len(values) * 0.95)]
    figures = f"{middle:.0f} | {high:.0f} | {values[-1]:.0f}"
    return f"| {scene} | {what} | {len(values)} | {figures} |"
