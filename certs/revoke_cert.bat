@echo off
rem revoke_cert <client_name>: revokes all certificates of a name; asks first.
rem Untested: we have no Windows.
gatepost cert revoke %*
