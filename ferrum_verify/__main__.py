"""``python -m ferrum_verify`` is ``ferrum-verify``."""

from ferrum_verify.cli import main

# The processes of --jobs import this file too, under another name.
if __name__ == "__main__":
    main()
