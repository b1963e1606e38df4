"""What the table formats share: names of columns, rows of numbers, times."""
