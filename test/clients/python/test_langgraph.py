"""The store for LangGraph beside LangGraph's own."""

import asyncio
import random
from typing import TypedDict

import pytest

pytest.importorskip("langgraph")

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from memoryd import Memoryd, MemorydError
from memoryd.langgraph import MemorydStore

LABELS = ["a", "b", "a/b", "a?b", "ü%2F", "*", " "]
KEYS = ["k", "k/1", "ключ", "?"]


@pytest.fixture
def store(daemon, user):
    return MemorydStore(user, client=Memoryd(daemon.url))


def plain(result):
    if isinstance(result, list):
        return sorted(map(repr, map(plain, result)))
    return (result.namespace, result.key, result.value) if hasattr(result, "value") else result


@pytest.mark.parametrize("seed", range(3))
def test_answers_as_langgraphs_own_store_does(store, seed):
    draw, own = random.Random(seed), InMemoryStore()
    for _ in range(60):
        namespace = tuple(draw.choice(LABELS) for _ in range(draw.randint(1, 3)))
        key = draw.choice(KEYS)
        value = {"text": draw.choice(["tea", "coffee"]), "n": draw.randint(0, 9), "deep": {"list": [1, {"x": None}]}}
        filter = draw.choice([None, {"n": {"$gt": 4, "$ne": 7}}, {"text": "tea"}, {"deep": {"list": [1, {"x": None}]}}])
        condition = MatchCondition(draw.choice(["prefix", "suffix"]), (draw.choice(LABELS),))
        operation = draw.choice(
            [
                PutOp(namespace, key, value),
                PutOp(namespace, key, draw.choice([value, None]), draw.choice([None, False, ["text"]])),
                GetOp(namespace, key),
                SearchOp(namespace[: draw.randint(0, 2)], filter=filter, limit=100),
                ListNamespacesOp((condition,), max_depth=draw.choice([None, 1, 2]), limit=100),
            ]
        )
        # Theirs lists namespaces that are empty.
        for empty in [one for one, items in own._data.items() if not items]:
            del own._data[empty]
        [ours], [theirs] = store.batch([operation]), own.batch([operation])
        assert plain(ours) == plain(theirs), operation


def test_a_put_is_a_version_and_a_delete_can_be_taken_back(store, user):
    store.put(("prefs",), "ada", {"drink": "tea"})
    created = store.get(("prefs",), "ada").created_at
    store.put(("prefs",), "ada", {"drink": "coffee"})
    item = store.get(("prefs",), "ada")
    assert (item.value, item.created_at) == ({"drink": "coffee"}, created)
    client = store._owner.client
    [memory] = client.memories.list(user_id=user)
    assert memory["version"] == 2
    store.delete(("prefs",), "ada")
    assert store.get(("prefs",), "ada") is None
    client.trash.restore(memory["id"], user_id=user)
    assert store.get(("prefs",), "ada").value == {"drink": "coffee"}


def test_search_by_text_ranks_and_honours_index(store):
    store.put(("notes",), "key", {"text": "The spare key hangs behind the water meter.", "room": "hall"})
    store.put(("notes",), "rent", {"text": "The rent is due on the first.", "room": "study"})
    store.put(("notes",), "secret", {"text": "Where is the spare key? Not here."}, index=False)
    found = store.search(("notes",), query="Where is the spare key?")
    assert [item.key for item in found][0] == "key"
    assert found[0].score > 0.5 and {item.key: item.score for item in found}["secret"] is None
    assert [item.key for item in store.search(("notes",), query="spare key", filter={"room": "study"})] == ["rent"]


def test_keeps_whole_numbers_exactly_or_refuses_them(store):
    store.put(("a",), "k", {"n": 2**53, "text": str(2**60 + 1)})
    assert store.get(("a",), "k").value == {"n": 2**53, "text": str(2**60 + 1)}
    with pytest.raises(MemorydError, match="Send it as text"):
        store.put(("a",), "k", {"n": 2**60 + 1})
    assert store.get(("a",), "k").value["n"] == 2**53


def test_refuses_what_langgraph_refuses(store):
    for namespace in [(), ("",), ("a.b",), ("langgraph", "a"), tuple("x" * 61)]:
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})


def test_of_another_project_nothing_is_seen(daemon, user):
    client = Memoryd(daemon.url)
    MemorydStore(user, client=client, project="one").put(("a",), "k", {"of": "one"})
    assert MemorydStore(user, client=client).get(("a",), "k") is None
    assert MemorydStore(user, client=client, project="two").search(()) == []


def test_in_a_graph(store):
    class State(TypedDict):
        said: str
        known: list[str]

    async def remember(state: State, *, store):
        found = await store.asearch(("users", "ada"), query=state["said"], limit=2)
        await store.aput(("users", "ada"), state["said"][:8], {"text": state["said"]})
        return {"known": [item.value["text"] for item in found]}

    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    graph = builder.compile(store=store)
    asyncio.run(graph.ainvoke({"said": "The spare key hangs behind the water meter.", "known": []}))
    answer = asyncio.run(graph.ainvoke({"said": "Where is the spare key?", "known": []}))
    assert answer["known"] == ["The spare key hangs behind the water meter."]
