#!/bin/bash
# revoke_cert <client_name>: revokes all certificates of a name; asks first.
exec "$(dirname "${BASH_SOURCE[0]}")/gatepost.sh" cert revoke "$@"
