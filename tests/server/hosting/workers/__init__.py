"""Several processes of one server, on one port and one data directory."""
