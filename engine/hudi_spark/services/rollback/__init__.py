"""Writes that nobody finishes, and attempts at services that died, are taken back.

requested   a plan: the files of the action, and the logs that need a command
inflight    files go, or are commanded away
completed   the metadata table, then the action's own entries, then the rollback's completed file
"""
