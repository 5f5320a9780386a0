#!/bin/bash
# Makes a backup, and tries it. What a timer calls: infra/backup.sh --config /etc/gatepost/backup.yaml
set -euo pipefail
gatepost backup create "$@"
gatepost backup drill "$@"
