"""`gatepost whoami`. A declaration only, so that --help is quick."""

from gatepost.cli.options import Options, with_options


@with_options
def whoami(options: Options) -> None:
    """Say who you are to the gateway.

    The identity in your certificate, what it may do, and when it expires.
    """
    from gatepost.cli import identity

    identity.show(options)
