"""Tasks that do nothing, where the libraries that import them by name can find them."""


def nothing() -> None:
    """Do nothing."""


async def nothing_async(*_: object) -> None:
    """Do nothing, asynchronously."""
