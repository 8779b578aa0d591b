---------------------------- MODULE TimelineSteps ----------------------------
(***************************************************************************)
(* How processes put the files of actions to a timeline, fail, and finish  *)
(* the work of others. Timeline says what holds meanwhile.                 *)
(*                                                                         *)
(* Clauses: SA-001, SA-002, TL-003, TL-004, TL-006, TL-010, TL-011,        *)
(* TL-012, TL-013, TL-017.                                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TimelineFiles

(*
  @typeAlias: process = { step: Str, instant: Int, completed: Int };
  @typeAlias: view = { upto: Int, instants: Set(Int) };
*)
TimelineAliases == TRUE

CONSTANTS
  \* @type: Set(Str);
  Processes,
  \* The actions that are requested freely; a rollback follows from a failed write.
  \* @type: Set(Str);
  Actions,
  \* The rules in force. A must-fail configuration leaves one out.
  \* @type: Set(Str);
  Rules,
  \* Bounds of the search: actions requested; crashes, suspicions and withdrawals.
  \* @type: Int;
  MaxRequests,
  \* @type: Int;
  MaxFailures

AllRules == {
  "time is never repeated",                    \* TL-012
  "time goes forward",                         \* TL-011
  "completion time under the lock",            \* TL-013
  "look under the lock",                       \* TL-003, TL-017
  "inflight before completed",                 \* TL-003
  "completed is final",                        \* TL-003, TL-004
  "completed type follows the request",        \* TL-006
  "rollback removes, then completes",          \* TL-017
  "put is atomic",                             \* SA-001
  "the work of a failed process is taken over" \* TL-003
}

ASSUME Actions \subseteq AllActions \ {"rollback"}
ASSUME Rules \subseteq AllRules

VARIABLES
  \* The greatest time generated so far.
  \* @type: Int;
  clock,
  \* The files of the timeline folder.
  \* @type: Set($file);
  files,
  \* What each process is at: its step, the requested instant it works on, and
  \* the completion time it has generated.
  \* @type: Str -> $process;
  processes,
  \* The process that holds the table's lock, or "nobody".
  \* @type: Str;
  lock,
  \* The last snapshot that a reader took: the completed instants up to a completion time.
  \* @type: $view;
  snapshot,
  \* @type: Int;
  requests,
  \* @type: Int;
  failures

vars == <<clock, files, processes, lock, snapshot, requests, failures>>

-----------------------------------------------------------------------------
StateOf(instant) == StateIn(files, instant)

Instants == {file.requested: file \in files}

Completed == {file \in files: file.state = "COMPLETED"}

\* The action as requested; TL-010: a savepoint's first file is its inflight one.
ActionOf(instant) ==
  LET pending == {file \in FilesOf(files, instant): file.state # "COMPLETED"}
  IN IF pending = {} THEN "none" ELSE (CHOOSE file \in pending: TRUE).action

\* The instant that a rollback is to remove.
TargetOf(instant) ==
  LET own == FilesOf(files, instant)
  IN IF own = {} THEN 0 ELSE (CHOOSE file \in own: TRUE).target

RollbacksOf(instant) == {file \in files: file.target = instant}

UsedTimes == {file.requested: file \in files} \union {file.completed: file \in files}

\* More than all times that are generated within the bounds of the search.
LatestTime == 4 * (MaxRequests + MaxFailures) + 2

\* What the generator may answer next.
NextTimes ==
  IF "time is never repeated" \notin Rules THEN {clock, clock + 1} \ {0}
  ELSE IF "time goes forward" \notin Rules THEN {time \in 1..LatestTime: time <= clock + 1} \ UsedTimes
  ELSE {clock + 1}

Later(time) == IF time > clock THEN time ELSE clock

\* @type: $process;
Idle == [step |-> "idle", instant |-> 0, completed |-> 0]

Works(p, instant) == processes[p].step # "idle" /\ processes[p].instant = instant

Orphaned(instant) == \A p \in Processes: ~Works(p, instant)

-----------------------------------------------------------------------------
Init ==
  /\ clock = 0
  /\ files = {}
  /\ processes = [p \in Processes |-> Idle]
  /\ lock = "nobody"
  /\ snapshot = [upto |-> 0, instants |-> {}]
  /\ requests = 0
  /\ failures = 0

\* TL-003: [] -> REQUESTED. generate_time and create_instant, under the lock.
Request(p, action) ==
  /\ processes[p] = Idle
  /\ lock = "nobody"
  /\ requests < MaxRequests
  /\ requests' = requests + 1
  /\ \E time \in NextTimes:
       /\ clock' = Later(time)
       /\ files' = files \union
            {File(time, 0, action, IF action = "savepoint" THEN "INFLIGHT" ELSE "REQUESTED", 0)}
       /\ processes' =
            IF action \in Writes \union {"savepoint"}
            THEN [processes EXCEPT ![p] =
                    [step |-> IF action = "savepoint" THEN "working" ELSE "requested",
                     instant |-> time, completed |-> 0]]
            ELSE processes
  /\ UNCHANGED <<lock, snapshot, failures>>

\* A write whose process crashed, or is taken for failed, is to be rolled back.
RequestRollbackOf(p, instant) ==
  /\ processes[p] = Idle
  /\ lock = "nobody"
  /\ ActionOf(instant) \in Writes
  /\ StateOf(instant) # "COMPLETED"
  /\ RollbacksOf(instant) = {}
  /\ Orphaned(instant) \/ failures < MaxFailures
  /\ failures' = IF Orphaned(instant) THEN failures ELSE failures + 1
  /\ \E time \in NextTimes:
       /\ clock' = Later(time)
       /\ files' = files \union {File(time, 0, "rollback", "REQUESTED", instant)}
  /\ UNCHANGED <<processes, lock, snapshot, requests>>

\* TL-003: REQUESTED -> INFLIGHT, by the writer itself or by any process for a plan.
BeginOf(p, instant) ==
  /\ StateOf(instant) = "REQUESTED"
  /\ \/ processes[p] = [step |-> "requested", instant |-> instant, completed |-> 0]
     \/ processes[p] = Idle /\ ActionOf(instant) \notin Writes /\ Orphaned(instant)
  /\ files' = IF "inflight before completed" \in Rules
              THEN files \union {File(instant, 0, ActionOf(instant), "INFLIGHT", TargetOf(instant))}
              ELSE files
  /\ processes' = [processes EXCEPT ![p] = [step |-> "working", instant |-> instant, completed |-> 0]]
  /\ UNCHANGED <<clock, lock, snapshot, requests, failures>>

\* TL-003: INFLIGHT -> INFLIGHT, a plan is performed anew when its process crashed or is taken for
\* failed.
TakeOverOf(p, instant) ==
  /\ "the work of a failed process is taken over" \in Rules
  /\ processes[p] = Idle
  /\ StateOf(instant) = "INFLIGHT"
  /\ ActionOf(instant) \notin Writes
  /\ Orphaned(instant) \/ failures < MaxFailures
  /\ failures' = IF Orphaned(instant) THEN failures ELSE failures + 1
  /\ processes' = [processes EXCEPT ![p] = [step |-> "working", instant |-> instant, completed |-> 0]]
  /\ UNCHANGED <<clock, files, lock, snapshot, requests>>

\* TL-003: INFLIGHT -> REQUESTED, a plan is reverted to requested. delete_instant, under the lock.
RevertToRequested(p) ==
  LET instant == processes[p].instant IN
  /\ processes[p].step = "working"
  /\ lock = "nobody"
  /\ failures < MaxFailures
  /\ StateOf(instant) = "INFLIGHT"
  /\ ActionOf(instant) \notin Writes \union {"savepoint"}
  /\ files' = {file \in files: ~(file.requested = instant /\ file.state = "INFLIGHT")}
  /\ processes' = [processes EXCEPT ![p] = Idle]
  /\ failures' = failures + 1
  /\ UNCHANGED <<clock, lock, snapshot, requests>>

\* TL-017: a rollback deletes the target's files, the highest state first.
RemoveTarget(p) ==
  LET instant == processes[p].instant
      target == TargetOf(instant)
      highest == StateOf(target)
  IN
  /\ processes[p].step = "working"
  /\ ActionOf(instant) = "rollback"
  /\ highest # "ABSENT"
  /\ files' = {file \in files: ~(file.requested = target /\ file.state = highest)}
  /\ UNCHANGED <<clock, processes, lock, snapshot, requests, failures>>

\* Everything that the action does besides the timeline is done; now it may complete.
ReadyToComplete(p) ==
  LET instant == processes[p].instant IN
  \/ ActionOf(instant) # "rollback"
  \/ StateOf(TargetOf(instant)) = "ABSENT"
  \/ "rollback removes, then completes" \notin Rules

\* The rule that is dropped by "completion time under the lock": the time is generated first.
GenerateTimeTooEarly(p) ==
  /\ "completion time under the lock" \notin Rules
  /\ processes[p].step = "working"
  /\ processes[p].completed = 0
  /\ \E time \in NextTimes:
       /\ clock' = Later(time)
       /\ processes' = [processes EXCEPT ![p].completed = time]
  /\ UNCHANGED <<files, lock, snapshot, requests, failures>>

TakeLock(p) ==
  /\ processes[p].step = "working"
  /\ lock = "nobody"
  /\ ReadyToComplete(p)
  /\ processes[p].completed # 0 \/ "completion time under the lock" \in Rules
  /\ lock' = p
  /\ processes' = [processes EXCEPT ![p].step = "locked"]
  /\ UNCHANGED <<clock, files, snapshot, requests, failures>>

\* The action is still this process's to complete: inflight, and nobody rolls it back.
StillMine(p) ==
  LET instant == processes[p].instant IN
  \/ "look under the lock" \notin Rules
  \/ "inflight before completed" \notin Rules
  \/ StateOf(instant) = "INFLIGHT" /\ RollbacksOf(instant) = {}

\* release_lock without completing: another process has finished, reverted or rolled back the action.
GiveUp(p) ==
  /\ \/ processes[p].step = "locked" /\ ~StillMine(p)
     \/ processes[p].step = "requested" /\ StateOf(processes[p].instant) = "ABSENT"
     \/ processes[p].step = "working" /\ FilesOf(files, processes[p].instant) = {}
  /\ lock' = IF lock = p THEN "nobody" ELSE lock
  /\ processes' = [processes EXCEPT ![p] = Idle]
  /\ UNCHANGED <<clock, files, snapshot, requests, failures>>

\* generate_time for the completion, inside the lock (TL-011, TL-013).
GenerateTime(p) ==
  /\ processes[p].step = "locked"
  /\ StillMine(p)
  /\ IF processes[p].completed # 0
     THEN /\ processes' = [processes EXCEPT ![p].step = "timed"]
          /\ UNCHANGED clock
     ELSE \E time \in NextTimes:
          /\ clock' = Later(time)
          /\ processes' = [processes EXCEPT ![p].step = "timed", ![p].completed = time]
  /\ UNCHANGED <<files, lock, snapshot, requests, failures>>

CompletedTypes(action) ==
  IF "completed type follows the request" \in Rules
  THEN {CompletedType(action)}
  ELSE {CompletedType(action), action}

\* TL-003: INFLIGHT -> COMPLETED. create_instant, whole at once (SA-001), then release_lock.
Complete(p) ==
  LET instant == processes[p].instant
      file(action, whole) ==
        [File(instant, processes[p].completed, action, "COMPLETED", TargetOf(instant)) EXCEPT !.whole = whole]
  IN
  /\ processes[p].step = "timed"
  /\ \E action \in CompletedTypes(ActionOf(instant)), whole \in {TRUE, "put is atomic" \in Rules}:
       /\ files' = files \union {file(action, whole)}
  /\ lock' = "nobody"
  /\ processes' = [processes EXCEPT ![p] = Idle]
  /\ UNCHANGED <<clock, snapshot, requests, failures>>

\* What no process may do: take back what is completed.
Reopen(p) ==
  /\ "completed is final" \notin Rules
  /\ processes[p] = Idle
  /\ \E file \in Completed: files' = files \ {file}
  /\ UNCHANGED <<clock, processes, lock, snapshot, requests, failures>>

\* A process crashes and comes back without memory; its lock expires.
Crash(p) ==
  /\ failures < MaxFailures
  /\ processes[p] # Idle
  /\ failures' = failures + 1
  /\ processes' = [processes EXCEPT ![p] = Idle]
  /\ lock' = IF lock = p THEN "nobody" ELSE lock
  /\ UNCHANGED <<clock, files, snapshot, requests>>

CompletedUpTo(time) == {file.requested: file \in {each \in Completed: each.completed <= time}}

\* pick_snapshot: a reader lists the timeline (SA-002) and reads up to the newest completion.
PickSnapshot ==
  /\ \E file \in Completed:
       /\ file.completed > snapshot.upto
       /\ \A other \in Completed: other.completed <= file.completed
       /\ snapshot' = [upto |-> file.completed, instants |-> CompletedUpTo(file.completed)]
  /\ UNCHANGED <<clock, files, processes, lock, requests, failures>>
==============================================================================
