"""Masking of numbers, for lists: enough is shown to tell one from others, never more than half of
its digits."""

_AHEAD, _BEHIND = 3, 4
_HIDDEN = "****"
"""The hidden part, always as long, so that it doesn't tell how many digits it stands for."""


def mask(number: str) -> str:
    """Mask a number: `+491701234567` becomes `+491****567`. Of a short one, less is shown."""
    digits = number.removeprefix("+")
    shown = len(digits) // 2
    behind = min(_BEHIND, (shown + 1) // 2)
    ahead = min(_AHEAD, shown - behind)
    return f"+{digits[:ahead]}{_HIDDEN}{digits[len(digits) - behind :]}"
