"""All rules in words: the list, the pages, and the examples that are run for them."""

from ferrum_verify.catalogue.rules import catalogue, homes

__all__ = ["catalogue", "homes"]
