"""The teeth: each a patch whose head says what is planted, which promise it breaks and which scene
makes it show.
"""

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Tooth:
    name: str
    bug: str
    promise: str
    scene: str
    patch: Path


def read_teeth() -> list[Tooth]:
    return [_read(file) for file in sorted(FOLDER.glob("*.patch"))]


def _read(file: Path) -> Tooth:
    head: dict[str, str] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("---"):
            break
        name, colon, value = line.partition(": ")
        if colon:
            head[name] = value
    return Tooth(file.stem, head["Bug"], head["Breaks"], head["Scene"], file)
