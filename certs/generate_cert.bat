@echo off
rem generate_cert <client_name>: issues a certificate, into this folder or --out FOLDER.
rem Untested: we have no Windows.
gatepost cert issue %*
