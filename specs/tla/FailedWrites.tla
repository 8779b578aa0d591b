----------------------------- MODULE FailedWrites -----------------------------
(***************************************************************************)
(* What Recovery looks at: the timeline of a table whose writes may fail,  *)
(* what a write makes, whether it may go on, which writes have failed and  *)
(* what is to be removed of them.                                          *)
(*                                                                         *)
(* Clauses: RB-001, RB-002, RB-003, RB-004, RB-005, RB-006, RB-008, RB-009,*)
(* MK-003, MK-005, OW-003, OW-005, OW-008, TL-003, TL-017, TL-018, TL-023. *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TimelineFiles, DataFiles

(*
  A slice that a reader is to read: its group, and the instant of its base file.
  @typeAlias: slice = { day: Str, since: Int, base: Int };
*)
FailedWritesAliases == TRUE

CONSTANTS
  \* Each writes one row: key "a" of the day "d1", where it is not among the following.
  \* @type: Set(Str);
  Writers,
  \* Those that write key "b" of the day "d2".
  \* @type: Set(Str);
  WritersOfB,
  \* Those whose files no marker announces: storage is listed for them (RB-006).
  \* @type: Set(Str);
  Unmarked,
  \* Services that roll back one write each.
  \* @type: Set(Str);
  Rollbacks,
  \* Those whose timeout is too short: to them a live heartbeat has expired.
  \* @type: Set(Str);
  ShortTimeout,
  \* @type: Set(Str);
  Readers,
  \* Those that may be paused for longer than the lease of the lock that they hold (LK-002).
  \* @type: Set(Str);
  SlowHolders,
  \* How many writes of both keys the table has seen.
  \* @type: Int;
  WritesBefore,
  \* How many processes may crash.
  \* @type: Int;
  MaxCrashes,
  \* The rules in force. A must-fail configuration leaves one out.
  \* @type: Set(Str);
  Rules

AllRules == {
  "the lock of a failed process is freed",       \* LK-002
  "the lock is released",                        \* LK-001, LK-003, LK-004
  "a late holder requests nothing",              \* LK-002
  "a late holder completes nothing",             \* LK-002
  "the heartbeat of a failed write expires",     \* RB-002, MK-005
  "a marker precedes its file",                  \* MK-001
  "what is being rolled back does not complete", \* TL-023, OW-008
  "nor does what has been rolled back",          \* OW-008, TL-003
  "what has completed is not rolled back",       \* RB-005
  "a rollback that waits is taken up",           \* RB-003, RB-004
  "a write's own files only",                    \* RB-006
  "without markers all files of the write go",   \* RB-006
  "a rollback removes files",                    \* RB-009, MK-003
  "files go before the write's entries",         \* RB-009
  "the highest state goes first",                \* RB-009
  "entries go before the rollback completes",    \* RB-009, TL-017
  "a rollback looks under the lock"              \* LK-004, RB-004
}

ASSUME Rules \subseteq AllRules
ASSUME WritersOfB \union Unmarked \subseteq Writers /\ ShortTimeout \subseteq Rollbacks
ASSUME SlowHolders \subseteq Writers \union Rollbacks

VARIABLES
  \* The greatest time generated so far.
  \* @type: Int;
  clock,
  \* The process that holds the table's lock, or "nobody".
  \* @type: Str;
  lock,
  \* @type: Int;
  crashes,
  \* @type: Set($file);
  timeline,
  \* @type: Set($data);
  files,
  \* @type: Set($marker);
  markers,
  \* @type: Set($heartbeat);
  heartbeats,
  \* The files that the plans of rollbacks name.
  \* @type: Set($named);
  doomed,
  \* How far each process has come: the last thing that it did, or what it is about.
  \* @type: Str -> Str;
  step,
  \* The instant of its action.
  \* @type: Str -> Int;
  instant,
  \* The time that it has generated under the lock.
  \* @type: Str -> Int;
  time,
  \* The instants that had completed when a write began, or a reader picked its snapshot.
  \* @type: Str -> Set(Int);
  seen,
  \* The states of the write that it undoes, as it found them and has not deleted them yet.
  \* @type: Str -> Set(Str);
  found,
  \* What a reader has still to read, and what it has read.
  \* @type: Str -> Set($slice);
  left,
  \* @type: Str -> Set($row);
  rows

table == <<timeline, files, markers, heartbeats, doomed>>
vars == <<clock, lock, crashes, table, step, instant, time, seen, found, left, rows>>

Processes == Writers \union Rollbacks \union Readers

-----------------------------------------------------------------------------
\* The timeline.

Completed == CompletedInstants(timeline)

\* @type: Int => Set(Str);
StatesOf(action) == {file.state: file \in FilesOf(timeline, action)}

\* RB-009: of the states of a write the highest goes first.
\* @type: Set(Str) => Str;
FirstToGo(states) ==
  IF "the highest state goes first" \notin Rules /\ "REQUESTED" \in states THEN "REQUESTED"
  ELSE IF "COMPLETED" \in states THEN "COMPLETED"
  ELSE IF "INFLIGHT" \in states THEN "INFLIGHT"
  ELSE "REQUESTED"

RollbackFiles == {file \in timeline: file.action = "rollback"}

\* RB-003: what a rollback is of.
TargetOf(rollback) == Greatest({file.target: file \in FilesOf(timeline, rollback)})

PendingRollbacks == {file.requested: file \in RollbackFiles} \ Completed

BeingRolledBack == {TargetOf(rollback): rollback \in PendingRollbacks}

\* TL-018: what is not on the timeline counts where it is older than the first write there, unless
\* a rollback undid it (TL-017).
CountsUnknown(one) ==
  /\ FilesOf(timeline, one) = {}
  /\ \E write \in timeline: write.action \in Writes /\ write.requested > one
  /\ \A write \in timeline: write.action \in Writes => write.requested > one
  /\ \A file \in RollbackFiles: file.target = one => file.state # "COMPLETED"

\* What counts for who knows these instants, as the timeline has it.
\* @type: Set(Int) => Set($file);
Known(instants) == {file \in timeline: file.state = "COMPLETED" /\ file.requested \in instants}

\* @type: Set($file);
KnownByNow ==
  Known(Completed) \union
    {File(one, one, "commit", "COMPLETED", 0): one \in {one \in {file.instant: file \in files}: CountsUnknown(one)}}

-----------------------------------------------------------------------------
\* What is written.

KeyOf(p) == IF p \in WritersOfB THEN "b" ELSE "a"

DayOf(key) == IF key = "b" THEN "d2" ELSE "d1"

\* @type: (Str, Int, Int) => $row;
Row(key, by, ts) == [key |-> key, by |-> by, ts |-> ts]

\* @type: Str => $row;
RowOf(p) == Row(KeyOf(p), instant[p], 2)

\* @type: (Set($file), $group) => Set($row);
RowsOfGroup(known, group) == Merged("COMMIT_TIME_ORDERING", "text", known, SnapshotSlice(known, files, group))

\* OW-003: the group that holds the key in the snapshot that the write builds on, or a new one.
\* @type: Str => $group;
GroupOfWrite(p) ==
  LET holding == {group \in GroupsOf(files):
        group.day = DayOf(KeyOf(p)) /\ RowsOfGroup(Known(seen[p]), group) # {}}
  IN IF holding = {} THEN [day |-> DayOf(KeyOf(p)), since |-> instant[p]] ELSE CHOOSE group \in holding: TRUE

\* @type: Str => Set($row);
RowsOfBaseFile(p) ==
  {RowOf(p)} \union {row \in RowsOfGroup(Known(seen[p]), GroupOfWrite(p)): row.key # KeyOf(p)}

\* OW-005: a file group of the write was written by an action that completed since it began.
InConflict(p) ==
  \E file \in files: file.instant \in Completed \ seen[p] /\ GroupOf(file) = GroupOfWrite(p)

\* OW-008, TL-003: of a write that was rolled back the request goes last (RB-009), and with it the
\* write is over: it may still go inflight, which nobody looks at, and does not complete.
IsOver(p) ==
  /\ {"what is being rolled back does not complete", "nor does what has been rolled back"} \subseteq Rules
  /\ "REQUESTED" \notin StatesOf(instant[p])

\* TL-023: the action is inflight and no pending rollback is of it.
IsOwn(p) ==
  \/ "what is being rolled back does not complete" \notin Rules
  \/ StateIn(timeline, instant[p]) = "INFLIGHT" /\ instant[p] \notin BeingRolledBack /\ ~IsOver(p)

MayComplete(p) == IsOwn(p) /\ ~InConflict(p)

\* LK-002: another has taken the lock of a holder that was paused. A put that only one of two holders can make
\* shows it (SA-001).
IsLate(p) == p \in SlowHolders /\ lock # p

MayRequest(p) == "a late holder requests nothing" \in Rules => ~IsLate(p)

\* A holder may be paused between its look at the table and the put of its completed file. So one that
\* is slow looks before it generates its completion time, and does not look again.
MayPut(p) == IsLate(p) => "a late holder completes nothing" \notin Rules

-----------------------------------------------------------------------------
\* What is rolled back.

\* RB-002, MK-005: a write without a heartbeat, or with an expired one, has failed.
IsLive(write) == \E heartbeat \in heartbeats: heartbeat.instant = write /\ heartbeat.live

\* RB-001, RB-008: writes that wait and whose process has failed.
FailedWrites(p) ==
  {write \in {file.requested: file \in {one \in timeline: one.action \in Writes}}:
    /\ write \notin Completed \/ "what has completed is not rolled back" \notin Rules
    /\ ~IsLive(write) \/ p \in ShortTimeout}

\* RB-001, RB-004: the newest of them, unless a rollback of it waits already.
ToPlan(p) ==
  (IF FailedWrites(p) = {} THEN {} ELSE {Greatest(FailedWrites(p))})
  \ (IF "a rollback that waits is taken up" \in Rules THEN BeingRolledBack ELSE {})

\* RB-004: the plan that has waited longest is taken up before any other is made. With the rule
\* dropped a second rollback begins, and the first waits for ever.
ToTakeUp ==
  IF "a rollback that waits is taken up" \notin Rules THEN {}
  ELSE {one \in PendingRollbacks: \A other \in PendingRollbacks: one <= other}

\* RB-006, MK-003: of the files that bear the write's instant those that markers announce, all where
\* there are no markers.
\* @type: ($data, Int) => Bool;
IsToGo(file, write) ==
  LET announced == {marker.day: marker \in {one \in markers: one.instant = write}} IN
  /\ file.instant = write \/ "a write's own files only" \notin Rules
  /\ (announced = {} /\ "without markers all files of the write go" \in Rules) \/ file.day \in announced

\* @type: (Int, Int) => Set($named);
PlanOf(rollback, write) ==
  {[requested |-> rollback, day |-> file.day, since |-> file.since, instant |-> file.instant, kind |-> file.kind]:
   file \in {file \in files: IsToGo(file, write)}}

\* RB-009, MK-003: what is named is removed.
HasFilesToRemove(rollback) ==
  "a rollback removes files" \in Rules /\ \E named \in doomed: named.requested = rollback

FilesGoFirst == "files go before the write's entries" \in Rules

\* What is next of a plan, outside the lock: files, then the states that were found.
\* @type: Set(Str) => Str;
AfterFiles(states) == IF states = {} THEN "prepared" ELSE "taking back"
===============================================================================
