-------------------------- MODULE InductiveTimeline --------------------------
(***************************************************************************)
(* Why a snapshot never changes: two invariants of the timeline that every *)
(* step keeps, from whatever state they hold in, reachable or not.         *)
(*                                                                         *)
(* Clauses: TL-003, TL-005, TL-011, TL-012, TL-013, TL-017, SA-001.        *)
(***************************************************************************)
EXTENDS Timeline

CONSTANT
  \* The greatest time that an arbitrary state may have.
  \* @type: Int;
  MaxClock

\* What an action has on the timeline, as far as it has come: nothing at all, or one file for each state.
\* @type: (Int, Str, Int, Str, Int) => Set($file);
FilesUpTo(instant, action, target, state, completed) ==
  LET requested == File(instant, 0, action, "REQUESTED", target)
      inflight == File(instant, 0, action, "INFLIGHT", target)
  IN CASE state = "ABSENT" -> {}
       [] state = "REQUESTED" -> {requested}
       [] state = "INFLIGHT" -> {requested, inflight}
       [] OTHER -> {requested, inflight, File(instant, completed, CompletedType(action), "COMPLETED", target)}

AllStates == {"ABSENT", "REQUESTED", "INFLIGHT", "COMPLETED"}

\* Every way in which an action and a rollback of a write can stand on the timeline.
\* @type: Set(Set($file));
AnyFiles ==
  UNION {{FilesUpTo(instant, action, 0, state, completed) \union FilesUpTo(later, "rollback", instant, undone, ended):
    instant, later, completed, ended \in 1..MaxClock, state, undone \in AllStates}: action \in Actions}

\* What a process knows of its action: which, once it works on one; a completion time, once it has one.
\* @type: Set($process);
AnyProcess ==
  {one \in [step: {"idle", "requested", "working", "locked", "timed"}, instant: 0..MaxClock, completed: 0..MaxClock]:
    (one.step = "idle" <=> one.instant = 0) /\ (one.step = "timed" <=> one.completed # 0)}

\* The types, bounded, so that all their values can be tried. What was requested and what failed so far only bounds the
\* search: with nothing of it used up every step is possible.
AnyState ==
  /\ clock \in 0..MaxClock
  /\ files \in {some \in AnyFiles: \A file \in some: file.requested <= clock /\ file.completed <= clock}
  /\ processes \in [Processes -> {one \in AnyProcess: one.instant <= clock /\ one.completed \in {0, clock}}]
  /\ lock \in Processes \union {"nobody"}
  /\ snapshot \in {[upto |-> time, instants |-> CompletedUpTo(time)]: time \in 0..clock}
  /\ requests = 0
  /\ failures = 0

\* The lock is held by the one process that is about to complete.
LockIsHeld == \A p \in Processes: processes[p].step \in {"locked", "timed"} <=> lock = p

\* No file and no reader knows of a time that was not generated.
TimesAreGenerated ==
  /\ \A file \in files: file.requested <= clock /\ file.completed <= clock
  /\ snapshot.upto <= clock

\* TL-013: a completion time that was generated under the lock is still the newest when the action completes.
TimeIsNewest ==
  \A p \in Processes: processes[p].step = "timed" =>
    /\ processes[p].completed = clock
    /\ snapshot.upto < clock
    /\ \A file \in files: file.requested < clock /\ file.completed < clock

\* Inductive: what completes stands behind all that a reader has seen.
CompletionIsLast == LockIsHeld /\ TimesAreGenerated /\ TimeIsNewest /\ SnapshotsNeverChange

\* TL-003, TL-017: what is about to complete is inflight, and nobody has begun to take it back.
TimedIsMine == \A p \in Processes: processes[p].step = "timed" => StillMine(p)

\* TL-005: inductive: one completion for an action, none for what is being rolled back.
CompletedOrUndone == LockIsHeld /\ TimedIsMine /\ CompletedOnce /\ RolledBackNeverCompletes

InductiveInit == AnyState /\ CompletionIsLast /\ CompletedOrUndone

\* Steps from within the bounds.
Step == clock <= MaxClock /\ requests = 0 /\ failures = 0 /\ Next
InductiveSpec == InductiveInit /\ [][Step]_vars
===============================================================================
