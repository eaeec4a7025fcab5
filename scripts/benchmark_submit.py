"""Makes a submission: ``benchmark_submit.py --experiments DIR... [--contributor --github --notes --category --draft]``.

The same as ``nematodebench submit``.
"""

import sys

from nematodebench.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["submit"]
    main()
