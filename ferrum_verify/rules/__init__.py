"""The checks: a rule is its id, its documentation and its check, a file or more a family."""
