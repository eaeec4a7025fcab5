"""Runs a session: ``run_simulation.py --track-experiment --config FILE [--runs N] [--seed S] [--episodes E]``.

The same as ``nematodebench run``, whose options it takes; ``--track-experiment`` is its ``--track``.
"""

import sys

from nematodebench.cli import main

if __name__ == "__main__":
    words = ["--track" if word == "--track-experiment" else word for word in sys.argv[1:]]
    sys.argv[1:] = ["run", *words]
    main()
