----------------------------- MODULE SharedTable -----------------------------
(***************************************************************************)
(* A table with services: who shares it, the rules in force, and what      *)
(* counts of it. ServedTable says what each of them would do next.         *)
(*                                                                         *)
(* Clauses: CL-002, CL-005, CL-006, CN-001, CN-002, CN-005, CN-007,        *)
(* CN-008, CN-012, CP-001, CP-002, CP-003, CP-005, CP-010, CP-012, LC-001, *)
(* LC-003, LC-004, LK-001, LK-002, LK-004, OW-004, OW-005, OW-006, OW-011, *)
(* RD-001, RD-004, SR-005, SR-006.                                         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TimelineFiles, DataFiles, ServicePlans

(*
  A slice that a reader is to read: its group, and the instant of its base file.
  @typeAlias: slice = { day: Str, since: Int, base: Int };
*)
ServiceAliases == TRUE

CONSTANTS
  \* Each changes the row of key "a", or of key "b" where it is in WritersOfB.
  \* @type: Set(Str);
  Writers,
  \* @type: Set(Str);
  WritersOfB,
  \* Some of "compaction", "logcompaction", "clustering", "cleaning", "savepointer" and "restorer", a process each.
  \* @type: Set(Str);
  Services,
  \* @type: Set(Str);
  Readers,
  \* "COPY_ON_WRITE" or "MERGE_ON_READ".
  \* @type: Str;
  TableType,
  \* @type: Int;
  WritesBefore,
  \* What a cleaner keeps: the latest so many "commits", or so many file "versions".
  \* @type: Str;
  Policy,
  \* @type: Int;
  Retained,
  \* What a write does that would change a group of a pending clustering: "reject" or "allow".
  \* @type: Str;
  UpdatesStrategy,
  \* @type: Int;
  MaxCrashes,
  \* The rules in force. A must-fail configuration leaves one out.
  \* @type: Set(Str);
  Rules

AllRules == {
  "one process at a time",                       \* LK-001
  "the lock of a failed process is freed",       \* LK-002
  "services plan under the lock",                \* LK-004, CP-012
  "services finish under the lock",              \* LK-004, CP-012
  "a plan leaves out groups of other plans",     \* CP-003, CL-002
  "a plan names every file of its slices",       \* CP-005
  "a plan that waits is taken up",               \* CP-002, CN-012
  "a new attempt removes what the last left",    \* CP-010
  "a clustering replaces what it read",          \* CL-006
  "a clustering gives up where others wrote",    \* CL-005
  "a write gives way to what completed since",   \* OW-004, OW-005
  "a write gives way to plans made since",       \* OW-006
  "a write leaves groups of a clustering alone", \* OW-011
  "cleaning leaves what savepoints name",        \* CN-008
  "cleaning leaves what plans read",             \* CN-005
  "cleaning leaves the newest slice",            \* CN-001
  "cleaning leaves the last slice before",       \* CN-002
  "cleaning leaves replaced groups a while",     \* CN-007
  "a compacted log stands where its newest did", \* LC-003
  "a restore undoes pending actions",            \* SR-005
  "a restore undoes the youngest first",         \* SR-006
  "a restore unpublishes before it deletes",     \* SR-006
  "readers keep to their snapshot"               \* RD-001, RD-004
}

ASSUME Rules \subseteq AllRules
ASSUME WritersOfB \subseteq Writers
ASSUME Services \subseteq {"compaction", "logcompaction", "clustering", "cleaning", "savepointer", "restorer"}
ASSUME TableType \in {"COPY_ON_WRITE", "MERGE_ON_READ"}
ASSUME TableType = "COPY_ON_WRITE" => Services \intersect {"compaction", "logcompaction"} = {} \* CP-001, LC-001
\* A reader that had begun before a restore may miss files.
ASSUME "restorer" \in Services => Readers = {}
ASSUME Policy \in {"commits", "versions"} /\ UpdatesStrategy \in {"reject", "allow"}
ASSUME WritesBefore >= 1 /\ Retained >= 1

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
  \* The files that plans and savepoints on the timeline name.
  \* @type: Set($named);
  plans,
  \* How far each process has come: the last thing that it did.
  \* @type: Str -> Str;
  step,
  \* The instant of its write or of the plan that it carries out.
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

vars == <<clock, lock, crashes, timeline, files, markers, heartbeats, plans, step, instant, time, seen, left, rows>>

Processes == Writers \union Services \union Readers

\* Those that plan, and whose plan any attempt carries out.
Planners == Services \ {"savepointer"}

Keys == {"a", "b"}
DayOf(key) == IF key = "a" THEN "d1" ELSE "d2"
KeyOf(p) == IF p \in WritersOfB THEN "b" ELSE "a"
WriteAction == IF TableType = "COPY_ON_WRITE" THEN "commit" ELSE "deltacommit"
ServiceAction(p) == CASE p = "cleaning" -> "clean" [] p = "restorer" -> "restore" [] OTHER -> p

\* Files and groups are taken day by day, older ones first.
ComesBefore(day, since, otherDay, otherSince) ==
  (day = "d1" /\ otherDay = "d2") \/ (day = otherDay /\ since <= otherSince)

\* @type: Set($group) => $group;
FirstGroup(groups) ==
  CHOOSE one \in groups: \A other \in groups: ComesBefore(one.day, one.since, other.day, other.since)

\* The timeline as who knows these instants goes by it.
\* @type: Set(Int) => Set($file);
Known(instants) == {file \in timeline: file.requested \in instants}

\* LC-001: what a log compaction has made.
\* @type: $data => Bool;
IsCompacted(file) == file.kind = "log" /\ file.instant \in RequestsOf(timeline, {"logcompaction"})

\* LC-004: the logs that it stands for; earlier compacted ones are named by their own instant.
\* @type: Int => Set(Int);
NamedBy(requested) == {name.instant: name \in {one \in plans: one.requested = requested}}

\* @type: Int => Set(Int);
StoodFor(requested) ==
  LET earlier == NamedBy(requested) \intersect RequestsOf(timeline, {"logcompaction"}) IN
  (NamedBy(requested) \ earlier) \union UNION {NamedBy(one): one \in earlier}

\* LC-003: it is merged where the newest of them was.
\* @type: (Set($file), $data) => Int;
OrderOf(known, file) ==
  IF IsCompacted(file) /\ "a compacted log stands where its newest did" \in Rules
  THEN Greatest(StoodFor(file.instant))
  ELSE MergeOrder("released", known, file)

\* The rows of a slice; without the logs that a compacted one stands for (LC-001).
\* @type: (Set($file), Set($data)) => Set($row);
RowsOf(known, slice) ==
  LET merged == {file \in slice: \A one \in slice: IsCompacted(one) => NameOf(one.instant, file) \notin plans} IN
  Standing("COMMIT_TIME_ORDERING", UNION {
    {[row |-> row, order |-> OrderOf(known, file)]: row \in file.rows}: file \in merged})

\* The file groups that a snapshot reads. CL-006: without the rule those that a clustering read too.
\* @type: Set($file) => Set($group);
LiveGroupsOf(known) ==
  LiveGroups(known, IF "a clustering replaces what it read" \in Rules THEN plans ELSE {}, files)
==============================================================================
