"""The second step of signing in: a code of an authenticator (TOTP), or a recovery code."""
