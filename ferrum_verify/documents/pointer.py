"""JSON pointers (RFC 6901), which say where in a document something stands."""


def pointer(location: str, *steps: str | int) -> str:
    """Extend the JSON pointer ``base`` by object keys and list indices (RFC 6901)."""
    for step in steps:
        text = str(step)
        if "~" in text or "/" in text:
            text = text.replace("~", "~0").replace("/", "~1")
        location = f"{location}/{text}"
    return location
