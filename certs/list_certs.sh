#!/bin/bash
# Lists certificates.
exec "$(dirname "${BASH_SOURCE[0]}")/gatepost.sh" cert list "$@"
