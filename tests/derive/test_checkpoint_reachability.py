"""The first boundary against what states hold and a step schedules, and who is to blame."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.derive.checkpoint_layout import LayoutProvider
from ferrum_verify.derive.reachability import culprits, reach
from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.documents.checkpoint import ProviderContract
from tests.derive import checkpoint_bundles as make


def provider(name: str, minimum: int, alignment: int) -> LayoutProvider:
    capability = make.provider(name)["checkpoint_capability"]
    capability["completed_boundary"]["boundaries"]["prefix"] = make.span(minimum, alignment)
    return LayoutProvider(
        node_id=name,
        provider_id=f"provider.{name}",
        operation_fingerprint="a" * 64,
        implementation_fingerprint="b" * 64,
        contract=ProviderContract.model_validate(capability),
    )


def blamed(providers: list[LayoutProvider], limit: int) -> list[str]:
    return [one.node_id for one in culprits(providers, limit)]


def test_the_narrowest_growing_state_and_the_smallest_boundary() -> None:
    bundle = make.sound()
    make.contract_of(bundle, "embed")["boundaries"]["prefix"] = make.span(17, 16)
    layout = derive_sequence_checkpoint(bundle).layout
    assert layout is not None
    found = reach(layout)
    assert found.smallest_boundary == 32
    assert found.held_tokens == make.MAXIMUM_TOKENS
    assert found.state is not None
    assert found.state.state_id == "state.kv"


def test_one_provider_is_enough() -> None:
    providers = [provider("a", 1, 64), provider("b", 1, 96), provider("c", 200, 1)]
    assert blamed(providers, 150) == ["c"]
    assert blamed(providers, 100) == ["c"]
    assert blamed(providers, 90) == ["b"]
    assert blamed(providers, 600) == []


def test_two_providers_together() -> None:
    providers = [provider("a", 1, 64), provider("b", 1, 96), provider("c", 1, 2)]
    assert blamed(providers, 191) == ["a", "b"]
    assert blamed(providers, 192) == []


def test_three_providers_together() -> None:
    providers = [
        provider("even", 1, 2),
        provider("a", 1, 3),
        provider("b", 1, 5),
        provider("c", 1, 7),
    ]
    assert blamed(providers[1:], 100) == ["a", "b", "c"]
    assert len(blamed(providers, 100)) == 3


def test_a_count_at_the_limit_is_permitted() -> None:
    assert blamed([provider("a", 1, 64), provider("b", 1, 96)], 64) == ["b"]
    three = [provider("a", 1, 3), provider("b", 1, 5), provider("c", 1, 7)]
    assert blamed(three, 35) == ["a", "b", "c"]


def test_equal_constraints_are_represented_by_their_first_node() -> None:
    providers = [provider(f"layer.{index}", 1, 64) for index in range(100)]
    assert blamed(providers, 63) == ["layer.0"]


def test_many_different_constraints_are_searched_quickly() -> None:
    providers = [provider(f"n{index}", index + 1, 2) for index in range(2_000)]
    providers.append(provider("odd", 1, 4001))
    assert blamed(providers, 8001) == ["n1999", "odd"]


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 12)), min_size=1, max_size=6),
    st.integers(1, 200),
)
def test_the_set_is_guilty_and_nobody_in_it_can_be_spared(
    spans: list[tuple[int, int]], limit: int
) -> None:
    def legal(chosen: list[tuple[int, int]]) -> bool:
        return any(
            all(count >= least and count % step == 0 for least, step in chosen)
            for count in range(1, limit + 1)
        )

    providers = [provider(f"n{index}", *one) for index, one in enumerate(spans)]
    guilty = [spans[int(name[1:])] for name in blamed(providers, limit)]
    assert (guilty == []) == legal(spans)
    if guilty:
        assert not legal(guilty)
        for spared in range(len(guilty)):
            assert legal(guilty[:spared] + guilty[spared + 1 :])
        if len(guilty) > 2:
            assert all(legal(list(few)) for few in combinations(set(spans), 2))
