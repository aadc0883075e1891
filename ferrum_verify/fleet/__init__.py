"""Fleets: many documents, over processes and machines, and what is known of them from before."""
