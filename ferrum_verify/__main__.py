"""``python -m ferrum_verify`` is ``ferrum-verify``."""

from ferrum_verify.cli import main

main()
