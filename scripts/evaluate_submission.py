"""Checks a submission: ``evaluate_submission.py FILE [--reproduce [N]] [--json]``.

The same as ``nematodebench evaluate``.
"""

import sys

from nematodebench.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["evaluate"]
    main()
