"""Writes the page of all looks, docs/doctor.md, out of their registry.

A test compares it with the page; `gatepost doctor --reference > docs/doctor.md` mends it.
"""

from collections.abc import Sequence

from gatepost.cli.doctor.look import Look

_HEAD = """\
# Doctor

This page is written by `gatepost doctor --reference` from the looks themselves.

    gatepost doctor
    gatepost doctor redis ledger
    gatepost doctor --without root-key --json

It looks at what an expert would look at on a machine of the gateway, and says of what isn't in
order what was found, why that matters, and the command that mends it or shows more of it. Nothing
is changed by looking. It works with all of it down: that is what it finds then.

It finds the settings where `gatepost config check` does, in `/etc/gatepost`, or in the folder
that `--folder` names; in a checkout, those of the stack that `./dev up` runs, and the commands are
those that a checkout has. What isn't on a machine isn't looked for there: one with a proxy alone is
asked about the proxy. Each look has ten seconds. One that fails, or takes longer, is told as such
and stops no other. Run it as root: as a service's user it says what it may not see, and the command
to see it by.

| exit code | |
|---|---|
| 0 | all is as it should be |
| 1 | there are warnings |
| 2 | something is wrong; or the command can't look at all, as it says then |
| 3 | something can't be told, and nothing is worse |

They are those of monitoring plugins. With `--json` each finding is a line, and the last line
counts them.

## What it looks at

Where the command is for one service or file, the finding names it.

| look | at | why | command |
|---|---|---|---|
"""
_FOOT = """
## For support

    gatepost doctor --bundle FILE.tar.gz

writes an archive as well, for its owner alone (mode 0600), and never over a file that is there.
In it:

| file | |
|---|---|
| findings.json | what was found |
| versions.json | of Gatepost, Python, the libraries, the kernel |
| settings.json | each setting and where it came from; what is secret is masked |
| units.json | what systemd says of our units |
| metrics | of each service that answers |
| logs | the last events of each service |

What is written comes from lists of what may be: of an event those of its fields that are known to
hold no content, and of these no text that looks like a number, a key or a token. Lines that are
no events of ours are counted, not copied; so are the stores' own logs left out. At last the
archive is searched for every secret that the settings of this machine name, in plain, base64 and
hex, and a file with one in it is left out. Look through it all the same.
"""


def page(looks: Sequence[Look]) -> str:
    rows = [f"| `{one.name}` | {one.at} | {one.why} | `{_cell(one.mend)}` |\n" for one in looks]
    return _HEAD + "".join(rows) + _FOOT


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
