# Runs one chromedriver, and so the browsers it starts, until standard input closes.
#
# Argument: the program. What it says comes out of standard output, the port it took among it.
# Whatever ends the test process closes the pipe, and so no browser outlives it.
set -eu
dir=$(mktemp -d "${TMPDIR:-/tmp}/eddyline-browser.XXXXXX")
# Processes that were killed may still be on their way out, and writing, the first time.
trap 'rm -rf "$dir" 2>/dev/null || { sleep 1 && rm -rf "$dir"; }' EXIT
# Profile, caches, crash reports: everything goes there.
unset XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR
export HOME="$dir" TMPDIR="$dir"
# The browser's processes are in the driver's group, and end with it.
setsid "$1" --port=0 </dev/null 2>&1 &
driver=$!
# A driver that fails is then noticed: nobody else holds the pipe.
exec >/dev/null
while read -r _; do :; done
# The second is for a driver that was just about to make its group.
{ kill -s KILL -- "-$driver" || kill -s KILL "$driver"; } 2>/dev/null || true
wait "$driver" 2>/dev/null || true
