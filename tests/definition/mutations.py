"""Mutations of a planner's kind, of which each returns whether it found something to change.

Those of ``DRAFTS`` change the plan before its memory is planned, so that nothing but the wrong
idea is wrong; those of ``PLANNED`` change the planned memory by hand.
"""

from __future__ import annotations

from tests.definition import planned_mutations as planned
from tests.definition import row_mutations as rows
from tests.definition import value_mutations as values

DRAFTS = [
    values.drop_dependency,
    values.alias_in_place,
    values.place_in_place_untold,
    values.move_value,
    values.move_reader,
    values.pack_values,
    values.swap_access,
    values.write_unsaid,
    values.unlist,
    values.read_late,
    values.write_twice,
    values.retain_early,
    values.take_twice,
    values.hand_in,
    values.pack_states,
    rows.resize_row,
    rows.lessen_instances,
    rows.admit_more,
    rows.schedule_more,
    rows.carry,
    rows.outlive,
    rows.fix_value,
    rows.declare_state,
    rows.share_scratch,
]
PLANNED = [
    planned.merge_slots,
    planned.merge_slots,
    planned.reuse_waves,
    planned.shrink_planned_row,
    planned.shrink_budget,
    planned.unlist_planned,
    planned.misstate,
]
