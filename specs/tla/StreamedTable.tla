---------------------------- MODULE StreamedTable ----------------------------
(***************************************************************************)
(* What writers, compactions and readers of NonBlockingWriters share, and  *)
(* what each of them finds there: rows and their file groups, slices as    *)
(* some timeline has them, plans and what is left of them to do.           *)
(*                                                                         *)
(* There is one bucket in each of two days; keys are "a" and "b".          *)
(*                                                                         *)
(* Clauses: OW-003, SW-002, SW-006, RD-004, RD-005, RD-007, RD-008, RD-017,*)
(* MG-002, MG-003, MG-004, CP-001, CP-002, CP-003, CP-004, CP-005, CP-007, *)
(* CP-008, CP-009, CP-010.                                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TimelineFiles, DataFiles

(*
  A slice that a reader has not come to yet: its group and the instant that began it.
  @typeAlias: slice = { day: Str, since: Int, base: Int };
*)
StreamedAliases == TRUE

CONSTANTS
  \* Each writes one row once: key "b" or else "a", with ordering value 3 or else 2.
  \* @type: Set(Str);
  Writers,
  \* @type: Set(Str);
  WritersOfB,
  \* @type: Set(Str);
  NewerWriters,
  \* @type: Set(Str);
  Compactions,
  \* @type: Set(Str);
  Readers,
  \* How versions of a row are merged: "EVENT_TIME_ORDERING" or "COMMIT_TIME_ORDERING".
  \* @type: Str;
  Mode,
  \* The reading of RD-007: logs are merged as they completed ("text"), or by the
  \* instants in their names ("released").
  \* @type: Str;
  LogOrder,
  \* How many writes of both rows have completed before.
  \* @type: Int;
  WritesBefore,
  \* How many processes may crash.
  \* @type: Int;
  MaxCrashes,
  \* The rules in force. A must-fail configuration leaves one out.
  \* @type: Set(Str);
  Rules

AllRules == {
  "one holder",                                \* LK-001
  "the lock of a failed process is free",      \* LK-002
  "every time is new",                         \* TM-003
  "completion time under the lock",            \* TL-013, LK-003
  "writers check nothing of each other",       \* SW-003
  "one file group for a bucket",               \* SW-002
  "logs belong to slices by their completion", \* RD-005, SW-006, CP-009
  "logs are merged as they completed",         \* RD-007, in the text
  "services plan under the lock",              \* LK-004, CP-012
  "plans leave out groups of pending plans",   \* CP-003
  "a compaction takes the files of its plan",  \* CP-004, CP-005
  "a plan that waits is taken up",             \* CP-002
  "a running attempt is left alone",           \* CP-010
  "a snapshot is fixed when it is picked"      \* RD-001, RD-004
}

ASSUME WritersOfB \subseteq Writers /\ NewerWriters \subseteq Writers
ASSUME Mode \in {"EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"}
ASSUME LogOrder \in {"text", "released"}
ASSUME Rules \subseteq AllRules

VARIABLES
  \* The last time that was generated.
  \* @type: Int;
  clock,
  \* The process that holds the table's lock, or "nobody".
  \* @type: Str;
  lock,
  \* @type: Int;
  crashes,
  \* The files of the timeline folder.
  \* @type: Set($file);
  timeline,
  \* The data files, their markers, and the heartbeats of the writes.
  \* @type: Set($data);
  files,
  \* @type: Set($marker);
  markers,
  \* @type: Set($heartbeat);
  heartbeats,
  \* What the plans on the timeline name.
  \* @type: Set($named);
  plans,
  \* What each process is at, the action it works on, and the time that it has generated.
  \* @type: Str -> Str;
  step,
  \* @type: Str -> Int;
  instant,
  \* @type: Str -> Int;
  time,
  \* The completed actions that a write builds on, or that a reader reads.
  \* @type: Str -> Set(Int);
  seen,
  \* What a reader has still to read, and the rows that it has read.
  \* @type: Str -> Set($slice);
  left,
  \* @type: Str -> Set($row);
  rows

vars == <<clock, lock, crashes, timeline, files, markers, heartbeats, plans, step, instant, time, seen, left, rows>>

Processes == Writers \union Compactions \union Readers

-----------------------------------------------------------------------------
\* Rows and their file groups.

KeyOf(w) == IF w \in WritersOfB THEN "b" ELSE "a"

DayOf(key) == IF key = "a" THEN "d1" ELSE "d2"

\* @type: (Str, Int, Int) => $row;
Row(key, by, ts) == [key |-> key, by |-> by, ts |-> ts]

RowOf(w) == Row(KeyOf(w), instant[w], IF w \in NewerWriters THEN 3 ELSE 2)

\* OW-003, SW-002: a write goes to the group that it finds. Where it finds none it opens one, and a
\* write that opens one at the same time opens the same, which no write has a name for: 0.
GroupFor(w) ==
  LET found == {file.since: file \in {one \in files: one.day = DayOf(KeyOf(w)) /\ one.instant \in seen[w]}} IN
  [day |-> DayOf(KeyOf(w)),
   since |-> IF found # {} \/ "one file group for a bucket" \in Rules THEN Greatest(found) ELSE instant[w]]

\* Of days, and of groups within a day, the first comes first.
\* @type: ($group, $group) => Bool;
ComesBefore(one, other) ==
  \/ one.day = "d1" /\ other.day = "d2"
  \/ one.day = other.day /\ one.since < other.since

\* @type: Set($group) => $group;
First(groups) == CHOOSE one \in groups: \A other \in groups \ {one}: ComesBefore(one, other)

-----------------------------------------------------------------------------
\* Slices of the table as some timeline has it: that of now, of a snapshot, of a plan.

\* @type: Set(Int) => Set($file);
TimelineOf(instants) == {file \in timeline: file.state = "COMPLETED" /\ file.requested \in instants}

\* CP-004, CP-005: what had completed before the plan's own instant.
\* @type: Int => Set($file);
TimelineBefore(upto) == {file \in timeline: file.state = "COMPLETED" /\ file.completed < upto}

\* RD-005, SW-006: a log belongs to the slice that was open when its write completed, whenever
\* that write began. RD-008: a compaction that has not completed parts no slices for a snapshot.
\* @type: (Set($file), $group) => Set($data);
SliceOf(known, group) ==
  IF "logs belong to slices by their completion" \in Rules
  THEN SnapshotSlice(known, files, group)
  ELSE LET base == NewestBase(known, files, group) IN
       {file \in FilesOfGroup(files, group):
         /\ file.instant \in CompletedInstants(known)
         /\ IF file.kind = "base" THEN file.instant = base ELSE file.instant > base}

\* @type: Set($data) => Set($data);
LogsOf(slice) == {file \in slice: file.kind = "log"}

\* The instant that began a slice: that of its base file, else of its first log (RD-005, RD-017).
\* @type: Set($data) => Int;
BaseInstant(slice) ==
  LET begun == {file.instant: file \in IF slice = LogsOf(slice) THEN slice ELSE slice \ LogsOf(slice)} IN
  CHOOSE one \in begun: \A other \in begun: one <= other

\* @type: Set($file) => Set($group);
ReadGroups(known) == {group \in GroupsOf(files): SliceOf(known, group) # {}}

\* RD-007: how logs are merged.
Reading == IF "logs are merged as they completed" \in Rules THEN LogOrder ELSE "released"

\* MG-002, MG-003, MG-004.
\* @type: (Set($file), Set($data)) => Set($row);
RowsOf(known, slice) == Merged(Mode, Reading, known, slice)

\* What the table answers.
Answer == UNION {RowsOf(timeline, SliceOf(timeline, group)): group \in GroupsOf(files)}

-----------------------------------------------------------------------------
\* The table as AtomicTable has it.

\* The rows of the completed writes, each with the time of its completion.
\* @type: Set($file) => Set({ row: $row, order: Int });
Written(known) ==
  {[row |-> Row(key, done, 1), order |-> CompletionOf(known, done)]:
    key \in {"a", "b"}, done \in {2 * n - 1: n \in 1..WritesBefore} \intersect CompletedInstants(known)}
  \union {[row |-> RowOf(w), order |-> CompletionOf(known, instant[w])]:
    w \in {one \in Writers: instant[one] \in CompletedInstants(known)}}

\* @type: Set({ row: $row, order: Int }) => Set({ at: Int, rows: Set($row) });
CommitsOf(written) ==
  {[at |-> order, rows |-> {one.row: one \in {two \in written: two.order = order}}]:
    order \in {one.order: one \in written}}

Atomic == INSTANCE AtomicTable WITH
  commits <- CommitsOf(Written(timeline)),
  content <- Answer,
  snapshot <- [r \in Readers |-> CommitsOf(IF step[r] = "idle" THEN {} ELSE Written(TimelineOf(seen[r])))],
  answer <- [r \in Readers |-> IF step[r] = "done" THEN rows[r] ELSE {}]

-----------------------------------------------------------------------------
\* Plans.

\* @type: Int => $file;
Requested(of) == File(of, 0, "compaction", "REQUESTED", 0)

PendingCompactions ==
  {file.requested: file \in {one \in timeline: one.action = "compaction"}} \ CompletedInstants(timeline)

\* @type: $named => $group;
NamedGroup(name) == [day |-> name.day, since |-> name.since]

\* @type: Int => Set($group);
PlannedGroups(plan) == {NamedGroup(name): name \in {one \in plans: one.requested = plan}}

\* The files that a plan names.
\* @type: Int => Set($data);
PlannedFiles(plan) ==
  {file \in files: \E name \in plans:
    /\ name.requested = plan
    /\ name.instant = file.instant /\ name.kind = file.kind /\ NamedGroup(name) = GroupOf(file)}

\* CP-001, CP-003: the groups whose slice has logs and that no pending plan holds.
\* @type: Set($file) => Set($group);
FreeGroups(known) ==
  {group \in GroupsOf(files):
    /\ LogsOf(SliceOf(known, group)) # {}
    /\ \/ "plans leave out groups of pending plans" \notin Rules
       \/ \A plan \in PendingCompactions: group \notin PlannedGroups(plan)}

\* CP-008: one deltacommit that has completed since the last compaction was requested is enough.
\* @type: Set($file) => Bool;
EnoughToCompact(known) ==
  LET completed == {file \in known: file.state = "COMPLETED"}
      last == Greatest({file.requested: file \in {one \in completed: one.action = "commit"}}) IN
  \E file \in completed: file.action = "deltacommit" /\ file.completed > last

\* @type: Set($file) => Bool;
WorthAPlan(known) == EnoughToCompact(known) /\ FreeGroups(known) # {}

\* CP-005: what a plan names.
\* @type: (Int, Set($file)) => Set($named);
PlanOf(plan, known) ==
  {[requested |-> plan, day |-> file.day, since |-> file.since, instant |-> file.instant, kind |-> file.kind]:
    file \in UNION {SliceOf(known, group): group \in FreeGroups(known)}}

\* CP-002, CP-010: plans that anybody may take up, since nobody is at work on them.
WaitingPlans ==
  {plan \in PendingCompactions:
    /\ "a plan that waits is taken up" \in Rules
    /\ "a running attempt is left alone" \in Rules => \A p \in Compactions: instant[p] # plan}

\* The group that a process compacts next: the first of its plan that has no base file yet.
LeftToCompact(p) ==
  {group \in PlannedGroups(instant[p]):
    \A file \in FilesOfGroup(files, group): ~(file.kind = "base" /\ file.instant = instant[p])}

\* CP-004, CP-005: what it takes of the group.
\* @type: (Str, $group) => Set($data);
TakenBy(p, group) ==
  IF "a compaction takes the files of its plan" \in Rules
  THEN FilesOfGroup(PlannedFiles(instant[p]), group)
  ELSE FilesOfGroup(files, group)

\* CP-004, CP-007: the rows of a base file are those that a snapshot reads, as they are. The
\* order of a log whose write has not completed is not known: it is taken for the newest.
\* @type: Set($data) => Set($row);
CompactedRows(taken) ==
  LET known == timeline \union {File(file.instant, clock + 1, "deltacommit", "COMPLETED", 0):
                                 file \in {one \in taken: one.instant \notin CompletedInstants(timeline)}} IN
  RowsOf(known, taken)

=============================================================================
