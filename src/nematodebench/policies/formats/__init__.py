"""One file for each format of a policy; :mod:`nematodebench.policies.reading` finds them by the file's extension."""
