"""The wire documents, one file each: strictly typed, immutable, and without behaviour."""
