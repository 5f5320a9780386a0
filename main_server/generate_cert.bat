@echo off
rem As certs\generate_cert.bat. Untested: we have no Windows.
"%~dp0..\certs\generate_cert.bat" %*
