----------------------------- MODULE WrittenTable -----------------------------
(***************************************************************************)
(* A table that writers and readers share: who writes which row, the table *)
(* before them, what they know of it, and what a write puts into its file. *)
(*                                                                         *)
(* Clauses: OW-002, OW-003, OW-004, OW-005, OW-012, OW-015, OW-016, RD-002.*)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TimelineFiles, DataFiles

(*
  A slice that a reader is to read: its group, and the instant of its base file.
  @typeAlias: slice = { day: Str, since: Int, base: Int };
*)
WriterAliases == TRUE

CONSTANTS
  \* Each writes one row: key "a" of the day "d1", where it is not among the following.
  \* @type: Set(Str);
  Writers,
  \* Those that write key "b" of the day "d2".
  \* @type: Set(Str);
  WritersOfB,
  \* Those that write key "c" of the day "d1".
  \* @type: Set(Str);
  WritersOfC,
  \* Those whose row has a lower ordering value than what the table holds.
  \* @type: Set(Str);
  StaleWriters,
  \* @type: Set(Str);
  Readers,
  \* The keys that the table holds, each day's in one file group; how many writes it has seen.
  \* @type: Set(Str);
  Held,
  \* @type: Int;
  WritesBefore,
  \* "COPY_ON_WRITE" or "MERGE_ON_READ"; "COMMIT_TIME_ORDERING" or "EVENT_TIME_ORDERING".
  \* @type: Str;
  TableType,
  \* @type: Str;
  MergeMode,
  \* How many writers may crash.
  \* @type: Int;
  MaxCrashes,
  \* Those that may be paused while they hold the lock, for longer than its lease.
  \* @type: Set(Str);
  SlowHolders,
  \* The rules in force. A must-fail configuration leaves one out.
  \* @type: Set(Str);
  Rules

AllRules == {
  "one process at a time",                   \* LK-001, TM-005
  "the lock of a failed process is freed",   \* LK-002
  "the lock is released",                    \* LK-001, LK-003
  "a late holder requests nothing",          \* LK-002
  "a late holder completes nothing",         \* LK-002
  "writers finish under the lock",           \* LK-003
  "conflicts are looked for under the lock", \* OW-004, LK-003
  "completion time under the lock",          \* LK-003, TL-013
  "time is never repeated",                  \* TM-003, TL-012
  "no state is skipped",                     \* TL-003
  "a marker precedes its file",              \* MK-001
  "files come before completion",            \* OW-001
  "writers build on what has completed",     \* OW-002, OW-003
  "old rows are carried over",               \* OW-015
  "completion decides what is concurrent",   \* OW-002, OW-004
  "file groups are compared",                \* OW-005
  "what is refused is taken back",           \* OW-009
  "a refused write is withdrawn to its end", \* OW-009
  "markers name what to remove",             \* MK-003
  "readers keep to their snapshot",          \* RD-001, RD-004
  "uncommitted files do not count"           \* RD-002
}

ASSUME Rules \subseteq AllRules
ASSUME WritersOfB \union WritersOfC \union StaleWriters \union SlowHolders \subseteq Writers
ASSUME Held \subseteq {"a", "b", "c"} /\ WritesBefore >= 1
ASSUME TableType \in {"COPY_ON_WRITE", "MERGE_ON_READ"}
ASSUME MergeMode \in {"COMMIT_TIME_ORDERING", "EVENT_TIME_ORDERING"}

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
  \* How far each process has come: the last thing that it did.
  \* @type: Str -> Str;
  step,
  \* The instant of its write.
  \* @type: Str -> Int;
  instant,
  \* The time that it has generated under the lock.
  \* @type: Str -> Int;
  time,
  \* The instants that had completed when a write began, or a reader picked its snapshot.
  \* @type: Str -> Set(Int);
  seen,
  \* What a reader has still to read, and what it has read.
  \* @type: Str -> Set($slice);
  left,
  \* @type: Str -> Set($row);
  rows

vars == <<clock, lock, crashes, timeline, files, markers, heartbeats, step, instant, time, seen, left, rows>>

Processes == Writers \union Readers

-----------------------------------------------------------------------------
\* What is written.

DayOf(key) == IF key = "b" THEN "d2" ELSE "d1"

KeyOf(p) == IF p \in WritersOfB THEN "b" ELSE IF p \in WritersOfC THEN "c" ELSE "a"

\* @type: (Str, Int, Int) => $row;
Row(key, by, ts) == [key |-> key, by |-> by, ts |-> ts]

RowOf(p) == Row(KeyOf(p), instant[p], IF p \in StaleWriters THEN 0 ELSE 2)

WriteAction == IF TableType = "COPY_ON_WRITE" THEN "commit" ELSE "deltacommit"

Completed == CompletedInstants(timeline)

\* The timeline as who knows these instants goes by it. Without the rule all files of storage
\* that the timeline knows of are taken for committed.
\* @type: (Set(Int), Str) => Set($file);
TimelineUpTo(instants, rule) ==
  IF rule \in Rules
  THEN {file \in timeline: file.state = "COMPLETED" /\ file.requested \in instants}
  ELSE {[file EXCEPT !.state = "COMPLETED", !.completed = file.requested]: file \in timeline}

\* @type: (Set($file), $group) => Set($row);
RowsOfGroup(known, group) == Merged(MergeMode, "released", known, SnapshotSlice(known, files, group))

\* OW-003, OW-012: the file group that holds the key in the snapshot that the write builds on, or
\* one that the write opens.
\* @type: Str => $group;
GroupOfWrite(p) ==
  LET known == TimelineUpTo(seen[p], "writers build on what has completed")
      holding == {group \in GroupsOf(files):
        group.day = DayOf(KeyOf(p)) /\ \E row \in RowsOfGroup(known, group): row.key = KeyOf(p)}
  IN IF holding = {} THEN [day |-> DayOf(KeyOf(p)), since |-> instant[p]] ELSE CHOOSE group \in holding: TRUE

\* OW-015: the rows that the group held, merged with the write's own.
\* @type: Str => Set($row);
RowsOfBaseFile(p) ==
  LET known == TimelineUpTo(seen[p], "writers build on what has completed")
      old == IF "old rows are carried over" \in Rules THEN RowsOfGroup(known, GroupOfWrite(p)) ELSE {}
  IN Standing(MergeMode, {[row |-> row, order |-> 0]: row \in old} \union {[row |-> RowOf(p), order |-> 1]})

\* OW-015, OW-016: new keys open a group with a base file in either type of table.
WritesLog(p) == TableType = "MERGE_ON_READ" /\ GroupOfWrite(p) \in GroupsOf(files)

\* OW-004: what has completed since the write began, whenever it was requested.
ConcurrentSet(p) ==
  IF "completion decides what is concurrent" \in Rules
  THEN Completed \ seen[p]
  ELSE {other \in Completed: other > instant[p]}

\* OW-005: a file group that was written meanwhile is one of the write's own.
InConflict(p) ==
  /\ "file groups are compared" \in Rules
  /\ \E file \in files: file.instant \in ConcurrentSet(p) /\ GroupOf(file) = GroupOfWrite(p)

MayComplete(p) == "conflicts are looked for under the lock" \in Rules => ~InConflict(p)

\* LK-002: another has taken the lock of a holder that was paused. No look shows that in time; what does is
\* the put of a number, only if it is absent, by which holders claim what they request and complete.
IsLate(p) == p \in SlowHolders /\ lock # p

\* A request under an instant that is older than what it builds on would be hidden by that.
MayRequest(p) == "a late holder requests nothing" \in Rules => ~IsLate(p)

\* A holder may be paused between its look at the table and the put of its completed file. Where that put is
\* fenced, it fails, whatever was seen. Where it is not, the look before the completion time was the last one.
IsUnfenced(p) == p \in SlowHolders /\ "a late holder completes nothing" \notin Rules

LooksFirst(p) == IsUnfenced(p) => MayComplete(p)

MayPut(p) == IsUnfenced(p) \/ (~IsLate(p) /\ MayComplete(p))

-----------------------------------------------------------------------------
\* What is read.

\* The group that a slice is of.
\* @type: $slice => $group;
GroupToRead(slice) == [day |-> slice.day, since |-> slice.since]

\* RD-004: the slices to read, one of each group in which something has completed.
\* @type: (Set($file), Set($group)) => Set($slice);
SlicesOf(known, groups) ==
  {[day |-> group.day, since |-> group.since, base |-> NewestBase(known, files, group)]:
   group \in {one \in groups: SnapshotSlice(known, files, one) # {}}}

-----------------------------------------------------------------------------
\* The table after some writes of all keys that it holds.
FirstTimes == {2 * number - 1: number \in 1..WritesBefore}

FirstTimeline ==
  UNION {{
    File(one, 0, WriteAction, "REQUESTED", 0),
    File(one, 0, WriteAction, "INFLIGHT", 0),
    File(one, one + 1, WriteAction, "COMPLETED", 0)}: one \in FirstTimes}

FirstFiles ==
  {[day |-> day, since |-> 1, instant |-> one,
    kind |-> IF TableType = "COPY_ON_WRITE" \/ one = 1 THEN "base" ELSE "log",
    rows |-> {Row(key, one, 1): key \in {held \in Held: DayOf(held) = day}}]:
   one \in FirstTimes, day \in {DayOf(key): key \in Held}}

\* What some writes put into the table, each row with the time of its completion.
\* @type: Set(Int) => Set({ row: $row, order: Int });
Written(instants) ==
  {[row |-> Row(key, one, 1), order |-> one + 1]: key \in Held, one \in FirstTimes}
  \union {[row |-> RowOf(p), order |-> CompletionOf(timeline, instant[p])]:
            p \in {one \in Writers: instant[one] \in instants}}

\* One after the other as they completed: of each key the row that stands over the others.
\* @type: Set(Int) => Set($row);
Serial(instants) == Standing(MergeMode, Written(instants))

\* @type: Set($row);
RowsOfTable == UNION {RowsOfGroup(timeline, group): group \in GroupsOf(files)}

\* The table as AtomicTable has it.
\* @type: Set({ row: $row, order: Int }) => Set({ at: Int, rows: Set($row) });
CommitsOf(written) ==
  {[at |-> order, rows |-> {one.row: one \in {two \in written: two.order = order}}]:
    order \in {one.order: one \in written}}

Atomic == INSTANCE AtomicTable WITH
  Mode <- MergeMode,
  commits <- CommitsOf(Written(Completed)),
  content <- RowsOfTable,
  snapshot <- [r \in Readers |-> CommitsOf(IF step[r] = "idle" THEN {} ELSE Written(seen[r]))],
  answer <- [r \in Readers |-> IF step[r] = "done" THEN rows[r] ELSE {}]

Init ==
  /\ clock = 2 * WritesBefore
  /\ lock = "nobody"
  /\ crashes = 0
  /\ timeline = FirstTimeline
  /\ files = FirstFiles
  /\ markers = {}
  /\ heartbeats = {}
  /\ step = [p \in Processes |-> "idle"]
  /\ instant = [p \in Processes |-> 0]
  /\ time = [p \in Processes |-> 0]
  /\ seen = [p \in Processes |-> {}]
  /\ left = [p \in Processes |-> {}]
  /\ rows = [p \in Processes |-> {}]

===============================================================================
