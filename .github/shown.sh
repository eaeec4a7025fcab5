# Prints text that anybody could have written into the log of a workflow: nothing in it is a command of the runner's.
# Usage: bash shown.sh < FILE
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
tr -d '\000-\010\013-\037' | sed -e 's/##\[/# #[/g' -e 's/^/| /' | head -c 500000
echo
echo "::$token::"
