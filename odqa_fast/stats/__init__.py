"""What a number of rows says about all rows: intervals, agreement, correlation. Closed forms."""
