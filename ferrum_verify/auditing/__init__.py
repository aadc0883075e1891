"""An audit: which checks run on a document, in which order, and what the proofs add."""
