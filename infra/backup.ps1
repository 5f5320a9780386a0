# Makes a backup, and tries it. Untested: we have no Windows.
$ErrorActionPreference = "Stop"
gatepost backup create @args
if ($LASTEXITCODE) { exit $LASTEXITCODE }
gatepost backup drill @args
exit $LASTEXITCODE
