"""Claude's memory tool (``memory_20250818``): its files are memories, their edits versions."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any, Callable

from ._client import Memoryd
from ._kept import Owner, is_blank, missing, path_tag
from ._transport import MemorydError

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
except ModuleNotFoundError as error:
    raise missing(error, "anthropic", "anthropic", "claude_memory") from None

TAG = "claude-memory"
ROOT = "/memories"
MAX_LINES = 999_999
MAX_CHARS = 200_000
LEVELS_SHOWN = 2
LINES_AROUND_A_CHANGE = 2
LOOKS, LOOK_PAUSE = 20, 0.05


@dataclass(frozen=True)
class _File:
    """A file, and the memories that keep it; the first one counts."""

    path: str
    text: str
    kept: list[Any]


class ClaudeMemoryTool(BetaAbstractMemoryTool):
    """The memory tool for ``client.beta.messages.tool_runner(tools=[…])``; ``call`` answers one command.

    Only files of that user and project exist for it. What goes wrong is raised in the words of the tool's documentation.
    """

    def __init__(self, user_id: str, *, project: str | None = None, client: Memoryd | None = None, cache_control: Any = None) -> None:
        super().__init__(cache_control=cache_control)
        self._owner = Owner(client or Memoryd(client_name="claude-memory"), user_id, project)

    def view(self, command: Any) -> str:
        path = _path_of(command)
        file = None if path == ROOT else self._file_at(path)
        if file is not None:
            return _numbered(file, getattr(command, "view_range", None))
        files = self._files_at(path)
        if not files and path != ROOT:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return _listing(path, files)

    def create(self, command: Any) -> str:
        path = _path_of(command)
        taken = f"File {path} already exists"
        self._refuse_taken(path, taken)
        added = self._owner.add(**_body(path, command.file_text))
        if added["deduplicated"]:
            raise ToolError(taken)
        self._settle(path, added, taken, lambda: self._remove(path, [added]))
        return f"File created successfully at: {path}"

    def str_replace(self, command: Any) -> str:
        file = self._existing(_path_of(command))
        text, old, new = file.text, command.old_str, getattr(command, "new_str", None) or ""
        places = [match.start() for match in re.finditer(f"(?={re.escape(old)})", text)] if old else []
        if not places:
            raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {file.path}.")
        if len(places) > 1:
            lines = ", ".join(str(_line_at(text, place)) for place in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
            )
        [at] = places
        now = text[:at] + new + text[at + len(old) :]
        self._change(file, file.path, now)
        first = max(1, _line_at(now, at) - LINES_AROUND_A_CHANGE)
        last = _line_at(now, at + len(new)) + LINES_AROUND_A_CHANGE
        shown = _lines(now, first, last)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    def insert(self, command: Any) -> str:
        file = self._existing(_path_of(command))
        lines, at = file.text.split("\n"), command.insert_line
        if not isinstance(at, int) or not 0 <= at <= len(lines):
            raise ToolError(f"Invalid `insert_line` parameter: {at}. It should be within the range of lines of the file: [0, {len(lines)}]")
        lines.insert(at, command.insert_text.removesuffix("\n"))
        self._change(file, file.path, "\n".join(lines))
        return f"The file {file.path} has been edited."

    def delete(self, command: Any) -> str:
        path = _path_of(command)
        if path == ROOT:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        files = self._files_at(path)
        if not files:
            raise ToolError(f"The path {path} does not exist")
        for file in files:
            self._remove(path, file.kept)
        return f"Successfully deleted {path}"

    def rename(self, command: Any) -> str:
        path, target = _path_of(command, "old_path"), _path_of(command, "new_path")
        if path == ROOT:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        files = self._files_at(path)
        if not files:
            raise ToolError(f"The path {path} does not exist")
        if _is_below(target, path):
            raise ToolError(f"Cannot rename {path} to a path inside of itself")
        taken = f"The destination {target} already exists"
        self._refuse_taken(target, taken)
        for file in files:
            moved = self._change(file, target + file.path[len(path) :], file.text)
            self._settle(moved.path, moved.kept[0], taken, lambda: self._change(moved, file.path, file.text))
        return f"Successfully renamed {path} to {target}"

    def _files_with(self, tag: str) -> list[_File]:
        files: dict[str, _File] = {}
        for memory in self._owner.kept_with(tag):
            path = _marks_of(memory).get("path")
            if isinstance(path, str):
                files.setdefault(path, _File(path, _text_of(memory), [])).kept.append(memory)
        return list(files.values())

    def _file_at(self, path: str) -> _File | None:
        return next((file for file in self._files_with(_tag_of(path)) if file.path == path), None)

    def _files_at(self, path: str) -> list[_File]:
        """The file at a path, or all files below it."""
        return [file for file in self._files_with(TAG) if file.path == path or _is_below(file.path, path)]

    def _existing(self, path: str) -> _File:
        file = None if path == ROOT else self._file_at(path)
        if file is None:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return file

    def _change(self, file: _File, path: str, text: str) -> _File:
        """Makes it the file's present state; the memory keeps its other tags and metadata, others of the path go to the trash."""
        memory, body, own = file.kept[0], _body(path, text), {TAG, _tag_of(file.path)}
        try:
            changed = self._owner.client.memories.update(
                memory["id"],
                content=body["content"],
                tags=[*body["tags"], *(tag for tag in memory["tags"] if tag not in own)],
                metadata={**memory["metadata"], **body["metadata"]},
                user_id=self._owner.user_id,
                if_version=memory["version"],
            )
        except MemorydError as error:
            raise _changed_meanwhile(file.path, error) from error
        self._remove(file.path, file.kept[1:])
        return _File(path, text, [changed])

    def _remove(self, path: str, memories: list[Any]) -> None:
        try:
            self._owner.trash(memories, if_same=True)
        except MemorydError as error:
            raise _changed_meanwhile(path, error) from error

    def _settle(self, path: str, memory: Any, taken: str, take_back: Callable[[], object]) -> None:
        """Lets one of the programs that put a file at one path at the same moment keep it, the first; the others take theirs back."""
        for look in range(LOOKS + 1):
            file = self._file_at(path)
            ids = [kept["id"] for kept in file.kept] if file else []
            if set(ids) <= {memory["id"]}:
                return
            if ids[0] != memory["id"] or look == LOOKS:
                take_back()
                raise ToolError(taken)
            time.sleep(LOOK_PAUSE)

    def _refuse_taken(self, path: str, taken: str) -> None:
        files = self._files_with(TAG)
        if path == ROOT or any(file.path == path or _is_below(file.path, path) for file in files):
            raise ToolError(taken)
        parent = next((file.path for file in files if _is_below(path, file.path)), None)
        if parent is not None:
            raise ToolError(f"The path {parent} is a file, not a directory")


def _changed_meanwhile(path: str, error: MemorydError) -> Exception:
    is_other = error.code == "VERSION_MISMATCH"
    return ToolError(f"The file {path} was changed by somebody else; view it again before you edit it.") if is_other else error


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def _tag_of(path: str) -> str:
    return path_tag(TAG, path[len(ROOT) + 1 :].split("/"))


def _body(path: str, text: str) -> dict[str, Any]:
    if len(text) > MAX_CHARS:
        raise ToolError(f"A file has at most {MAX_CHARS} characters, and this would have {len(text)}; split it")
    blank = is_blank(text)
    marks = {"path": path, **({"text": text} if blank else {})}
    return {"content": path if blank else text, "tags": [TAG, _tag_of(path)], "metadata": {"claude_memory": marks}}


def _path_of(command: Any, field: str = "path") -> str:
    """A path of a command without empty parts; raises where it is missing or not below ``/memories``."""
    path = getattr(command, field, None) or ""
    parts = [part for i, part in enumerate(path.split("/")) if i == 0 or part not in ("", ".")]
    if parts[:2] != ["", ROOT[1:]]:
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    is_outside = any(re.search(r"^(?:\.|%2e){2}$|%2f|%5c", part, re.I) for part in parts[2:])
    if is_outside or re.search(r"[\\\x00-\x1f\x7f-\x9f\ud800-\udfff]", path):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return "/".join(parts)


def _marks_of(memory: Any) -> dict[str, Any]:
    """Empty for a memory that only has the tag."""
    marks = memory["metadata"].get("claude_memory")
    return marks if isinstance(marks, dict) else {}


def _text_of(memory: Any) -> str:
    """A blank text stands in the metadata, until somebody writes into the memory."""
    marks, content = _marks_of(memory), str(memory["content"])
    return marks["text"] if "text" in marks and content == marks.get("path") else content


def _line_at(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _lines(text: str, first: int, last: int) -> str:
    shown = text.split("\n")[first - 1 : last]
    return "\n".join(f"{first + i:6}\t{line}" for i, line in enumerate(shown))


def _numbered(file: _File, view_range: Any) -> str:
    count = file.text.count("\n") + 1
    if count > MAX_LINES:
        raise ToolError(f"File {file.path} exceeds maximum line limit of 999,999 lines.")
    first, *end = view_range or [1]
    last = end[0] if end else -1
    shown = _lines(file.text, max(1, first), count if last == -1 else last)
    return f"Here's the content of {file.path} with line numbers:\n{shown}"


def _listing(folder: str, files: list[_File]) -> str:
    """A folder's files and folders with their sizes; a folder's is that of all files below it."""
    sizes = {folder: 0}
    for file in files:
        parts, size = file.path[len(folder) + 1 :].split("/"), len(file.text.encode())
        sizes[folder] += size
        if any(part.startswith(".") or part == "node_modules" for part in parts):
            continue
        for i in range(min(LEVELS_SHOWN, len(parts))):
            name = f"{folder}/{'/'.join(parts[: i + 1])}{'/' if i < len(parts) - 1 else ''}"
            sizes[name] = sizes.get(name, 0) + size
    rows = [f"{_size_of(size)}\t{path}" for path, size in sorted(sizes.items())]
    head = f"Here're the files and directories up to {LEVELS_SHOWN} levels deep in {folder}, excluding hidden items and node_modules:"
    return "\n".join([head, *rows])


def _size_of(size: int) -> str:
    unit = min(3, max(0, (size.bit_length() - 1) // 10))
    return f"{round(size / 1024**unit, 1):g}{'BKMG'[unit]}"
