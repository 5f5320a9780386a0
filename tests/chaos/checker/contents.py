"""What messages say in the end: what each row holds, and what a person is shown of it, is what was
sent. Digests are compared; what they are of is nowhere in the evidence.
"""

from collections.abc import Iterator

from tests.chaos.checker.case import Case, Finding
from tests.chaos.checker.evidence import Post, Row


def shown_as_sent(case: Case) -> Iterator[Finding]:
    """Every delivered row holds what was posted, and that is what is shown."""
    for row, post in delivered_rows(case):
        if row.digest != post.digest:
            how = "holds another content" if row.digest else "can't be opened"
            yield Finding("lost", row.message_id, f"delivered, and its row {how}")
    posts = {row.message_id: post for row, post in delivered_rows(case)}
    for message_id, digest, why in case.evidence.shown:
        wanted = posts.get(message_id)
        if digest is None:
            yield Finding("unexpected", message_id or "portal", f"the portal shows nothing: {why}")
        elif wanted is not None and digest != wanted.shown:
            yield Finding("lost", message_id, "the portal shows another content")


def delivered_rows(case: Case) -> list[tuple[Row, Post]]:
    """Each with the post that it came from."""
    found = []
    for message in case.fates.messages.values():
        post = next((one for one in message.posts if one.digest), None)
        if post is not None:
            found += [(row, post) for row in message.rows if row.status == "delivered"]
    return found
