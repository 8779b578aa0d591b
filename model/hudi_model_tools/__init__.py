"""Beside the rules: processes that share a table, and every order of what they do; traces; what is wrong with a table.

Pure like the rules, which import nothing of it.
"""
