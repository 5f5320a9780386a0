"""Measures the free room on the disk of a place, which need not be there yet."""

import shutil
from pathlib import Path


def free_at(place: Path) -> int:
    """Return the free bytes for anybody but root: what is kept for root counts as used."""
    return shutil.disk_usage(existing(place)).free


def existing(place: Path) -> Path:
    """Return the nearest folder that exists: the place itself, or one above it."""
    place = place.absolute()
    while not _is_folder(place):
        place = place.parent
    return place


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except PermissionError:
        return False
