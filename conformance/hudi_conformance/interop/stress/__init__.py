"""Stress runs: processes that write, keep and read one table at the same time, some of them killed, and the judgement.

settings    which table, how writers share it, which services run beside them
locks       who locks the table; servers run as long as a stress run
drawing     what each process does next, from a seed
actors      the processes, behind the adapter protocol
records     what was done and what was read
replaying   the same writes, one after another, in the model
judging     every read against the replay; the table at the end; the trace
rereading   the table at the end, as other implementations read it
"""
