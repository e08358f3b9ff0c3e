"""What every command shares: jobs, input, output, counts and notes, and the summary of a run."""
