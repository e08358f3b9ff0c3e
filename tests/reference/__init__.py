"""What the reference scorers returned, as Parquet; README.md says how each file was made."""
