-------------------------- MODULE InductiveWriters --------------------------
(***************************************************************************)
(* Why no write is lost: an invariant of the lock and of the check for     *)
(* conflicts that every step of optimistic writers keeps, from whatever    *)
(* state it holds in, reachable or not. Of writers of one file group none  *)
(* of which crashes.                                                       *)
(*                                                                         *)
(* Clauses: LK-001, LK-003, OW-001, OW-004, OW-005, OW-009, TM-003.        *)
(***************************************************************************)
EXTENDS OptimisticWriters

CONSTANT
  \* The greatest time that an arbitrary state may have.
  \* @type: Int;
  MaxClock

WriterSteps == Steps \ {"crashed", "reading"}

Began == {"beating", "requested"}
Ending == {"finishing", "completed", "unmarked", "finished"}
HoldsLock == {"locked", "timed", "locked to finish"} \union Began \union Ending
NotBegun == {"idle", "locked", "timed"}
IsIn == {"completed", "unmarked", "finished", "done"}

\* The files of a write on the timeline, by how far its writer has come.
\* @type: Str => Set(Str);
StatesAt(at) ==
  CASE at \in NotBegun \union {"beating", "withdrawn", "gone"} -> {}
    [] at \in {"requested", "begun"} -> {"REQUESTED"}
    [] at \in IsIn -> {"REQUESTED", "INFLIGHT", "COMPLETED"}
    [] OTHER -> {"REQUESTED", "INFLIGHT"}

Staged == {"staged", "locked to finish", "finishing", "refused"} \union IsIn
Marked == ((Staged \ IsIn) \union {"marked", "completed", "files gone"})
Beats == WriterSteps \ (NotBegun \union {"finished", "done", "gone"})

\* @type: Str => $data;
FileOf(p) == [day |-> "d1", since |-> 1, instant |-> instant[p], kind |-> "base", rows |-> {RowOf(p)}]

\* @type: (Str, Int, Bool) => Set($file);
EntriesOf(p, completed, half) ==
  {File(instant[p], IF state = "COMPLETED" THEN completed ELSE 0, WriteAction, state, 0):
    state \in StatesAt(step[p]) \ (IF half THEN {"INFLIGHT"} ELSE {})}

HasTime == {"timed"} \union Began \union Ending

\* The types, bounded: how far each writer has come, and who holds the lock,
AnySteps ==
  /\ clock \in 2..MaxClock
  /\ lock \in Writers \union {"nobody"}
  /\ crashes = 0
  /\ step \in [Writers -> WriterSteps]

\* what it knows, and what is stored of its write.
AnyWrites ==
  /\ instant \in [Writers -> {0} \union (3..MaxClock)]
  /\ \A p \in Writers: instant[p] <= clock /\ (instant[p] = 0 <=> step[p] \in NotBegun)
  /\ \A p, q \in Writers: p # q /\ instant[p] # 0 => instant[p] # instant[q]
  /\ time = [p \in Writers |-> IF step[p] \in HasTime THEN clock ELSE 0]
  /\ seen \in [Writers -> SUBSET ({1} \union {instant[p]: p \in Writers})]
  /\ left = [p \in Writers |-> {}]
  /\ rows = [p \in Writers |-> {}]
  /\ \E completed \in [Writers -> {0} \union (4..MaxClock)], half \in SUBSET {p \in Writers: step[p] = "withdrawing"}:
       /\ \A p \in Writers: completed[p] <= clock /\ (completed[p] # 0 <=> step[p] \in IsIn)
       /\ timeline = FirstTimeline \union UNION {EntriesOf(p, completed[p], p \in half): p \in Writers}
  /\ files = FirstFiles \union {FileOf(p): p \in {one \in Writers: step[one] \in Staged}}
  /\ markers = {[instant |-> instant[p], day |-> "d1"]: p \in {one \in Writers: step[one] \in Marked}}
  /\ heartbeats = {[instant |-> instant[p], live |-> TRUE]: p \in {one \in Writers: step[one] \in Beats}}

AnyState == AnySteps /\ AnyWrites

\* LK-001, LK-003: who begins or finishes holds the lock, and nobody else does.
LockIsHeld == \A p \in Writers: step[p] \in HoldsLock <=> lock = p

\* TM-003: what the holder generated is the newest time there is.
TimesAreNewest ==
  /\ \A p \in Writers:
       /\ instant[p] \in 0..clock /\ (instant[p] = 0 <=> step[p] \in NotBegun) /\ instant[p] \notin {1, 2}
       /\ time[p] = IF step[p] \in HasTime THEN clock ELSE 0
       /\ step[p] \in Began => instant[p] = clock
       /\ step[p] \in {"timed", "finishing"} => \A q \in Writers: instant[q] < clock
  /\ \A p, q \in Writers: p # q /\ instant[p] # 0 => instant[p] # instant[q]
  /\ \A file \in timeline: file.requested <= clock /\ file.completed <= clock
  /\ \A p \in Writers: step[p] \in {"timed", "finishing"} => \A file \in timeline: file.completed < clock

\* What is stored of a write is what its writer's steps have made of it.
StoredAsMade ==
  /\ FirstTimeline \subseteq timeline
  /\ \A p \in Writers: instant[p] # 0 =>
       LET states == {file.state: file \in FilesOf(timeline, instant[p])} IN
       states = StatesAt(step[p]) \/ (step[p] = "withdrawing" /\ states = {"REQUESTED"})
  /\ \A file \in timeline \ FirstTimeline:
       /\ \E p \in Writers: file.requested = instant[p] /\ instant[p] # 0
       /\ (file.state = "COMPLETED" <=> file.completed # 0) /\ file.completed \notin {1, 2}
  /\ \A file, other \in timeline: file.requested = other.requested /\ file.state = other.state => file = other
  /\ files = FirstFiles \union {FileOf(p): p \in {one \in Writers: step[one] \in Staged}}

\* OW-002: a write knows of its beginning what had completed; nothing that has completed is taken back.
SeenHasCompleted ==
  \A p \in Writers: IF step[p] \in NotBegun THEN seen[p] = {} ELSE 1 \in seen[p] /\ seen[p] \subseteq Completed

\* OW-004, OW-005: of two writes of a file group the one that completed later builds on the other.
LaterBuildsOnEarlier ==
  \A p \in Writers: \A own, other \in timeline:
    own.requested = instant[p] /\ own.completed > other.completed /\ other.completed # 0
      => other.requested \in seen[p]

\* Inductive: it holds at first, and each step keeps it.
FirstCommitterWins == LockIsHeld /\ TimesAreNewest /\ StoredAsMade /\ SeenHasCompleted /\ LaterBuildsOnEarlier

InductiveInit == AnySteps /\ LockIsHeld /\ AnyWrites /\ FirstCommitterWins

\* Steps from within the bounds.
Step == clock <= MaxClock /\ Next
InductiveSpec == InductiveInit /\ [][Step]_vars

\* What Apalache is given of a step: all but the base file that a write puts, of which it gave no answer.
StepButFile ==
  /\ clock <= MaxClock
  /\ \E p \in Writers:
       \/ TakeLock(p) \/ GenerateTime(p) \/ WriteHeartbeat(p) \/ CreateInstant(p) \/ ReleaseLock(p)
       \/ PutMarker(p) \/ DeleteDataFile(p) \/ DeleteMarkers(p) \/ DeleteInstant(p)
=============================================================================
