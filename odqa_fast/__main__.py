"""`python -m odqa_fast` is `odqa-fast`."""

from odqa_fast.cli.main import main

main()
