#!/bin/bash
# Makes the certificate authority, unless it is there.
exec "$(dirname "${BASH_SOURCE[0]}")/gatepost.sh" ca init "$@"
