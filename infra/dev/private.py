"""Makes folders and files that nobody but their owner can read, from the first byte on."""

import os
from pathlib import Path


def private_folder(folder: Path) -> Path:
    """Return the folder, made if need be, with its parents; what is made is its owner's alone."""
    if not folder.exists():
        private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def write_private(file: Path, content: str | bytes, mode: int = 0o600) -> None:
    """Put the content in its place whole: a reader sees the old file or the new one."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(content.encode() if isinstance(content, str) else content)
    draft.replace(file)
