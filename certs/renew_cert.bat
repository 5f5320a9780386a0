@echo off
rem Renews one's own certificate; --cert, --key, --ca and --url, or the configuration file, say which.
rem Untested: we have no Windows.
gatepost cert renew %*
