"""A daemon of this checkout for the tests: ``MEMORYD_TEST_ROOT`` names it, default the folder three above."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("MEMORYD_TEST_ROOT") or Path(__file__).resolve().parents[3])


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class Daemon:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        command = ["node", str(ROOT / "bin" / "memoryd.js"), "start", "--data-dir", str(self.folder), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=5) as answer:
                    if json.load(answer)["ok"]:
                        return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("the daemon did not start")

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
            self.process = None


@pytest.fixture(scope="session")
def daemon(tmp_path_factory):
    daemon = Daemon(tmp_path_factory.mktemp("store"))
    daemon.start()
    yield daemon
    daemon.stop()


@pytest.fixture
def own_daemon(tmp_path):
    daemon = Daemon(tmp_path / "store")
    daemon.start()
    yield daemon
    daemon.stop()


@pytest.fixture
def user(request) -> str:
    """One of its own for each test."""
    return request.node.name
