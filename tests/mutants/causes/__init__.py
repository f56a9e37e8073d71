"""Wrong stores that were written from the ways in which real backends break, before any check for them was there."""
