"""Reports: what an audit found out, as data, as text and as JSON."""
