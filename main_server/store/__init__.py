"""The ledger: its tables, who may do what there, and how it is asked."""
