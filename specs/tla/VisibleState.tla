---------------------------- MODULE VisibleState -----------------------------
(***************************************************************************)
(* What others can see of a process: locks, times, the timeline, markers,  *)
(* the metadata table, the history. Effects says what changes it.          *)
(*                                                                         *)
(* Clauses: AR-001, AR-010, AR-011, HS-002, HS-003, LK-001, LK-002,        *)
(* LK-003, LK-004, MK-001, MK-004, MT-003, MT-004, OW-009, RB-004, RB-005, *)
(* RB-008, RB-009, RD-001, RD-004, SR-001, SR-006, TL-003, TL-004, TL-005, *)
(* TL-006, TL-010, TL-012, TL-013, TL-026, TM-003, TM-005, TM-007.         *)
(***************************************************************************)
EXTENDS Integers, TimelineFiles

(*
  A file of the timeline, and the process that put it there.
  @typeAlias: entry = { action: Str, state: Str, requested: Int, completed: Int, process: Str };
  @typeAlias: datafile = { requested: Int, partition: Str, file: Str };
  @typeAlias: bounds = { first: Int, last: Int };
  A line of a trace; what its effect has no use for is empty, or 0. `first` and `last` are the
  bounds in the name of a file of the history, `number` is a version, or counts actions.
  @typeAlias: line = { process: Str, effect: Str, holder: Str, time: Int, action: Str, state: Str,
    requested: Int, completed: Int, partition: Str, file: Str, first: Int, last: Int, number: Int };
*)
EffectsAliases == TRUE

CONSTANTS
  \* The rules in force.
  \* @type: Set(Str);
  Rules

AllRules == {
  "one process holds the lock",              \* LK-001, LK-002
  "times increase",                          \* TM-003, TM-005
  "a request bears the time just generated", \* TL-012, TM-007
  "no state is skipped",                     \* TL-003, TL-010
  "completed type follows the request",      \* TL-006
  "completed writes are saved",              \* SR-001
  "plans are made under the lock",           \* LK-004
  "finished under the lock",                 \* LK-003, MT-004
  "completion time under the lock",          \* TL-013, TL-012
  "marker before file",                      \* MK-001
  "markers stay with their write",           \* MK-004, OW-009
  "everything before completion",            \* TL-026
  "metadata before completion",              \* MT-003, MT-004
  "undone before it leaves",                 \* RB-005, RB-009, SR-006
  "highest state first",                     \* RB-009
  "history before it leaves",                \* AR-001, AR-010
  "completed file last",                     \* AR-011
  "manifests are numbered",                  \* HS-003
  "manifest before version",                 \* HS-002, AR-010
  "only a rollback finds files gone",        \* RB-004
  "snapshot before slices"                   \* RD-001, RD-004
}

ASSUME Rules \subseteq AllRules

VARIABLES
  \* The greatest time generated so far.
  \* @type: Int;
  clock,
  \* The process that holds the table's lock, or "nobody".
  \* @type: Str;
  lock,
  \* What each process has generated last and not completed with; of those not named, nothing.
  \* @type: Str -> Int;
  time,
  \* What the holder has generated since it took the lock and not completed with, or 0.
  \* @type: Int;
  within,
  \* The files of the active timeline.
  \* @type: Set($entry);
  timeline,
  \* @type: Set($datafile);
  markers,
  \* The actions that the metadata table has; where there are none, no table may be kept.
  \* @type: Set(Int);
  metadata,
  \* The history by the bounds in the names of its files: those that no manifest names
  \* yet, those of the manifest that is not current yet, those that readers find.
  \* @type: { unnamed: Set($bounds), named: Set($bounds), current: Set($bounds) };
  history,
  \* The manifest that is not current yet, and the current one; 0 is none that is known.
  \* @type: { next: Int, current: Int };
  manifest,
  \* Before version 8: how many actions the archived log holds that are still active.
  \* @type: Int;
  logged,
  \* The processes that have picked a snapshot.
  \* @type: Set(Str);
  seen

vars == <<clock, lock, time, within, timeline, markers, metadata, history, manifest, logged, seen>>

Keeps(rule, condition) == rule \in Rules => condition

-----------------------------------------------------------------------------
\* TL-005, TL-010: a savepoint has the instant of what it saves and is an action of its own.
FilesOfAction(requested, saved) ==
  {file \in timeline: file.requested = requested /\ (file.action = "savepoint") = saved}

\* TL-004: the highest state that a file records.
\* @type: (Int, Bool) => Str;
StateOf(requested, saved) ==
  LET states == {file.state: file \in FilesOfAction(requested, saved)} IN
  IF "COMPLETED" \in states THEN "COMPLETED"
  ELSE IF "INFLIGHT" \in states THEN "INFLIGHT"
  ELSE IF "REQUESTED" \in states THEN "REQUESTED"
  ELSE "ABSENT"

IsPending(requested, saved) == StateOf(requested, saved) \in {"REQUESTED", "INFLIGHT"}

\* An action of a process: it has put one of its files.
IsOf(p, requested, saved) == \E file \in FilesOfAction(requested, saved): file.process = p

LastTime(p) == IF p \in DOMAIN time THEN time[p] ELSE 0

Given(p, instant) == [q \in DOMAIN time \union {p} |-> IF q = p THEN instant ELSE time[q]]

\* RB-004: a rollback or a restore that has not completed; any process that finds it may carry it out.
IsBeingUndone(actions) ==
  \E file \in timeline:
    /\ file.action \in actions
    /\ IsPending(file.requested, FALSE)

\* TL-003, RB-008: a plan that is started again. Before version 8 a clustering is requested as
\* replacecommit.
IsPlanned(requested) ==
  \E file \in FilesOfAction(requested, FALSE):
    file.action \in {"compaction", "logcompaction", "clustering", "replacecommit"}

IsWrite(requested) ==
  \E file \in FilesOfAction(requested, FALSE): CompletedType(file.action) \in Writes
==============================================================================
