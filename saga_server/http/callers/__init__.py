"""The caller of a request: identity, quotas, the audit log, and which errors the caller may see."""
