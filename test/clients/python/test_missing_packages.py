"""What is said where a framework, or something that it needs itself, is not installed."""

import importlib
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "package", "inside"),
    [("openai_agents", "agents", "mcp"), ("claude_memory", "anthropic", "jiter"), ("langgraph", "langgraph", "orjson")],
)
def test_names_the_package_that_is_missing(module, package, inside, monkeypatch):
    pytest.importorskip(package)
    ours = f"memoryd.{module}"
    monkeypatch.delitem(sys.modules, ours, raising=False)
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)

    class Hides:
        def __init__(self, hidden):
            self.hidden = hidden

        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] == self.hidden:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    with monkeypatch.context() as without:
        without.setattr(sys, "meta_path", [Hides(package), *sys.meta_path])
        with pytest.raises(ImportError, match=rf"memoryd.{module} needs the package .*; install it with"):
            importlib.import_module(ours)
    with monkeypatch.context() as broken:
        broken.setattr(sys, "meta_path", [Hides("langchain_core" if module == "langgraph" else inside), *sys.meta_path])
        for name in [name for name in sys.modules if name.split(".")[0] in (inside, "langchain_core")]:
            broken.delitem(sys.modules, name)
        with pytest.raises(ImportError) as error:
            importlib.import_module(ours)
        assert "needs the package" not in str(error.value)
