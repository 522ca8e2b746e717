"""How frameworks' data lies in memories, see ``docs/frameworks.md``: tags that say what a memory is, of one user and project."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Any, Iterator, Sequence
from urllib.parse import quote

from ._client import Memoryd
from ._transport import MemorydError

MAX_TAG_CHARS = 256
#: A character that can be seen; a memory without one is refused.
VISIBLE = re.compile(
    "[^\\s\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0]"
)


def missing(error: ModuleNotFoundError, module: str, package: str, used_by: str) -> ImportError:
    """What to raise where a framework cannot be imported: one sentence with its package, if that is what is missing."""
    if (error.name or "").split(".")[0] != module:
        return error
    return ImportError(f'memoryd.{used_by} needs the package {package}; install it with `pip install "memoryd[{package}]"`.')


def is_blank(text: str) -> bool:
    return VISIBLE.search(text) is None


def path_tag(root: str, path: Sequence[str], key: str | None = None) -> str:
    """The tag of a path below a root, and of a key in it: no two paths have the same one."""
    end = "" if key is None else f"?{_encoded(key)}"
    tag = "/".join([root, *map(_encoded, path)]) + end
    return tag if len(tag) <= MAX_TAG_CHARS else f"{root}#{hashlib.sha256(tag.encode()).hexdigest()}"


def _encoded(part: str) -> str:
    return quote(part, safe="!*'()")


@dataclass(frozen=True)
class Owner:
    """Whose data it is: of one user, and of one project, or of what has none."""

    client: Memoryd
    user_id: str
    project: str | None = None

    def memories(self, tag: str) -> Iterator[Any]:
        """Those with a tag that have exactly that user and project, newest first."""
        return self.client.memories.list(user_id=self.user_id, project=self.project or "", tag=tag)

    def kept_with(self, tag: str) -> list[Any]:
        """The same. Of several for one key the first one counts: the one changed last, and of those never changed the one added first."""
        oldest_first = list(self.memories(tag))[::-1]
        return sorted(oldest_first, key=lambda memory: memory["updated_at"] if memory["version"] > 1 else "", reverse=True)

    def add(self, **fields: Any) -> Any:
        place: Any = {} if self.project is None else {"project": self.project}
        return self.client.memories.add(**fields, **place, user_id=self.user_id)

    def trash(self, memories: Sequence[Any], *, if_same: bool = False) -> None:
        """Moves them to the trash; those that are gone already are left out. ``if_same``: only where nobody changed them."""
        for memory in memories:
            try:
                version = memory["version"] if if_same else None
                self.client.memories.delete(memory["id"], trash=True, user_id=self.user_id, if_version=version)
            except MemorydError as error:
                if error.code != "NOT_FOUND":
                    raise
