#!/bin/bash
# As certs/generate_cert.sh, where the design has it.
exec "$(dirname "${BASH_SOURCE[0]}")/../certs/generate_cert.sh" "$@"
