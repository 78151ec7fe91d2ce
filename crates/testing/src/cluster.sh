# Runs one throw-away PostgreSQL cluster until standard input closes.
#
# Arguments: the directory of the PostgreSQL programs, the port. Prints "ready", or what went wrong.
# Then it takes orders, one a line, and answers each with a line, "ready" or what went wrong:
# "stop MODE", with a mode of pg_ctl, and "start".
# Whatever ends the test process closes the pipe, and so the cluster never outlives it.
# With EDDYLINE_CLUSTER_FSYNC=off the server does not wait for the disk: its data outlives the server,
# and not the machine. EDDYLINE_CLUSTER_SETTINGS has lines for postgresql.conf. With
# EDDYLINE_CLUSTER_BASE, the folder of a base backup, the cluster begins with that and recovers.
set -eu
bin=$1
port=$2
cd /
dir=$(mktemp -d "${TMPDIR:-/tmp}/eddyline-postgres.XXXXXX")
trap 'rm -rf "$dir"' EXIT

tls=
auth='-A trust'
if [ -n "${EDDYLINE_CLUSTER_KEY:-}" ]; then
    umask 077
    printf '%s' "$EDDYLINE_CLUSTER_PASSWORD" >"$dir/password"
    auth="-A scram-sha-256 --pwfile=$dir/password"
    printf '%s' "$EDDYLINE_CLUSTER_KEY" >"$dir/key.pem"
    printf '%s' "$EDDYLINE_CLUSTER_CERTIFICATE" >"$dir/cert.pem"
    tls="-c ssl=on -c ssl_key_file=$dir/key.pem -c ssl_cert_file=$dir/cert.pem"
fi

start() {
    "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w -t 60 -o "-p $port $tls \
        -c fsync=${EDDYLINE_CLUSTER_FSYNC:-on} \
        -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=300" start
}

obey() {
    case $1 in
    start) start ;;
    stop) "$bin/pg_ctl" -D "$dir/data" -m "$2" -w -t 60 stop ;;
    *) echo "unknown order: $1" && false ;;
    esac
}

make() {
    if [ -n "${EDDYLINE_CLUSTER_BASE:-}" ]; then
        cp -R "$EDDYLINE_CLUSTER_BASE" "$dir/data"
        chmod 700 "$dir/data"
        touch "$dir/data/recovery.signal"
    else
        "$bin/initdb" -D "$dir/data" -U eddyline $auth -E UTF8 --locale=C --no-sync
    fi
    printf '%s\n' "${EDDYLINE_CLUSTER_SETTINGS:-}" >>"$dir/data/postgresql.conf"
}

{
    make && start
} >"$dir/start" 2>&1 || {
    cat "$dir/start" "$dir/log" 2>/dev/null || true
    exit 1
}
echo ready
while read -r order mode; do
    if obey "$order" "$mode" >"$dir/order" 2>&1; then
        echo ready
    else
        tr '\n' ' ' <"$dir/order"
        echo
    fi
done
"$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
