"""How a service runs: a supervisor, its children, their HTTP ports, and the port for operators."""
