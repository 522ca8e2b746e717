"""A client of memoryd, a local-first memory service: ``Memoryd``, and ``AsyncMemoryd`` beside it."""

from ._async_client import AsyncMemoryd
from ._client import Memoryd
from ._transport import MemorydError

__all__ = ["AsyncMemoryd", "Memoryd", "MemorydError"]
__version__ = "0.1.0"
