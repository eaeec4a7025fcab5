# Installs the sandbox that brains of bundles run in, and shows that it works. Ubuntu keeps ordinary users from making
# namespaces, which the sandbox is made of.
set -euo pipefail
sudo apt-get update -q
sudo apt-get install -q -y bubblewrap
sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 || true
bwrap --unshare-all --ro-bind / / true
