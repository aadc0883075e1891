"""What a branch would change of its own gate: the settings and the baseline that it is held to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.findings import Rule, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.findings import Finding

_TOOLS = "docs/tools.md, «Review of a branch»"

SETTINGS_CHANGED = Rule(
    id="integrity.settings-changed",
    summary="A branch leaves the settings alone that it is reviewed under.",
    why="Whoever could ignore a rule in the same change that breaks it would pass every review. "
    "So a branch is held to the settings of the commit that it will be merged into, and what it "
    "changes in them counts for the next one.",
    fix="Look at the change of the settings as at a change of the gate, and merge it on its own.",
    source=_TOOLS,
    severity="warning",
)


def changed_settings(
    before: Mapping[str, Any], after: Mapping[str, Any], held_to: str
) -> Iterator[Finding]:
    """A finding for each setting that differs; settings are by their keys, dotted where nested."""
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        if old != new:
            change = "is taken out" if new is None else "is set" if old is None else "is changed"
            yield SETTINGS_CHANGED.finding(
                f"`{key}` {change} by the branch, which is held to the settings of {held_to}; the "
                "change counts once it is merged",
                pointer("/tool/ferrum-verify", *key.split(".", 1)),
                expected=old,
                actual=new,
            )


BASELINE_CHANGED = Rule(
    id="integrity.baseline-changed",
    summary="A branch leaves the baseline alone that it is reviewed with.",
    why="Whoever could declare a finding known in the same change that causes it would pass every "
    "review. So only what the baseline of the commit knows that the branch will be merged into "
    "is hidden.",
    fix="Look at what the branch adds to the baseline, and merge it on its own.",
    source=_TOOLS,
    severity="warning",
)


def changed_baseline(
    added: list[dict[str, str]], removed: list[dict[str, str]], held_to: str
) -> Iterator[Finding]:
    """One finding where the branch's baseline knows other findings than it did before."""
    if added or removed:
        yield BASELINE_CHANGED.finding(
            f"the branch adds {len(added):,} and takes out {len(removed):,} of the known findings; "
            f"it is held to the baseline of {held_to}, and the change counts once it is merged",
            "/documents",
            expected=removed,
            actual=added,
        )


UNREADABLE = Rule(
    id="integrity.gate-unreadable",
    summary="Settings and baselines that a branch changes can still be read.",
    why="Once it is merged, nothing could be reviewed any more.",
    fix="Correct what the message says.",
    source=_TOOLS,
    severity="warning",
)


def unreadable(reason: str) -> Finding:
    """The finding that what the branch makes of settings or a baseline cannot be read."""
    return UNREADABLE.finding(f"what the branch makes of it counts for nothing yet: {reason}")
