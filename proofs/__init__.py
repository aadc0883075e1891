"""Universal theorems: the facts about every plan that the fast path rests on.

One file states and proves one idea, in ``THEOREMS``; ``README.md`` lists them all.
``machine``, ``symbolic_plan`` and ``concrete_plan`` are the vocabulary they share.
"""
