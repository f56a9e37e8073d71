"""PostgreSQL: all four stores in one schema of a database, for as many SAGA servers as one likes."""
