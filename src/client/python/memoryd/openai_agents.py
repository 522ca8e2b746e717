"""A session for the OpenAI Agents SDK: its items are turns of a conversation, which questions find like any other."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Sequence

from ._client import Memoryd
from ._kept import Owner, is_blank, missing, path_tag
from ._transport import MemorydError

try:
    from agents.memory import SessionABC
    from agents.memory.session_settings import SessionSettings
except ModuleNotFoundError as error:
    raise missing(error, "agents", "openai-agents", "openai_agents") from None

TAG = "openai-agents"
#: The daemon's limits; of metadata some is left for what is kept beside the item.
MAX_BATCH, MAX_METADATA_BYTES = 1_000, 60_000


class MemorydSession(SessionABC):
    """The items of one conversation of a user, in order, in one project or in none.

    Turns of people and of the assistant are found by questions; calls of tools and their results are kept, and are found by their names.
    ``pop_item`` and ``clear_session`` move items to the trash. One program at a time adds to a session.
    """

    def __init__(
        self,
        session_id: str,
        *,
        user_id: str,
        project: str | None = None,
        client: Memoryd | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._owner = Owner(client or Memoryd(client_name="openai-agents"), user_id, project)
        self._tag = path_tag(TAG, [session_id])

    async def get_items(self, limit: int | None = None) -> list[Any]:
        limit = self.session_settings.limit if limit is None and self.session_settings else limit
        memories = await asyncio.to_thread(self._memories)
        items = [_item_of(memory) for memory in memories]
        return items if limit is None else items[len(items) - limit :] if 0 < limit < len(items) else items[: max(0, limit)]

    async def add_items(self, items: Sequence[Any]) -> None:
        if items:
            await asyncio.to_thread(self._add, list(items))

    async def pop_item(self) -> Any | None:
        memories = await asyncio.to_thread(self._memories)
        if not memories:
            return None
        await asyncio.to_thread(self._owner.trash, memories[-1:])
        return _item_of(memories[-1])

    async def clear_session(self) -> None:
        await asyncio.to_thread(lambda: self._owner.trash(self._memories()))

    def _memories(self) -> list[Any]:
        """The session's memories, in order."""
        found = [memory for memory in self._owner.memories(self._tag) if _marks_of(memory).get("session") == self.session_id]
        return sorted(found, key=lambda memory: (_marks_of(memory)["place"], memory["created_at"], memory["id"]))

    def _add(self, items: list[Any]) -> None:
        kept = self._memories()
        first = _marks_of(kept[-1])["place"] + 1 if kept else 0
        memories = [self._body(item, first + i) for i, item in enumerate(items)]
        for start in range(0, len(memories), MAX_BATCH):
            done: Any = self._owner.client.memories.add_many(memories[start : start + MAX_BATCH])
            refused = next((one for one in done["results"] if "error" in one), None)
            if refused is not None:
                # All or none, so that adding them again doubles nothing.
                self._owner.trash([memory for memory in self._memories() if _marks_of(memory)["place"] >= first])
                raise MemorydError(refused["code"], refused["detail"], status=refused.get("status", 400))

    def _body(self, item: Any, place: int) -> Any:
        """An item that is too large for metadata is kept as the memory's text."""
        marks = {"session": self.session_id, "place": place}
        whole = json.dumps(item, ensure_ascii=False)
        is_large = len(whole.encode()) > MAX_METADATA_BYTES
        body = {
            "content": whole if is_large else _text_of(item),
            "tags": [TAG, self._tag],
            "metadata": {"openai_agents": marks if is_large else {**marks, "item": item}},
            "session_id": self.session_id[:256],
            "user_id": self._owner.user_id,
        }
        return body if self._owner.project is None else {**body, "project": self._owner.project}


def _marks_of(memory: Any) -> dict[str, Any]:
    """Empty for a memory that only has the tag."""
    marks = memory["metadata"].get("openai_agents")
    return marks if isinstance(marks, dict) and isinstance(marks.get("place"), int) else {}


def _item_of(memory: Any) -> Any:
    marks = _marks_of(memory)
    return marks["item"] if "item" in marks else json.loads(memory["content"])


def _text_of(item: Any) -> str:
    """What is said, after who says it, as a conversation is written; of other items their kind and name."""
    content = item.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if isinstance(content, str) and not is_blank(content):
        return f"{item.get('role', 'assistant')}: {content}"[:200_000]
    told = (item.get("type"), item.get("name"), item.get("arguments"), item.get("output"))
    return " ".join(text for text in told if isinstance(text, str) and not is_blank(text))[:200_000] or "item"
