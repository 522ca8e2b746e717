"""Claude's memory tool: commands as the model sends them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("anthropic")

from anthropic.lib.tools import ToolError

from memoryd import Memoryd
from memoryd.claude_memory import ClaudeMemoryTool


@pytest.fixture
def tool(daemon, user):
    return ClaudeMemoryTool(user, client=Memoryd(daemon.url))


def run(tool, command, **fields):
    return tool.call({"command": command, **fields})


def test_files(tool, user):
    assert run(tool, "create", path="/memories/notes/todo.md", file_text="buy tea\nbuy milk\n") == (
        "File created successfully at: /memories/notes/todo.md"
    )
    with pytest.raises(ToolError, match="already exists"):
        run(tool, "create", path="/memories/notes/todo.md", file_text="")
    shown = run(tool, "view", path="/memories/notes/todo.md")
    assert shown == "Here's the content of /memories/notes/todo.md with line numbers:\n     1\tbuy tea\n     2\tbuy milk\n     3\t"
    assert run(tool, "view", path="/memories/notes/todo.md", view_range=[2, 2]).endswith("\n     2\tbuy milk")
    assert "17B\t/memories/notes/todo.md" in run(tool, "view", path="/memories")
    assert run(tool, "view", path="/memories/notes/todo.md", view_range=[2]).endswith("\n     2\tbuy milk\n     3\t")
    run(tool, "str_replace", path="/memories/notes/todo.md", old_str="milk", new_str="bread")
    with pytest.raises(ToolError, match=r"Multiple occurrences of old_str `buy` in lines: 1, 2\. Please"):
        run(tool, "str_replace", path="/memories/notes/todo.md", old_str="buy", new_str="x")
    with pytest.raises(ToolError, match="did not appear verbatim"):
        run(tool, "str_replace", path="/memories/notes/todo.md", old_str="coffee", new_str="x")
    run(tool, "insert", path="/memories/notes/todo.md", insert_line=0, insert_text="first\n")
    assert run(tool, "view", path="/memories/notes/todo.md", view_range=[1, 3]).endswith("first\n     2\tbuy tea\n     3\tbuy bread")
    with pytest.raises(ToolError, match=r"\[0, 4\]"):
        run(tool, "insert", path="/memories/notes/todo.md", insert_line=9, insert_text="x")
    assert run(tool, "rename", old_path="/memories/notes", new_path="/memories/lists").endswith("to /memories/lists")
    client = tool._owner.client
    [memory] = client.memories.list(user_id=user)
    assert memory["content"] == "first\nbuy tea\nbuy bread\n" and memory["version"] == 4
    assert run(tool, "delete", path="/memories/lists") == "Successfully deleted /memories/lists"
    with pytest.raises(ToolError, match="does not exist"):
        run(tool, "view", path="/memories/lists")
    assert client.trash.page(user_id=user)["items"]


def test_what_is_missing_or_too_long_is_said(tool):
    with pytest.raises(ToolError, match="Path must start with"):
        run(tool, "view")
    with pytest.raises(ToolError, match="at most 200000 characters"):
        run(tool, "create", path="/memories/long", file_text="x" * 200_001)


@pytest.mark.parametrize("text", ["", " \n", "\u200b"])
def test_a_blank_file_and_its_first_text(tool, text):
    run(tool, "create", path="/memories/empty", file_text=text)
    assert run(tool, "view", path="/memories/empty").split("     1\t")[1].startswith(text.split("\n")[0])
    run(tool, "insert", path="/memories/empty", insert_line=0, insert_text="now there is something")
    assert "now there is something" in run(tool, "view", path="/memories/empty")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/memories/../x", "/memories/%2e%2e/x", "/memories/a\\b", "/memoriesX/a", "memories/a", "/memories/a\x00"]
)
def test_a_path_cannot_leave(tool, path):
    with pytest.raises(ToolError):
        run(tool, "create", path=path, file_text="x")


def test_files_of_others_do_not_exist(daemon, user, tool):
    client = Memoryd(daemon.url)
    run(ClaudeMemoryTool(user, project="other", client=client), "create", path="/memories/a", file_text="theirs")
    run(ClaudeMemoryTool(f"{user}-2", client=client), "create", path="/memories/b", file_text="theirs")
    assert "/memories/" not in run(tool, "view", path="/memories").split("\n", 1)[1].replace("/memories\n", "")


def test_a_change_in_between_is_not_overwritten(tool, user, monkeypatch):
    run(tool, "create", path="/memories/a", file_text="one")
    client = tool._owner.client
    existing = tool._existing

    def changed(path):
        file = existing(path)
        client.memories.update(file.kept[0]["id"], content="two", user_id=user)
        return file

    monkeypatch.setattr(tool, "_existing", changed)
    with pytest.raises(ToolError, match="changed by somebody else"):
        run(tool, "str_replace", path="/memories/a", old_str="one", new_str="three")


def test_one_of_eight_programs_gets_a_path(daemon, user):
    client = Memoryd(daemon.url)
    tools = [ClaudeMemoryTool(user, client=client) for _ in range(8)]

    def at_once(commands):
        def told(tool, command):
            try:
                return bool(run(tool, **command))
            except ToolError as error:
                assert "already exists" in str(error)
                return False

        with ThreadPoolExecutor(8) as programs:
            won = list(programs.map(told, tools, commands))
        assert sum(won) == 1
        return won.index(True)

    made = at_once([{"command": "create", "path": "/memories/made", "file_text": f"text {i}"} for i in range(8)])
    assert f"     1\ttext {made}" in run(tools[0], "view", path="/memories/made")
    assert [memory["content"] for memory in client.memories.list(user_id=user)] == [f"text {made}"]
    run(tools[0], "rename", old_path="/memories/made", new_path="/memories/moved")
    with pytest.raises(ToolError, match="does not exist"):
        run(tools[0], "view", path="/memories/made")

    for i in range(8):
        run(tools[0], "create", path=f"/memories/from/{i}", file_text=f"text {i}")
    renamed = at_once([{"command": "rename", "old_path": f"/memories/from/{i}", "new_path": "/memories/to"} for i in range(8)])
    assert f"     1\ttext {renamed}" in run(tools[0], "view", path="/memories/to")
    for i in set(range(8)) - {renamed}:
        assert f"     1\ttext {i}" in run(tools[0], "view", path=f"/memories/from/{i}")


def test_a_second_memory_of_a_path_goes_to_the_trash_with_a_change(tool, user):
    client = tool._owner.client
    run(tool, "create", path="/memories/a", file_text="one")
    [memory] = client.memories.list(user_id=user)
    run(tool, "delete", path="/memories/a")
    run(tool, "create", path="/memories/a", file_text="two")
    client.trash.restore(memory["id"], user_id=user)
    assert "     1\tone" in run(tool, "view", path="/memories/a")
    run(tool, "str_replace", path="/memories/a", old_str="one", new_str="three")
    assert [memory["content"] for memory in client.memories.list(user_id=user)] == ["three"]
    assert [entry["content"] for entry in client.trash.page(user_id=user)["items"]] == ["two"]
