"""What is wrong with a cache as a whole."""

from __future__ import annotations


class CacheError(Exception):
    """The cache cannot be used; the text completes the sentence "The cache …: …"."""
