"""`python -m odqa_fast` is `odqa-fast`."""

from odqa_fast.cli import main

main()
