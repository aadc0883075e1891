"""The machine and the serving limits that a family's plan is made for."""

from __future__ import annotations

from dataclasses import dataclass

GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Bucket:
    """A captured batch shape: at most so many sequences, tokens and KV pages, each ≥ 1."""

    class_id: str
    sequences: int
    tokens: int
    pages: int


@dataclass(frozen=True, slots=True)
class Deployment:
    """Serving limits. Tokens are tokens of one scheduler step unless named otherwise."""

    maximum_active_sequences: int = 64
    maximum_scheduled_tokens: int = 4096
    maximum_sequence_tokens: int = 8192
    """Longest sequence that the KV cache holds."""
    page_tokens: int = 16
    """Tokens whose keys and values fill one block of the KV cache."""
    maximum_reusable_lanes: int = 2
    device_bytes: int = 80 * GIB
    reserve_bytes: int = 1 * GIB
    checkpoint_bytes: int = 1 * GIB
    """Bytes that captured checkpoints may keep, in plans whose schema knows them."""
    policy_tenths: int = 9
    """Tenths of the device that the policy lets the engine use."""
    weight_percent: int = 85
    """The largest share of the usable bytes that weights may fill."""
    program_lifetime: str | None = None
    """When exact shapes are captured (``startup_sealed``, ``on_demand_bounded``), if at all."""
    captures_prompts: bool = False
    """Whether chunks of a prompt are captured too, not only decode steps."""

    @property
    def pages_per_sequence(self) -> int:
        """KV blocks of the longest sequence."""
        return self.maximum_sequence_tokens // self.page_tokens

    def device_memory_bytes(self, weight_bytes: int) -> int:
        """Bytes of as many devices, pooled, as hold the weights and room to run in."""
        devices = 1
        while weight_bytes * 100 > self.weight_percent * (
            self.policy_bytes(devices * self.device_bytes) - self.reserve_bytes
        ):
            devices += 1
        return devices * self.device_bytes

    def policy_bytes(self, device_memory_bytes: int) -> int:
        """Bytes that the policy grants of a device's memory."""
        return device_memory_bytes * self.policy_tenths // 10

    def buckets(self) -> list[Bucket]:
        """The captured batch shapes, ascending by class and then by size."""
        return self.decode_buckets() + (self.prefill_buckets() if self.captures_prompts else [])

    def decode_buckets(self) -> list[Bucket]:
        """One-token-a-sequence batches of 1, 8, 32, … up to every active sequence."""
        sizes = [size for size in (1, 8, 32) if size < self.maximum_active_sequences]
        return [
            Bucket("decode", size, size, size * self.pages_per_sequence)
            for size in (*sizes, self.maximum_active_sequences)
        ]

    def prefill_buckets(self) -> list[Bucket]:
        """Prompt chunks of one sequence."""
        return [Bucket("prefill", 1, tokens, self.pages_per_sequence) for tokens in (512, 2048)]


DEPLOYMENTS = {
    "llama-3.1-8b": Deployment(program_lifetime="startup_sealed"),
    "qwen3-30b-a3b": Deployment(),
    "qwen3.5-4b": Deployment(program_lifetime="on_demand_bounded", captures_prompts=True),
}
"""How each family is served. Together they show every way to capture shapes for reuse."""
