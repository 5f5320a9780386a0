"""The main server's looks, in the order in which they are shown."""

from main_server.commands.doctor import keys, ledger, nights, queue, redis

LOOKS = (*redis.LOOKS, *ledger.LOOKS, *queue.LOOKS, *keys.LOOKS, *nights.LOOKS)
