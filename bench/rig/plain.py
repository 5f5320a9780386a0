"""The plainest gateway that could work: FastAPI, the ORM, one await each.

It promises far less than Gatepost: no seal, no lease, no idempotency, no reconciling; a message
whose worker dies is lost. It commits to the same Redis (appendfsync always) and the same MariaDB
(flush at commit) over the same mTLS, two processes each.
"""

import json
import multiprocessing
import signal
import ssl
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import redis
import redis.asyncio
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel, Field
from sqlalchemy import String, create_engine
from sqlalchemy.dialects.mysql import DATETIME
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, sessionmaker
from starlette.concurrency import run_in_threadpool

QUEUE = "plain_queue"
PROCESSES = 2


class Base(DeclarativeBase):
    pass


class Message(Base):
    __tablename__ = "plain_messages"
    message_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    sender_number: Mapped[str] = mapped_column(String(16))
    message_body: Mapped[str] = mapped_column(String(1000))
    status: Mapped[str] = mapped_column(String(10), index=True)
    queued_at: Mapped[datetime] = mapped_column(DATETIME(fsp=3))
    delivered_at: Mapped[datetime | None] = mapped_column(DATETIME(fsp=3))


class Submission(BaseModel):
    sender_number: str = Field(pattern=r"^\+[1-9][0-9]{1,14}$")
    message_body: str = Field(min_length=1, max_length=1000)


def create_app(status: dict[str, Any]) -> FastAPI:
    app = FastAPI()
    sessions = sessionmaker(create_engine(status["database"], pool_size=20))
    queue = redis.asyncio.Redis.from_url(status["redis"])

    def store(message_id: str, submission: Submission) -> None:
        with sessions() as session:
            session.add(
                Message(
                    message_id=message_id,
                    sender_number=submission.sender_number,
                    message_body=submission.message_body,
                    status="queued",
                    queued_at=_now(),
                )
            )
            session.commit()

    @app.post("/api/v1/messages", status_code=202)
    async def accept(submission: Submission) -> dict[str, str]:
        message_id = str(uuid.uuid4())
        await run_in_threadpool(store, message_id, submission)
        await queue.lpush(QUEUE, json.dumps({"message_id": message_id}))
        return {"message_id": message_id, "status": "queued"}

    return app


def serve(status: dict[str, Any], folder: Path, sock: Any) -> None:
    pki = folder / "pki"
    config = uvicorn.Config(
        create_app(status),
        ssl_certfile=pki / "proxy.pem",
        ssl_keyfile=pki / "proxy.key",
        ssl_ca_certs=str(pki / "ca.pem"),
        ssl_cert_reqs=ssl.CERT_REQUIRED,
        log_level="error",
    )
    uvicorn.Server(config).run(sockets=[sock])


def work(status: dict[str, Any]) -> None:
    sessions = sessionmaker(create_engine(status["database"]))
    queue = redis.Redis.from_url(status["redis"])
    while True:
        found: Any = queue.brpop([QUEUE], timeout=1)
        if found is None:
            continue
        with sessions() as session:
            _deliver(session, json.loads(found[1])["message_id"])


def _deliver(session: Session, message_id: str) -> None:
    message = session.get(Message, message_id)
    if message is not None:
        message.status, message.delivered_at = "delivered", _now()
        session.commit()


def _now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def main() -> None:
    folder, port, service = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    status = json.load(sys.stdin)
    Base.metadata.create_all(create_engine(status["database"]))
    if service == "proxy":
        sock = uvicorn.Config("", host="127.0.0.1", port=port).bind_socket()
        targets: list[tuple[Any, tuple[Any, ...]]] = [(serve, (status, folder, sock))] * PROCESSES
    else:
        targets = [(work, (status,))] * PROCESSES
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # ends the children as well
    children = [multiprocessing.Process(target=t, args=a, daemon=True) for t, a in targets]
    for child in children:
        child.start()
    for child in children:
        child.join()


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()
