---------------------------- MODULE TableServices ----------------------------
(***************************************************************************)
(* Table services beside optimistic writers and readers, versions 8 and 9: *)
(* compaction, log compaction, clustering, cleaning, savepoints, restore.  *)
(*                                                                         *)
(* A service makes its plan under the lock, carries it out without, and    *)
(* finishes it under the lock. The plan of a service that crashes is taken *)
(* up by another, which removes what the failed one left, and starts       *)
(* again. A write gives way to plans made since it began. A cleaner keeps  *)
(* what retained writes, savepoints and plans need, and coordinates with   *)
(* nobody else. A restore goes back to a savepoint when others have ended. *)
(*                                                                         *)
(* Each action is one durable effect; looking belongs to the effect that   *)
(* follows from it. Conflicts of writers are described in                  *)
(* OptimisticWriters, the rollback of failed ones in Recovery.             *)
(*                                                                         *)
(* Clauses: LK-001, LK-002, LK-004, CP-001, CP-002, CP-003, CP-004, CP-005,*)
(* CP-006, CP-010, CP-012, CL-002, CL-003, CL-004, CL-005, CL-006, CN-001, *)
(* CN-002, CN-004, CN-005, CN-006, CN-007, CN-008, CN-009, CN-012, SR-001, *)
(* SR-002, OW-001, OW-003, OW-005, OW-006, OW-009, OW-011, MK-001, MK-003, *)
(* MK-004, RD-001, RD-004, RD-011, LC-001, LC-002, LC-006, LC-010, SR-004, *)
(* SR-005, SR-006, SR-009.                                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, ServiceSteps

-----------------------------------------------------------------------------
Steps == {
  "idle", "locked", "timed", "beating", "requested", "begun", "planned", "inflight", "marked", "staged",
  "removing", "marking", "writing", "prepared", "locked to finish", "finishing", "completed", "unmarked",
  "finished", "done", "refused", "files gone", "withdrawing", "withdrawn", "gone", "crashed", "reading", "missed",
  "undoing"
}

TypeOK ==
  /\ clock \in Nat
  /\ lock \in Processes \union {"nobody"}
  /\ crashes \in 0..MaxCrashes
  /\ step \in [Processes -> Steps]
  /\ \A file \in timeline: file.requested \in 1..clock /\ file.completed \in 0..clock
  /\ \A file \in files: file.instant \in 1..clock /\ file.kind \in {"base", "log"}
  /\ \A name \in plans: name.requested \in 1..clock /\ name.instant <= name.requested
  /\ \A p \in Processes: instant[p] \in 0..clock /\ time[p] \in 0..clock /\ seen[p] \subseteq 1..clock

\* LK-001, LK-004: a process that plans, begins or finishes holds the lock.
OneHolder ==
  \A p \in Writers \union Services:
    (p = "savepointer" /\ step[p] = "inflight")
    \/ step[p] \in {"locked", "timed", "beating", "requested", "locked to finish", "finishing",
                    "completed", "unmarked", "finished"}
    => lock = p

Completed == CompletedInstants(timeline)

\* What some writes put into the table one after the other as they completed.
\* @type: Set(Int) => Set($row);
Serial(instants) ==
  Standing("COMMIT_TIME_ORDERING",
    {[row |-> [key |-> key, by |-> one, ts |-> 1], order |-> one + 1]: key \in Keys, one \in FirstTimes}
    \union {[row |-> RowOf(p), order |-> CompletionOf(timeline, instant[p])]:
              p \in {p \in Writers: instant[p] \in instants}})

\* @type: $group => Set($row);
RowsOfGroup(group) == RowsOf(timeline, SnapshotSlice(timeline, files, group))

\* CP-004, CL-004, CN-001: services change no answer: the table holds what writes have put into it.
AnswersAreSerial == UNION {RowsOfGroup(group): group \in LiveGroupsOf(timeline)} = Serial(Completed)

\* CL-006: and holds it once.
RowsAreThereOnce ==
  LET held == [group \in LiveGroupsOf(timeline) |-> {row.key: row \in RowsOfGroup(group)}] IN
  \A group, other \in DOMAIN held: group = other \/ held[group] \intersect held[other] = {}

\* RD-001, RD-004: a reader finds what had completed when it picked its snapshot, whenever it reads.
ReadersReadTheirSnapshot ==
  \A r \in Readers:
    /\ rows[r] \subseteq Serial(seen[r])
    /\ step[r] = "done" => rows[r] = Serial(seen[r])

\* TL-013: what completes later stands behind all that a reader has seen.
SnapshotsNeverChange ==
  \A r \in Readers: \A one \in Completed \ seen[r], other \in seen[r]:
    CompletionOf(timeline, one) > CompletionOf(timeline, other)

\* CN-002: a clean keeps what is read as of the last writes when it was planned, and as of later ones.
IsRetained(r) ==
  \A one \in RequestsOf(timeline, {"clean"}):
    /\ Policy = "commits"
    /\ Greatest(seen[r]) >= Least(Last(CompletedCommits(CompletedBy(timeline, one)), Retained))

\* CN-001, CN-002, CN-007: nobody else loses a file; without a clean nobody does.
RetainedReadersMissNothing == \A r \in Readers: step[r] = "missed" => ~IsRetained(r)

\* CP-005, CN-005: what a plan names is there until it is done.
PlansNameFilesThatAreThere ==
  \A one \in Pending(timeline, Holding): AllAreThere(plans, files, one)

\* CN-008, SR-002: what a savepoint names is there.
SavedFilesStay == \A name \in Saved(timeline, plans): \E file \in files: NameOf(name.requested, file) = name

\* CP-003, CL-002, LC-002.
GroupsAreInOnePlan ==
  \A one, other \in Pending(timeline, Holding):
    one = other \/ GroupsNamed(plans, {one}) \intersect GroupsNamed(plans, {other}) = {}

\* OW-006, OW-011, CP-012: where updates are rejected no clustering has to give up.
ClusteringsStayAsPlanned ==
  UpdatesStrategy = "reject" =>
    \A one \in Pending(timeline, {"clustering"}): IsAsPlanned(timeline, plans, files, one)

\* CP-010: a process that begins to write finds no file of the plan.
AttemptsStartClean ==
  [][\A p \in Planners:
      (step[p] \notin {"marking", "writing"} /\ step'[p] = "marking") =>
        \A file \in files': file.instant # instant'[p]]_vars

\* SR-006: at each moment of a restore the table is as it was after some write.
UndoneYoungestFirst ==
  [][\A one \in CompletedCommits(timeline) \ CompletedCommits(timeline'), other \in CompletedCommits(timeline):
      CompletionOf(timeline, other) <= CompletionOf(timeline, one)]_vars

\* SR-005, SR-009: nothing is there after a restore but what was there when the savepoint's write had completed.
RestoredIsAsSaved ==
  (\E file \in timeline: file.action = "restore" /\ file.state = "COMPLETED") =>
    /\ ToUndo(timeline) = {}
    /\ \A file \in files: file.instant \in Staying(timeline)

\* CP-002, CN-012, SR-006: every plan completes, whichever process crashes.
PlansComplete == <>[](Pending(timeline, Holding \union {"clean", "restore"}) = {})

\* CP-010, OW-009: nothing is there in the end of what did not complete, but for writers that died.
NothingIsLeft ==
  LET kept == Completed \union {instant[p]: p \in {p \in Writers: step[p] = "crashed"}} IN
  <>[](/\ \A file \in files: file.instant \in kept
       /\ \A marker \in markers: marker.instant \in kept)

\* What can happen: a must-fail configuration shows it for each of these.
NoLogIsCompactedBesideAWrite ==
  \A p \in Writers, file \in files: (step[p] = "staged" /\ IsCompacted(file)) => file.instant \notin Completed
NothingPendingIsUndone ==
  \A p \in Services: step[p] = "undoing" => \A q \in Writers: step[q] # "crashed" \/ instant[q] \notin ToUndo(timeline)
NoWriteGivesWay == \A p \in Writers: step[p] # "refused"
NobodyFindsLeftoverFiles == \A p \in Planners \ {"cleaning"}: step[p] # "removing"
NoReaderMissesAFile == \A r \in Readers: step[r] # "missed"
NoClusteringGivesUp ==
  \A p \in Services \intersect {"clustering"}: step[p] = "done" => Pending(timeline, {"clustering"}) = {}
==============================================================================
