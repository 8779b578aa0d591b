------------------------------ MODULE Timeline ------------------------------
(***************************************************************************)
(* The timeline of a table, versions 8 and 9: a folder to which processes  *)
(* put files, one for each state that an action reaches.                   *)
(*                                                                         *)
(* Processes request actions, perform them, crash, are taken for failed    *)
(* though they are only slow, and finish the work of others. A reader may  *)
(* take a snapshot between any two steps. How instants are made unique and *)
(* increasing is described in TrueTime; here `clock` is such a generator.  *)
(*                                                                         *)
(* Clauses: TL-003, TL-005, TL-006, TL-010, TL-011, TL-012, TL-013,        *)
(* TL-015, TL-017, SA-001, SA-002.                                         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TimelineSteps

RequestRollback(p) == \E instant \in Instants: RequestRollbackOf(p, instant)
Begin(p) == \E instant \in Instants: BeginOf(p, instant)
TakeOver(p) == \E instant \in Instants: TakeOverOf(p, instant)

Next ==
  \/ PickSnapshot
  \/ \E p \in Processes:
       \/ \E action \in Actions: Request(p, action)
       \/ RequestRollback(p) \/ Begin(p) \/ TakeOver(p) \/ RevertToRequested(p) \/ RemoveTarget(p)
       \/ GenerateTimeTooEarly(p) \/ TakeLock(p) \/ GiveUp(p)
       \/ GenerateTime(p) \/ Complete(p) \/ Reopen(p) \/ Crash(p)

\* Each process goes on with what it can do; nobody has to fail or to request anything.
Progress(p) ==
  \/ \E instant \in Instants:
       \/ BeginOf(p, instant)
       \/ Orphaned(instant) /\ (TakeOverOf(p, instant) \/ RequestRollbackOf(p, instant))
  \/ RemoveTarget(p) \/ GenerateTimeTooEarly(p) \/ GiveUp(p) \/ GenerateTime(p) \/ Complete(p)

Fairness == \A p \in Processes: WF_vars(Progress(p)) /\ SF_vars(TakeLock(p))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
TypeOK ==
  /\ clock \in Nat /\ clock < LatestTime
  /\ \A file \in files:
       /\ file.state \in {"REQUESTED", "INFLIGHT", "COMPLETED"}
       /\ file.action \in AllActions
       /\ file.completed # 0 <=> file.state = "COMPLETED"
       /\ file.target # 0 <=> file.action = "rollback"
  /\ \A p \in Processes: processes[p].step \in {"idle", "requested", "working", "locked", "timed"}
  /\ lock \in Processes \union {"nobody"}

\* TL-012: no time stands for two things.
InstantsAreUnique ==
  /\ \A one, other \in files: one.requested = other.requested => one.target = other.target
  /\ \A one, other \in Completed: one.completed = other.completed => one = other
  /\ \A one \in files, other \in Completed: one.requested # other.completed
  /\ Cardinality(Instants) + Cardinality(Completed) <= clock

\* TL-011: an action completes after it was requested.
RequestedBeforeCompleted == \A file \in Completed: file.requested < file.completed

\* TL-005: one requested instant, at most one completion.
CompletedOnce ==
  \A one, other \in Completed: one.requested = other.requested => one = other

\* TL-003, TL-010: no state without the one before it.
NoStateIsSkipped ==
  \A file \in files:
    /\ file.state = "COMPLETED" =>
         \E before \in files: before.requested = file.requested /\ before.state = "INFLIGHT"
    /\ (file.state = "INFLIGHT" /\ file.action # "savepoint") =>
         \E before \in files: before.requested = file.requested /\ before.state = "REQUESTED"

\* TL-006: the completed type is the one that belongs to the requested type.
TypesAgree ==
  \A file \in Completed:
    ActionOf(file.requested) # "none" => file.action = CompletedType(ActionOf(file.requested))

\* TL-015, SA-001: a process that sees a completed file sees all of it.
CompletedIsWhole == \A file \in Completed: file.whole

\* TL-017: what is being rolled back never completes.
RolledBackNeverCompletes == \A file \in files: file.target # 0 => StateOf(file.target) # "COMPLETED"

\* TL-017: what was rolled back is no longer on the timeline.
RolledBackIsGone ==
  \A file \in Completed: file.target # 0 => StateOf(file.target) = "ABSENT"

\* TL-013: whatever completes later stands behind all that a reader has seen, so that a
\* snapshot as of its completion time reads the same for ever.
SnapshotsNeverChange == CompletedUpTo(snapshot.upto) = snapshot.instants

LegalStep ==
  \A instant \in Instants \union {file.requested: file \in files'}:
    LET before == StateIn(files, instant)
        after == StateIn(files', instant)
    IN
    \/ before = after
    \/ <<before, after>> \in Transitions
    \/ before = "REQUESTED" /\ after = "ABSENT" /\ RollbacksOf(instant) # {}
    \/ before = "ABSENT" /\ after = "INFLIGHT"
         /\ \A file \in FilesOf(files', instant): file.action = "savepoint"

LegalTransitions == [][LegalStep]_vars

\* What can happen: a must-fail configuration shows it for each of these.
NoWriteIsEverRolledBack == \A file \in Completed: file.action # "rollback"
NoFailedPlanEverCompletes == failures = 0 \/ \A file \in Completed: ActionOf(file.requested) # "compaction"

\* Whatever was requested completes, or is rolled back: ever again nothing is pending.
EverythingSettles ==
  []<>(\A instant \in Instants: StateOf(instant) = "COMPLETED")
==============================================================================
