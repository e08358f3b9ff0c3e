"""The command line: one module per command; only this package prints, exits or knows colours."""
