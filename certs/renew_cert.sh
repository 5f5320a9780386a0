#!/bin/bash
# Renews one's own certificate; --cert, --key, --ca and --url, or the configuration file, say which.
exec "$(dirname "${BASH_SOURCE[0]}")/gatepost.sh" cert renew "$@"
