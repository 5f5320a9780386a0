@echo off
rem Makes the certificate authority, unless it is there.
rem Untested: we have no Windows.
gatepost ca init %*
