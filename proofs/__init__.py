"""Universal theorems: the facts about every plan that the fast path rests on.

One file states and proves one idea, in ``THEOREMS``; ``README.md`` lists them all.
The files without theorems are the vocabulary that the others share.
"""
