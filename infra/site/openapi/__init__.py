"""Describes the interfaces as OpenAPI documents: for partners, for administrators' programs, of the
PKI port.

Paths and parameters are the applications' own; what goes in and comes out is told in types, those
that the code reads and writes where it has some, and in its own words. Tests compare real answers
with them, and have others' tools make clients of them.
"""
