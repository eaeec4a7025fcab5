"""``python -m nematodebench``."""

from nematodebench.cli import main

main()
