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
  /\ \A file \in files: file.requested <= clock /\ file.completed <= clock
  /\ \A p \in Processes:
       /\ processes[p].step \in {"idle", "requested", "working", "locked", "timed"}
       /\ processes[p].completed <= clock
       /\ (lock = p) <=> (processes[p].step \in {"locked", "timed"})
  /\ requests <= MaxRequests /\ failures <= MaxFailures
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

Mine(instant) == StateOf(instant) = "INFLIGHT" /\ RollbacksOf(instant) = {}

\* TL-003, TL-013, TL-017: how a process goes on, a step at a time, its completion time from under the lock.
LegalMoveOf(p) ==
  LET before == processes[p]
      after == processes'[p]
      failed == failures' = failures + 1
      fresh == after.completed = 0 /\ lock' = lock
  IN
  \/ after = before
  \/ /\ before = Idle /\ fresh
     /\ \/ /\ StateOf(after.instant) = "ABSENT" /\ requests' = requests + 1 /\ lock = "nobody"
           /\ after.step = IF StateIn(files', after.instant) = "INFLIGHT" THEN "working" ELSE "requested"
        \/ /\ after.step = "working" /\ ActionOf(after.instant) \notin Writes
           /\ Orphaned(after.instant) \/ (failed /\ StateOf(after.instant) = "INFLIGHT")
           /\ StateIn(files', after.instant) = "INFLIGHT"
  \/ after = [before EXCEPT !.step = "working"] /\ before.step = "requested" /\ lock' = lock
       /\ StateOf(before.instant) = "REQUESTED" /\ StateIn(files', before.instant) = "INFLIGHT"
  \/ after = [before EXCEPT !.step = "locked"] /\ before.step = "working" /\ lock = "nobody"
  \/ after = [before EXCEPT !.step = "timed", !.completed = clock'] /\ before.step = "locked" /\ Mine(before.instant)
  \/ after = Idle /\ before.step = "timed" /\ StateIn(files', before.instant) = "COMPLETED"
  \/ /\ after = Idle
     /\ failed \/ (before.step # "timed" /\ ~Mine(before.instant) /\ files' = files)
     /\ before.step = "requested" => (failed \/ StateOf(before.instant) = "ABSENT")

\* A reader reads up to the newest completion.
LegalMove ==
  /\ Cardinality({p \in Processes: processes'[p] # processes[p]}) <= 1
  /\ \A p \in Processes: LegalMoveOf(p)
  /\ snapshot' # snapshot => \A file \in Completed: file.completed <= snapshot'.upto

LegalMoves == [][LegalMove]_vars

IsRolledBack(instant) ==
  \E p \in Processes: processes[p].step = "working" /\ TargetOf(processes[p].instant) = instant

\* TL-003, TL-017: files come and go one at a time: plans and rollbacks while nobody holds the lock, a rollback of
\* a pending write that has none, the highest state of what is rolled back first.
LegalFile ==
  LET added == files' \ files
      removed == files \ files'
      failed == failures' = failures + 1
  IN
  /\ Cardinality(added) + Cardinality(removed) <= 1
  /\ requests' # requests => added # {}
  /\ failures' \in {failures, failures + 1}
  /\ \A file \in {one \in added: StateOf(one.requested) = "ABSENT"}:
       /\ lock = "nobody"
       /\ IF file.target = 0 THEN requests' = requests + 1 ELSE
            /\ ActionOf(file.target) \in Writes /\ StateOf(file.target) # "COMPLETED" /\ RollbacksOf(file.target) = {}
            /\ Orphaned(file.target) \/ failed
  /\ \A file \in removed:
       /\ file.state = StateOf(file.requested)
       /\ \/ IsRolledBack(file.requested)
          \/ file.state = "INFLIGHT" /\ failed /\ file.action \notin Writes \union {"savepoint"} /\ lock = "nobody"

LegalFiles == [][LegalFile]_vars

\* What can happen: a must-fail configuration shows it for each of these.
NoPlanIsReverted == failures = 0 \/ \A instant \in Instants: StateOf(instant) # "REQUESTED"
NoSlowWriteIsRolledBack == \A file \in files: file.target # 0 => Orphaned(file.target)
NoPlanIsPerformedTwice ==
  \A p, q \in Processes: (p # q /\ processes[p].step = "working") => processes[q] # processes[p]
NobodyReads == snapshot.upto = 0
NoWriteIsEverRolledBack == \A file \in Completed: file.action # "rollback"
NoFailedPlanEverCompletes == failures = 0 \/ \A file \in Completed: ActionOf(file.requested) # "compaction"

\* Whatever was requested completes, or is rolled back: ever again nothing is pending.
EverythingSettles ==
  []<>(\A instant \in Instants: StateOf(instant) = "COMPLETED")
==============================================================================
