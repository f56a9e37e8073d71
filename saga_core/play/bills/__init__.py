"""What a turn cost: its bill, and the bills that wait to be written."""
