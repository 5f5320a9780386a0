"""Runs a service: a supervisor, its children, their HTTP ports, and the port for operators."""
