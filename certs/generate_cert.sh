#!/bin/bash
# generate_cert <client_name>: issues a certificate, into this folder or --out FOLDER.
exec "$(dirname "${BASH_SOURCE[0]}")/gatepost.sh" cert issue "$@"
