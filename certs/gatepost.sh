#!/bin/bash
# Runs `gatepost` of this checkout, else of the PATH. What needs the main server's settings gets those that
# GATEPOST_CONFIG names, else those of `./dev up` if they are there; but a --config in the arguments comes after, and counts.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$root/var/venv/bin/gatepost
[ -x "$program" ] || program=gatepost
config=${GATEPOST_CONFIG:-}
[ -n "$config" ] || [ ! -e "$root/var/config/main_server.yaml" ] || config=$root/var/config/main_server.yaml
if [ $# -lt 2 ] || [ "$2" = renew ] || [ -z "$config" ]; then
  exec "$program" "$@"
fi
exec "$program" "$1" "$2" --config "$config" "${@:3}"
