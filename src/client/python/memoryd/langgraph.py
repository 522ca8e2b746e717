"""A store for LangGraph: its items are memories, so that questions find them and nothing is lost by a put."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any, Callable, Iterable, Sequence

from ._client import Memoryd
from ._kept import Owner, is_blank, missing, path_tag
from ._transport import MemorydError

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        InvalidNamespaceError,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        validate_op_namespace,
    )
except ModuleNotFoundError as error:
    raise missing(error, "langgraph", "langgraph", "langgraph") from None

TAG = "langgraph"
#: A memory has at most 64 tags.
MAX_LABELS = 60
MAX_CONTENT_CHARS = 200_000
MAX_QUESTION_CHARS = 8_192
#: The daemon's limit.
MAX_MATCHES = 200


class MemorydStore(BaseStore):
    """A store of one user, and of one project or none. A namespace is there while an item is in it.

    ``fields`` are the paths of the texts that questions find an item by, where a put names none in ``index``; all of its value if left out.
    """

    __slots__ = ("_fields", "_owner")

    def __init__(
        self,
        user_id: str,
        *,
        project: str | None = None,
        client: Memoryd | None = None,
        fields: Sequence[str] = ("$",),
    ) -> None:
        self._owner = Owner(client or Memoryd(client_name="langgraph"), user_id, project)
        self._fields = list(fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answers in order; reads see what was there before the puts, of which the last one for a key counts."""
        operations = list(ops)
        for operation in operations:
            _check(operation)
        results = [self._read(operation) for operation in operations]
        puts = {(each.namespace, each.key): each for each in operations if isinstance(each, PutOp)}
        for put in puts.values():
            self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, operation: Op) -> Result:
        if isinstance(operation, GetOp):
            kept = self._kept(operation.namespace, operation.key)
            return _item_of(kept[0]) if kept else None
        if isinstance(operation, SearchOp):
            return self._search(operation)
        if isinstance(operation, ListNamespacesOp):
            return self._namespaces(operation)
        return None

    def _kept(self, namespace: tuple[str, ...], key: str) -> list[Any]:
        """The memories of a key, the one that counts first."""
        found = self._owner.kept_with(path_tag(TAG, namespace, key))
        return [
            memory for memory in found if (marks := _marks_of(memory)) and marks["key"] == key and tuple(marks["namespace"]) == namespace
        ]

    def _put(self, operation: PutOp) -> None:
        namespace, key, value, index = operation.namespace, operation.key, operation.value, operation.index
        while True:
            kept = self._kept(namespace, key)
            if value is None:
                return self._owner.trash(kept)
            paths = [path_tag(TAG, namespace[: i + 1]) for i in range(len(namespace))]
            tags = [TAG, *paths, path_tag(TAG, namespace, key)]
            marks = {
                "namespace": list(namespace),
                "key": key,
                "value": dict(value),
                **({"index": False} if index is False else {}),
            }
            content = _content_of(key, value, [] if index is False else index or self._fields)
            if not kept:
                self._owner.add(content=content, tags=tags, metadata={TAG: marks})
                # Another program may have made it at the same moment.
                return self._owner.trash(self._kept(namespace, key)[1:])
            first, *others = kept
            try:
                self._owner.client.memories.update(
                    first["id"],
                    content=content,
                    tags=list(dict.fromkeys([*tags, *first["tags"]])),
                    metadata={**first["metadata"], TAG: marks},
                    user_id=self._owner.user_id,
                )
            except MemorydError as error:
                if error.code == "NOT_FOUND":  # It was deleted meanwhile.
                    continue
                raise
            return self._owner.trash(others)

    def _search(self, operation: SearchOp) -> list[SearchItem]:
        prefix, wanted = operation.namespace_prefix, operation.offset + operation.limit
        tag = path_tag(TAG, prefix)
        found: dict[Any, SearchItem] = {}

        def take(memory: Any, score: float | None = None) -> None:
            item = _item_of(memory, score)
            if item is None or item.namespace[: len(prefix)] != tuple(prefix):
                return
            conditions = (operation.filter or {}).items()
            if all(_matches(item.value.get(name), value) for name, value in conditions):
                found.setdefault((item.namespace, item.key), item)

        if operation.query and operation.query.strip():
            filters: Any = {"user_id": self._owner.user_id, "project": [self._owner.project], "tags": [tag]}
            question = operation.query[:MAX_QUESTION_CHARS]
            for match in self._owner.client.query(question, k=MAX_MATCHES, filters=filters)["matches"]:
                if (_marks_of(match) or {}).get("index") is not False:
                    take(match, match["score"])
        if len(found) < wanted:
            for memory in self._owner.memories(tag):
                take(memory)
                if len(found) >= wanted:
                    break
        return list(found.values())[operation.offset : wanted]

    def _namespaces(self, operation: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = set()
        for memory in self._owner.memories(TAG):
            marks = _marks_of(memory)
            if marks is None:
                continue
            namespace = tuple(marks["namespace"])
            if all(_fits(namespace, condition) for condition in operation.match_conditions or ()):
                found.add(namespace[: operation.max_depth])
        return sorted(found)[operation.offset : operation.offset + operation.limit]


def _check(operation: Op) -> None:
    validate_op_namespace(operation)
    namespace: tuple[str, ...] = getattr(operation, "namespace", getattr(operation, "namespace_prefix", ()))
    if len(namespace) > MAX_LABELS:
        raise InvalidNamespaceError(f"A namespace can have at most {MAX_LABELS} labels; got {len(namespace)}.")


def _marks_of(memory: Any) -> dict[str, Any] | None:
    """None for a memory that only has the tag."""
    marks = memory["metadata"].get(TAG)
    is_whole = (
        isinstance(marks, dict)
        and isinstance(marks.get("namespace"), list)
        and isinstance(marks.get("key"), str)
        and isinstance(marks.get("value"), dict)
    )
    return marks if is_whole else None


def _item_of(memory: Any, score: float | None = None) -> SearchItem | None:
    marks = _marks_of(memory)
    if marks is None:
        return None
    return SearchItem(
        namespace=tuple(marks["namespace"]),
        key=marks["key"],
        value=marks["value"],
        created_at=_time(memory["created_at"]),
        updated_at=_time(memory["updated_at"]),
        score=score,
    )


def _time(text: str) -> Any:
    # `datetime.fromisoformat` knows the Z from Python 3.11 on; `Item` reads the text.
    return text.replace("Z", "+00:00")


def _content_of(key: str, value: Any, paths: Sequence[str]) -> str:
    """The texts that questions find an item by, one a line."""
    text = "\n".join(found for path in paths for found in _texts_at(value, path))
    return next((each for each in (text, key) if not is_blank(each)), "item")[:MAX_CONTENT_CHARS]


def _texts_at(value: Any, path: str) -> list[str]:
    """Texts at a path such as ``title``, ``meta.title``, ``chapters[*].text``, ``authors[0]``, ``authors[-1]`` or ``$``."""
    found = [value]
    for step in [] if path == "$" else re.findall(r"[^.\[\]]+", path):
        found = [inner for each in found for inner in _step(each, step)]
    return [text for each in found for text in _texts_in(each)]


def _step(value: Any, step: str) -> list[Any]:
    if step == "*":
        return list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
    if isinstance(value, list):
        at = int(step) if re.fullmatch(r"-?\d+", step) else len(value)
        return [value[at]] if -len(value) <= at < len(value) else []
    return [value[step]] if isinstance(value, dict) and step in value else []


def _texts_in(value: Any) -> list[str]:
    if isinstance(value, (dict, list, tuple)):
        inner = value.values() if isinstance(value, dict) else value
        return [text for each in inner for text in _texts_in(each)]
    if value is None:
        return []
    return [value if isinstance(value, str) else json.dumps(value)]


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, wanted: value == wanted,
    "$ne": lambda value, wanted: value != wanted,
    "$gt": lambda value, wanted: float(value) > float(wanted),
    "$gte": lambda value, wanted: float(value) >= float(wanted),
    "$lt": lambda value, wanted: float(value) < float(wanted),
    "$lte": lambda value, wanted: float(value) <= float(wanted),
}


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a field has a value, or stands in the relations to others that a filter names, as in LangGraph's own stores."""
    if isinstance(wanted, dict) and any(name.startswith("$") for name in wanted):
        unknown = [name for name in wanted if name not in COMPARISONS]
        if unknown:
            raise ValueError(f"Unsupported operator: {unknown[0]}")
        return all(COMPARISONS[name](value, other) for name, other in wanted.items())
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(_matches(value.get(name), other) for name, other in wanted.items())
    if isinstance(wanted, (list, tuple)):
        is_list = isinstance(value, (list, tuple)) and len(value) == len(wanted)
        return is_list and all(map(_matches, value, wanted))
    return bool(value == wanted)


def _fits(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    start = 0 if condition.match_type == "prefix" else len(namespace) - len(path)
    return all(label in ("*", namespace[start + i]) for i, label in enumerate(path))
