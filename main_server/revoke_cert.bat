@echo off
rem As certs\revoke_cert.bat. Untested: we have no Windows.
"%~dp0..\certs\revoke_cert.bat" %*
