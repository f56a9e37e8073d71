"""The rows about keys and the audit log: their handlers and answers."""
