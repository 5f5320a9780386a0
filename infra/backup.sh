#!/bin/bash
# Makes a backup, and tries it: infra/backup.sh --config /etc/gatepost/backup/config.yaml
set -euo pipefail
gatepost backup create "$@"
gatepost backup drill "$@"
