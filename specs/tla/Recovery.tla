------------------------------- MODULE Recovery -------------------------------
(***************************************************************************)
(* Writers that crash, and rollbacks that remove what they left behind.    *)
(* Copy-on-write tables of versions 8 and 9.                               *)
(*                                                                         *)
(* A write updates its heartbeat from before its request until it has      *)
(* completed or has been rolled back. Each file is announced by a marker   *)
(* before it is there. Where a heartbeat has expired a rollback service    *)
(* plans, under the lock, what to remove of the write, and carries the     *)
(* plan out: files, then the write's timeline files, then its own          *)
(* completion. It may crash itself; another takes up its plan. A writer    *)
(* that was only slow looks under the lock whether its write is still its  *)
(* own.                                                                    *)
(*                                                                         *)
(* Each action is one durable effect; looking belongs to the effect that   *)
(* follows from it. A write makes one file.                                *)
(*                                                                         *)
(* Clauses: RB-001, RB-002, RB-003, RB-004, RB-005, RB-006, RB-008, RB-009,*)
(* RB-010, MK-001, MK-003, MK-004, MK-005, LK-001, LK-002, LK-003, LK-004, *)
(* OW-001, OW-003, OW-005, OW-008, OW-009, TL-003, TL-005, TL-017, TL-018, *)
(* TL-023, SA-003, SA-004.                                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, RecoverySteps

-----------------------------------------------------------------------------
Steps == {
  "idle", "locked", "timed", "beating", "requested", "begun", "inflight", "marked", "staged",
  "locked to finish", "finishing", "completed", "unmarked", "finished", "done",
  "refused", "files gone", "withdrawing", "withdrawn", "gone", "crashed",
  "planned", "removing", "taking back", "prepared", "metadata committed", "reading"
}

TypeOK ==
  /\ clock \in Nat
  /\ lock \in Processes \union {"nobody"}
  /\ crashes \in 0..MaxCrashes
  /\ step \in [Processes -> Steps]
  /\ \A file \in timeline: file.requested \in 1..clock /\ file.completed \in 0..clock /\ file.target \in 0..clock
  /\ \A file \in files: file.instant \in 1..clock /\ file.kind = "base"
  /\ \A named \in doomed: named.requested \in {file.requested: file \in RollbackFiles}
  /\ \A p \in Processes: instant[p] \in 0..clock /\ time[p] \in 0..clock /\ seen[p] \subseteq 1..clock

\* What some writes put into the table, one after the other as they completed.
\* @type: Set(Int) => Set($row);
Serial(instants) ==
  Standing("COMMIT_TIME_ORDERING",
    {[row |-> Row(key, one, 1), order |-> one + 1]: key \in {"a", "b"}, one \in FirstTimes}
    \union {[row |-> RowOf(p), order |-> CompletionOf(timeline, instant[p])]:
              p \in {p \in Writers: instant[p] \in instants}})

\* @type: Set($row);
RowsOfTable == UNION {RowsOfGroup(KnownByNow, group): group \in GroupsOf(files)}

\* The table holds what the completed writes put into it.
TableAnswers == RowsOfTable = Serial(Completed)

\* OW-001, RB-009: nothing of a write that has not completed is ever seen.
NothingUncommitted == \A row \in RowsOfTable: row.by \in Completed

\* A reader finds what had completed when it picked its snapshot, whatever is rolled back meanwhile.
ReadersReadTheirSnapshot == \A r \in Readers: step[r] = "done" => rows[r] = Serial(seen[r])

\* TL-003: no state is skipped.
NoStateIsSkipped ==
  \A file \in timeline:
    /\ file.state = "COMPLETED" => "INFLIGHT" \in StatesOf(file.requested)
    /\ file.state = "INFLIGHT" => "REQUESTED" \in StatesOf(file.requested)

\* TL-005: a rollback that several carry out completes once.
CompletedOnce ==
  \A one, other \in timeline:
    (one.state = "COMPLETED" /\ other.state = "COMPLETED" /\ one.requested = other.requested) => one = other

\* RB-003, RB-004: of a write there is one rollback.
OneRollback == \A one, other \in RollbackFiles: one.target = other.target => one.requested = other.requested

\* RB-002: a write that still beats is left alone.
LiveWritesStay ==
  \A p \in Writers: step[p] # "crashed" => \A file \in RollbackFiles: file.target # instant[p]

\* OW-008: what is rolled back never completes.
RolledBackNeverCompletes == \A file \in RollbackFiles: file.target \notin Completed

\* TL-017, RB-009: who sees a rollback completed sees the write no more, but for what a slow writer
\* brings back outside the lock, and withdraws once it has looked under it (OW-008).
RolledBackIsGone ==
  \A file \in RollbackFiles: file.state = "COMPLETED" =>
    \/ FilesOf(timeline, file.target) = {}
    \/ \E p \in Writers: instant[p] = file.target /\ step[p] \notin {"done", "gone", "crashed"}

\* RB-009: at no moment a file is there whose write is unknown.
FilesAreKnown == \A file \in files: FilesOf(timeline, file.instant) # {}

\* MK-001: whatever a write left behind can be found by its markers.
FilesAreMarked ==
  \A file \in files:
    \/ file.instant \in Completed \/ [instant |-> file.instant, day |-> file.day] \in markers
    \/ \E p \in Unmarked: instant[p] = file.instant

\* Nothing can happen any more: all have come to their end, wait for work, or for a lock that is not given back.
AtRest ==
  \A p \in Processes:
    \/ step[p] \in {"done", "gone", "crashed"}
    \/ step[p] = "idle" /\ p \in Rollbacks /\ ToTakeUp = {} /\ ToPlan(p) = {}
    \/ WantsLock(p) /\ lock # "nobody"

\* RB-004: at rest no rollback waits.
PlansComplete == AtRest => PendingRollbacks = {}

\* RB-001, OW-009: at rest nothing is left that could count one day, of writes that did not complete.
NothingIsLeft ==
  AtRest =>
    /\ \A file \in timeline: file.action \in Writes => file.requested \in Completed
    /\ \A file \in files: file.instant \in Completed

\* RB-010: nor a marker, unless a rollback died after it had completed.
MarkersGo ==
  (AtRest /\ crashes = Cardinality({p \in Writers: step[p] = "crashed"})) =>
    \A marker \in markers: marker.instant \in Completed

\* What a failed writer left behind goes away, unless it had completed.
FilesOfFailedWritesGo ==
  \A p \in Writers:
    step[p] = "crashed" ~> (instant[p] \in Completed \/ \A file \in files: file.instant # instant[p])

\* Every writer completes, is taken back or has failed, every reader comes to its end,
EveryoneEnds == \A p \in Writers \union Readers: <>(step[p] \in {"done", "gone", "crashed"})

\* and every rollback that has begun ends, or crashes and has to begin anew.
RollbacksEnd == \A p \in Rollbacks: step[p] # "idle" ~> step[p] \in {"idle", "done"}

PendingRollbacksComplete == PendingRollbacks # {} ~> PendingRollbacks = {}

\* What can happen: a must-fail configuration shows it for each of these.
NobodyTakesUpAPlan == \A p, q \in Rollbacks: (p # q /\ instant[p] # 0) => instant[p] # instant[q]
NobodyIsLate == \A p \in SlowHolders: step[p] = "finishing" => lock = p
NoSlowWriterIsRefused == \A p \in Writers: step[p] = "refused" => instant[p] \notin BeingRolledBack
==============================================================================
