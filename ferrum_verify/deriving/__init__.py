"""What the engine would make of a document, or every reason why it would refuse."""
