"""From bytes to the well-formed parts of a document, and what is wrong with its wire form."""
