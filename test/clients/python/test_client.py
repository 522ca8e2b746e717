"""The Python client against a real daemon."""

import asyncio
import io
import threading

import httpx
import pytest

from memoryd import AsyncMemoryd, Memoryd, MemorydError


def test_adds_finds_changes_and_deletes(daemon, user):
    with Memoryd(daemon.url, client_name="tests") as client:
        added = client.memories.add("The spare key hangs behind the water meter.", tags=["home"], user_id=user)
        found = client.query("Where is the spare key?", user_id=user)
        assert found["relevant"] == 1
        assert found["matches"][0]["content"].startswith("The spare key")
        changed = client.memories.update(
            added["id"], content="The spare key is with Ada.", user_id=user, if_version=added["version"]
        )
        assert changed["version"] == added["version"] + 1
        with pytest.raises(MemorydError) as refused:
            client.memories.update(added["id"], content="x", user_id=user, if_version=added["version"])
        assert (refused.value.code, refused.value.status) == ("VERSION_MISMATCH", 412)
        assert [one["version"] for one in client.memories.history(added["id"], user_id=user)["items"]] == [2, 1]
        client.memories.delete(added["id"], trash=True, user_id=user)
        assert client.trash.restore(added["id"], user_id=user)["id"] == added["id"]


def test_pages_are_one_list(daemon, user):
    client = Memoryd(daemon.url)
    done = client.memories.add_many([{"content": f"note number {n}", "user_id": user} for n in range(25)])
    assert done["failed"] == 0
    assert len({memory["id"] for memory in client.memories.list(user_id=user, l=10)}) == 25


def test_facts(daemon, user):
    client = Memoryd(daemon.url)
    client.facts.record(subject="Ilse", predicate="works_at", object="Acme", user_id=user, valid_from="2024-01-01")
    client.facts.record(subject="Ilse", predicate="works_at", object="Borg", user_id=user, valid_from="2025-01-01")
    assert client.facts.current(subject="Ilse", predicate="works_at", user_id=user)["object"] == "Borg"
    assert [fact["object"] for fact in client.facts.list(subject="Ilse", user_id=user)]
    with pytest.raises(MemorydError) as missing:
        client.facts.current(subject="Nobody", predicate="works_at", user_id=user)
    assert missing.value.code == "NOT_FOUND"


def test_ingests_a_path_bytes_and_an_open_file(daemon, user, tmp_path):
    client = Memoryd(daemon.url)
    path = tmp_path / "notes.md"
    path.write_text("# Garden\n\nThe garlic stands in bed three.", "utf-8")
    seen = []
    result = client.documents.ingest(path, user_id=user, tags=["garden"], on_progress=seen.append)
    assert result["document"]["filename"] == "notes.md"
    assert client.documents.file(result["document"]["id"], user_id=user) == path.read_bytes()
    assert client.documents.ingest(b"Plain text of bytes.", filename="a.txt", user_id=user)["document"]["filename"] == "a.txt"
    assert client.documents.ingest(io.BytesIO(b"Of an open file."), filename="b.txt", user_id=user)["memory_ids"]
    assert client.documents.ingest(text="Just a text.", user_id=user)["memory_ids"]
    with pytest.raises(MemorydError, match="Name one of"):
        client.documents.submit(text="a", url="http://example.org")
    with pytest.raises(MemorydError, match="nothing was sent"):
        client.documents.submit(b"x", filename="c.txt", metadata={"a": float("nan")})


def test_bad_input_says_what_to_do(daemon):
    with pytest.raises(MemorydError) as refused:
        Memoryd(daemon.url).memories.add("")
    assert refused.value.status == 400
    assert refused.value.errors and refused.value.detail


def test_sends_nothing_that_would_mean_something_else(daemon, user, monkeypatch, tmp_path):
    client = Memoryd(daemon.url)
    kept = client.memories.add("in the trash", user_id=user)
    client.memories.delete(kept["id"], trash=True, user_id=user)
    for part in (".", "..", ""):
        with pytest.raises(MemorydError, match="nothing was sent"):
            client.trash.delete(part)
    assert client.trash.restore(kept["id"], user_id=user)["id"] == kept["id"]
    for value in (float("nan"), b"x", "a\ud800b"):
        with pytest.raises(MemorydError, match="nothing was sent"):
            client.memories.add("x", metadata={"a": value}, user_id=user)
    with pytest.raises(MemorydError, match="Send it as text"):
        client.memories.add("x", metadata={"a": 2**60 + 1}, user_id=user)
    assert client.memories.add("x", metadata={"a": 2**53, "b": str(2**60 + 1)}, user_id=user)["metadata"]["a"] == 2**53
    monkeypatch.delenv("MEMORYD_URL", raising=False)
    with pytest.raises(MemorydError, match="No daemon runs on"):
        Memoryd(data_dir=tmp_path, retries=0).health()
    for key in ("secret\x07key", "secret–key"):
        with pytest.raises(MemorydError) as refused:
            Memoryd(daemon.url, api_key=key).health()
        assert "secret" not in str(refused.value)
    with pytest.raises(MemorydError, match="client_name must be printable ASCII; got 'Иван'"):
        Memoryd(daemon.url, client_name="Иван").health()
    for url in (daemon.url.removeprefix("http://"), "ftp://localhost"):
        with pytest.raises(MemorydError, match="begins with http"):
            Memoryd(url).health()
    for call in (
        lambda: Memoryd("http://[::1", retries=0).health(),
        lambda: client.memories.get("a\ud800"),
        lambda: client.memories.page(tag="a\ud800"),
        lambda: client.memories.add("x", idempotency_key="ключ"),
        lambda: client.memories.add("x", idempotency_key="a\nb"),
        lambda: client.documents.submit(b"x", filename="a\ud800.txt"),
    ):
        with pytest.raises(MemorydError, match="nothing was sent"):
            call()


def test_other_calls(daemon, user):
    client = Memoryd(daemon.url)
    client.memories.add("The dentist is on 3 May 2031.", user_id=user)
    assert client.memories.coming(user_id=user)["items"] is not None
    assert [memory["user_id"] for memory in client.users.memories(user)] == [user]
    assert client.users.page(l=1)["items"] and client.users.regenerate_summary(user)["user_id"] == user
    assert client.compaction.status() is not None and client.models.list()["items"] and client.settings() and client.logs(l=1)
    document = client.documents.ingest(b"Bytes.", filename="a.txt", user_id=user)["document"]
    try:
        client.documents.restore_file(document["id"], b"Bytes.")
    except MemorydError as error:
        assert error.code in ("CONFLICT", "UNPROCESSABLE")
    for removed in (lambda: client.backups.remove("none"), lambda: client.keys.remove_all()):
        with pytest.raises(MemorydError) as refused:
            removed()
        assert refused.value.status in (401, 403, 404)


def test_without_a_daemon():
    with pytest.raises(MemorydError) as lost:
        Memoryd("http://127.0.0.1:9", retries=0).health()
    assert lost.value.code == "UNREACHABLE"
    assert "is it running there" in str(lost.value)


def test_what_is_not_memoryd():
    transport = httpx.MockTransport(lambda request: httpx.Response(200, text="<html>"))
    with pytest.raises(MemorydError) as bad:
        Memoryd("http://elsewhere", transport=transport).health()
    assert bad.value.code == "BAD_ANSWER"


def test_finds_the_daemon_by_its_file_and_asks_for_a_proof(daemon, user, monkeypatch):
    monkeypatch.delenv("MEMORYD_URL", raising=False)
    monkeypatch.setenv("MEMORYD_DATA_DIR", str(daemon.folder))
    assert Memoryd().memories.add("found by the file", user_id=user)["id"]
    calls = []

    def impostor(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        return httpx.Response(200, json={"ok": True})

    with pytest.raises(MemorydError) as refused:
        Memoryd(data_dir=daemon.folder, retries=0, transport=httpx.MockTransport(impostor)).health()
    assert refused.value.code == "UNREACHABLE"
    assert [request.headers.get("authorization") for request in calls] == [None]


def test_a_write_whose_answer_is_lost_is_made_once(daemon, user):
    lost = []

    class Losing(httpx.HTTPTransport):
        def handle_request(self, request):
            response = super().handle_request(request)
            if request.url.path == "/memory/add" and not lost:
                lost.append(request.headers["idempotency-key"])
                response.close()
                raise httpx.ReadError("cut off")
            return response

    client = Memoryd(daemon.url, transport=Losing())
    client.memories.add("written once", user_id=user)
    assert len(lost) == 1
    assert [memory["content"] for memory in client.memories.list(user_id=user)] == ["written once"]


def test_goes_on_while_the_daemon_restarts(own_daemon, user, monkeypatch):
    monkeypatch.delenv("MEMORYD_URL", raising=False)
    monkeypatch.setenv("MEMORYD_DATA_DIR", str(own_daemon.folder))
    client = Memoryd()
    # Not even where the folder is the usual one would another daemon be taken for it.
    client.health()
    monkeypatch.delenv("MEMORYD_DATA_DIR")
    client.memories.add("before", user_id=user)
    own_daemon.stop()
    starter = threading.Thread(target=own_daemon.start)
    starter.start()
    client.memories.add("after", user_id=user)
    starter.join()
    assert {memory["content"] for memory in client.memories.list(user_id=user)} == {"before", "after"}


def test_changes_as_they_happen(daemon, user):
    client = Memoryd(daemon.url)
    client.memories.add("told to readers", user_id=user)
    change = next(iter(client.changes("0", user_id=user)))
    assert change["kind"] == "memory.added"


def test_export(daemon, user):
    client = Memoryd(daemon.url)
    client.memories.add("exported\u2028in two\u0085parts", user_id=user)
    lines = list(client.transfer.export(user_id=user))
    assert any("exported" in line for line in lines)
    assert '"end"' in lines[-1]
    assert client.transfer.import_("\n".join(lines[:-1]) + "\n")["failed"] == 0


def test_asynchronously(daemon, user):
    async def use() -> list[str]:
        async with AsyncMemoryd(daemon.url) as client:
            await asyncio.gather(*(client.memories.add(f"note {n}", user_id=user) for n in range(5)))
            await client.documents.ingest(b"A document.", filename="a.txt", user_id=user)
            async for change in client.changes("0", user_id=user):
                assert change["kind"] == "memory.added"
                break
            return [memory["content"] async for memory in client.memories.list(user_id=user, l=2)]

    assert set(asyncio.run(use())) == {*(f"note {n}" for n in range(5)), "A document."}
