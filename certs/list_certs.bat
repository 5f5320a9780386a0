@echo off
rem Lists certificates.
rem Untested: we have no Windows.
gatepost cert list %*
