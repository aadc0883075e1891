"""Proofs: obligations of one plan, and theorems about every plan."""
