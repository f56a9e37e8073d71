"""The endpoints of keys and of the audit log: handlers, parameters and answers."""
