# Runs one throw-away PostgreSQL cluster until standard input closes.
#
# Arguments: the directory of the PostgreSQL programs, the port. Prints "ready", or what went wrong.
# Whatever ends the test process closes the pipe, and so the cluster never outlives it.
set -eu
bin=$1
port=$2
cd /
dir=$(mktemp -d "${TMPDIR:-/tmp}/eddyline-postgres.XXXXXX")
trap 'rm -rf "$dir"' EXIT
{
    "$bin/initdb" -D "$dir/data" -U eddyline -A trust -E UTF8 --locale=C --no-sync &&
    "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w -t 60 -o "-p $port \
        -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=300" start
} >"$dir/start" 2>&1 || {
    cat "$dir/start" "$dir/log" 2>/dev/null || true
    exit 1
}
echo ready
read -r _ || true
"$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1
