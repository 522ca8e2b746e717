"""The session for the OpenAI Agents SDK, in a run with a model of ours."""

import asyncio

import pytest

pytest.importorskip("agents")

from agents import Agent, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.models.interface import Model
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from memoryd import Memoryd, MemorydError
from memoryd.openai_agents import MemorydSession

set_tracing_disabled(True)


@pytest.fixture
def session(daemon, user):
    return MemorydSession("talk/1", user_id=user, client=Memoryd(daemon.url))


def turn(text, role="user"):
    return {"role": role, "content": text}


def test_items_in_order_with_limits(session):
    async def use():
        assert await session.get_items() == [] and await session.pop_item() is None
        items = [turn("yes"), turn("yes"), turn("no", "assistant"), {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"}]
        await session.add_items(items[:2])
        await session.add_items(items[2:])
        assert await session.get_items() == items
        assert await session.get_items(limit=2) == items[2:]
        assert await session.get_items(limit=0) == []
        assert await session.pop_item() == items[3]
        await session.add_items([turn("after")])
        assert [item["content"] for item in await session.get_items()] == ["yes", "yes", "no", "after"]
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(use())


def test_all_items_are_added_or_none(session):
    with pytest.raises(MemorydError, match="200000"):
        asyncio.run(session.add_items([turn("yes"), turn("x" * 250_000), turn("no")]))
    assert asyncio.run(session.get_items()) == []


def test_a_large_item_is_kept_whole(session):
    large = {"type": "function_call_output", "call_id": "1", "output": "é" * 31_000}
    asyncio.run(session.add_items([large]))
    assert asyncio.run(session.get_items()) == [large]


def test_whole_numbers_are_kept_exactly_or_refused(session):
    item = {"type": "function_call_output", "call_id": "1", "output": f"{2**60 + 1}"}
    asyncio.run(session.add_items([item]))
    with pytest.raises(MemorydError, match="Send it as text"):
        asyncio.run(session.add_items([turn("yes"), {**item, "order": 2**60 + 1}]))
    assert asyncio.run(session.get_items()) == [item]


def test_its_turns_are_found_and_other_sessions_are_not_read(session, daemon, user):
    client = Memoryd(daemon.url)
    asyncio.run(session.add_items([turn("The spare key hangs behind the water meter.")]))
    found = client.query("Where is the spare key?", user_id=user)["matches"]
    assert "water meter" in found[0]["content"]
    assert asyncio.run(MemorydSession("talk", user_id=user, client=client).get_items()) == []
    assert asyncio.run(MemorydSession("talk/1", user_id=user, project="p", client=client).get_items()) == []


class Echo(Model):
    """Answers with the number of items that it was given."""

    async def get_response(self, system_instructions, input, *arguments, **fields):
        text = ResponseOutputText(text=f"{len(input)} items", type="output_text", annotations=[])
        message = ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *arguments, **fields):
        raise NotImplementedError


def test_in_a_run(session):
    agent = Agent(name="Echo", model=Echo())
    assert Runner.run_sync(agent, "hello", session=session).final_output == "1 items"
    assert Runner.run_sync(agent, "again", session=session).final_output == "3 items"
