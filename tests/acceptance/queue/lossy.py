"""A wire to Redis that loses replies: what was asked is done, but who asked never hears of it."""

import asyncio
import random
import threading
from types import TracebackType
from typing import Self

from infra.dev.ports import HOST

READ_SIZE = 65536


class LossyWire:
    """Listens on a port of its own and passes everything on, but for some of the replies.

    It runs in a thread, so that the harness may do as it likes meanwhile.
    """

    def __init__(self, port: int, loss: float, chance: random.Random) -> None:
        self.lost = 0
        self.port = 0
        self._upstream = port
        self._loss = loss
        self._chance = chance
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, HOST)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_redis, to_redis = await asyncio.open_connection(HOST, self._upstream)
        asking = asyncio.create_task(_pass_on(reader, to_redis))
        try:
            while reply := await from_redis.read(READ_SIZE):
                if self._chance.random() < self._loss:
                    self.lost += 1
                    break
                writer.write(reply)
                await writer.drain()
        except OSError:
            pass  # a consumer was killed
        finally:
            asking.cancel()
            writer.close()
            to_redis.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while request := await reader.read(READ_SIZE):
            writer.write(request)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()
