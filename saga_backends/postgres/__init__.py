"""All four stores in one schema of a PostgreSQL database, which any number of SAGA servers can share."""
