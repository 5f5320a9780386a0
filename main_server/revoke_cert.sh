#!/bin/bash
# As certs/revoke_cert.sh, where the design has it.
exec "$(dirname "${BASH_SOURCE[0]}")/../certs/revoke_cert.sh" "$@"
