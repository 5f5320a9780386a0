#!/bin/bash
# Runs `gatepost` of this checkout, else of the PATH. What needs the main server's settings gets those that
# GATEPOST_CONFIG names, else those of `./dev up` if they are there.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$root/var/venv/bin/gatepost
[ -x "$program" ] || program=gatepost
config=${GATEPOST_CONFIG:-}
[ -n "$config" ] || [ ! -e "$root/var/config/main_server.yaml" ] || config=$root/var/config/main_server.yaml
if [ "$2" = renew ] || [ -z "$config" ]; then
  exec "$program" "$@"
fi
exec "$program" "$@" --config "$config"
