"""Cache: what is remembered between runs, in a folder that several processes may share."""
