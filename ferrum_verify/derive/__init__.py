"""The concrete fast path: what the engine derives, re-derived. One file a part.

Numbers are unbounded here; whether they fit the engine's 64 bits is a rule's affair.
"""
