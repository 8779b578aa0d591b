------------------------- MODULE NonBlockingWriters -------------------------
(***************************************************************************)
(* Writers that do not wait for each other, on a merge-on-read table with  *)
(* a bucket index. Each logs to the file group of its key's bucket, in a   *)
(* log file of its own, and completes without a look at the others: what   *)
(* they wrote is merged by readers and by compaction. Beside them          *)
(* compactions plan, carry out and complete; readers read snapshots.       *)
(*                                                                         *)
(* One action is one durable effect of specs/effects.toml, or a crash.     *)
(*                                                                         *)
(* Clauses: OW-001, OW-002, OW-010, OW-016, LK-001, LK-002, LK-003,        *)
(* LK-004, TM-003, TL-003, TL-013, SW-001, SW-003, SW-005, SW-006, SW-007, *)
(* RD-001, RD-002, RD-004, CP-001, CP-002, CP-004, CP-006, CP-009, CP-010, *)
(* CP-012, MK-001, MK-003, MK-005.                                         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, StreamingSteps

-----------------------------------------------------------------------------
Steps == {
  "idle", "locked", "timed", "beating", "requested", "begun", "inflight", "marked", "staged", "locked to finish",
  "finishing", "completed", "unmarked", "finished", "refused", "done", "crashed", "planned", "removing", "marking",
  "writing", "prepared", "reading"
}

TypeOK ==
  /\ clock \in Nat
  /\ lock \in Processes \union {"nobody"}
  /\ crashes \in 0..MaxCrashes
  /\ step \in [Processes -> Steps]
  /\ \A file \in timeline: file.action \in AllActions /\ file.state \in {"REQUESTED", "INFLIGHT", "COMPLETED"}
  /\ \A file \in files: file.kind \in {"base", "log"} /\ file.rows # {}
  /\ \A p \in Processes: {instant[p], time[p]} \union seen[p] \subseteq 0..clock

\* LK-001: one process at a time does what needs the lock.
Inside(p) ==
  \/ step[p] \in {"locked", "beating", "requested"}
  \/ step[p] \in {"locked to finish", "finishing", "completed", "unmarked", "finished"}
  \/ step[p] = "timed" /\ (p \in Writers \/ "services plan under the lock" \in Rules)

OneHolder == \A p, q \in Processes: (Inside(p) /\ Inside(q)) => p = q

\* TL-011, TL-012: no time stands for two things, and nothing completes before it was requested.
SoundTimes ==
  LET done == {file \in timeline: file.state = "COMPLETED"} IN
  /\ \A file \in done: file.requested < file.completed
  /\ \A one, other \in done: one.completed = other.completed => one = other
  /\ \A one \in done, other \in timeline: one.completed # other.requested
  /\ \A one, other \in timeline:
       (one.requested = other.requested /\ one.state = other.state) => one = other

\* SW-003, SW-005, CP-004: the table holds what the completed writes put into it, as if one had
\* been made after the other as they completed, whatever was compacted.
NoWriteIsLost == Answer = Standing(Mode, Written(timeline))

\* RD-001, RD-002.
NothingUncommittedIsRead == \A row \in Answer: row.by \in CompletedInstants(timeline)

\* RD-001, RD-004: a reader gets the rows of the writes that had completed when it picked its
\* snapshot, whenever it comes to read them.
ReadersReadTheirSnapshot ==
  \A p \in Readers:
    LET expected == Standing(Mode, Written(TimelineOf(seen[p]))) IN
    /\ rows[p] \subseteq expected
    /\ step[p] = "done" => rows[p] = expected

\* TL-013: nothing completes by a moment up to which a reader has read the timeline already.
SnapshotsNeverChange ==
  \A p \in Readers:
    LET upto == Greatest({file.completed: file \in TimelineOf(seen[p])}) IN
    seen[p] # {} => \A file \in TimelineOf(CompletedInstants(timeline)):
      file.completed <= upto => file.requested \in seen[p]

\* SW-006, CP-003, CP-009: a log whose write has completed is in one slice: in that of one completed
\* compaction, or in the one that is read; and no two plans take it.
EachLogIsInOneSlice ==
  \A log \in LogsOf(files):
    LET takers == {plan \in {name.requested: name \in plans}: log \in PlannedFiles(plan)} IN
    log.instant \in CompletedInstants(timeline) =>
      /\ Cardinality(takers) <= 1
      /\ log \in SliceOf(timeline, GroupOf(log)) <=> takers \intersect CompletedInstants(timeline) = {}

\* CP-004, CP-007: a base file holds what a snapshot reads from the planned slice.
CompactedAsPlanned ==
  \A base \in files \ LogsOf(files):
    base.rows = RowsOf(timeline, FilesOfGroup(PlannedFiles(base.instant), GroupOf(base)))

\* RD-011: what a completed compaction has made is there.
CompactedIsThere ==
  \A plan \in {name.requested: name \in plans} \intersect CompletedInstants(timeline):
    \A group \in PlannedGroups(plan): \E file \in FilesOfGroup(files, group): file.kind = "base" /\ file.instant = plan

\* What users rely on: a commit counts whole or not at all, compactions change nothing, readers read a
\* prefix of the commits (AtomicTable).
IsAtomic == Atomic!Spec
SnapshotsArePrefixes == Atomic!SnapshotsArePrefixes

\* CP-002: a plan that was requested completes in the end.
PlansComplete == []<>(PendingCompactions = {})

\* SW-003: so does every write whose process lives.
WritesComplete == \A w \in Writers: <>(step[w] \in {"done", "crashed"})

\* What can happen: a must-fail configuration shows it for each of these.
NoLogFollowsAPlanItIsOlderThan ==
  \A log \in LogsOf(files), plan \in PendingCompactions:
    ~(log.instant < plan /\ log.instant \in CompletedInstants(timeline) /\ CompletionOf(timeline, log.instant) > plan)
NoAttemptIsMadeAnew == \A p \in Compactions: step[p] # "removing"
==============================================================================
