# Sourced by tuft.sh and skyrl.sh: starts a server as a process group of its own, and ends that group whatever happens.

server=

# The first argument is the log, the second the port, the rest the command.
start_server() {
  local log=$1 port=$2
  shift 2
  setsid timeout 1800 "$@" >>"$log" 2>&1 &
  server=$!
  for _ in $(seq 120); do
    curl -fs -o /dev/null "http://127.0.0.1:$port/api/v1/healthz" && return
    kill -0 "$server" 2>/dev/null || break
    sleep 1
  done
  echo "the server did not start:" >&2
  tail -20 "$log" >&2
  exit 1
}

stop_server() {
  [ -n "$server" ] || return 0
  kill -TERM -- "-$server" 2>/dev/null || true
  for _ in $(seq 20); do
    kill -0 -- "-$server" 2>/dev/null || break
    sleep 0.5
  done
  kill -KILL -- "-$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
}
trap stop_server EXIT
trap 'exit 130' INT TERM
