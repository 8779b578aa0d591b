"""`hudi-conformance impact`: what the working tree answers, holds and states otherwise than a revision."""
