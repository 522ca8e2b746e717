"""The examples of the documentation, as they stand, in order."""

import re

import pytest

from conftest import ROOT

EXAMPLES = [
    pytest.param(code, id=f"{page}:{text[: match.start()].count(chr(10)) + 1}")
    for page in ["docs/python.md", "src/client/python/README.md"]
    for text in [(ROOT / page).read_text("utf-8")]
    for match in re.finditer(r"^```python\n(.*?)^```", text, re.S | re.M)
    for code in [match[1]]
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_example(code, daemon, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MEMORYD_URL", daemon.url)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out
