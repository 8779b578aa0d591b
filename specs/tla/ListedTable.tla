----------------------------- MODULE ListedTable -----------------------------
(***************************************************************************)
(* A table that a metadata table lists and indexes, and the processes that *)
(* share it: the state of both, and what a reader takes from the metadata  *)
(* table. MetadataTable has what the processes do.                         *)
(*                                                                         *)
(* Files are identified by their names: a name never comes back, so a file *)
(* is listed once and taken off once.                                      *)
(*                                                                         *)
(* Clauses: MT-003, MT-004, MT-005, MT-006, MT-007, MT-008, MT-009,        *)
(* MT-010, IG-001, IG-002, IG-003, IG-004, IG-005, RB-001, RB-002, RB-003, *)
(* RB-004, RB-011, LK-002, LK-003, CP-002.                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TimelineFiles, DataFiles

(*
  A data file by its name.
  @typeAlias: listed = { day: Str, since: Int, instant: Int, kind: Str };
  What an action committed to the metadata table, or an index: the files that are there from then on
  and those that are gone. Instant 0 is before all actions: what an index was built with.
  @typeAlias: entry = { instant: Int, added: Set($listed), removed: Set($listed) };
  The last write that an indexing holds: as planned, and as completed.
  @typeAlias: cover = { requested: Int, state: Str, upto: Int };
*)
MetadataAliases == TRUE

CONSTANTS
  \* Each writes one row: "two" one of the day "d2", any other one of "d1".
  \* @type: Set(Str);
  Writers,
  \* One at most of each kind: it plans and carries out one indexing, or one rollback.
  \* @type: Set(Str);
  Indexers,
  \* @type: Set(Str);
  Rollbacks,
  \* How many times processes may crash.
  \* @type: Int;
  MaxCrashes,
  \* The rules in force. A must-fail configuration leaves one out.
  \* @type: Set(Str);
  Rules

AllRules == {
  "every action updates the metadata table",        \* MT-003
  "the metadata table first",                       \* MT-004
  "writers finish under the lock",                  \* LK-003, MT-004
  "what has not completed does not count",          \* MT-006
  "a commit rolls back what has not completed",     \* MT-006
  "the metadata table forgets before the timeline", \* RB-011
  "a plan ends before a gap",                       \* IG-002
  "the partition is announced to writers",          \* IG-003
  "an index takes in what came after its plan",     \* IG-004, MT-009
  "an index is used once it is whole",              \* IG-005, MT-007
  "the lock of a failed process is freed",          \* LK-002
  "failed writes are rolled back",                  \* RB-001, RB-002
  "pending plans are taken up"                      \* CP-002
}

ASSUME Rules \subseteq AllRules
ASSUME Cardinality(Indexers) <= 1 /\ Cardinality(Rollbacks) <= 1

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
  \* The data files in storage.
  \* @type: Set($listed);
  stored,
  \* @type: Set($marker);
  markers,
  \* @type: Set($heartbeat);
  heartbeats,
  \* What the actions committed to the metadata table: its list of files.
  \* @type: Set($entry);
  metadata,
  \* The partition of column statistics, by the files whose statistics it holds; nothing at
  \* all before it is built.
  \* @type: Set($entry);
  indexed,
  \* What the table's properties name: the partitions that are being built, and those that
  \* readers may use.
  \* @type: Set(Str);
  building,
  \* @type: Set(Str);
  built,
  \* @type: Set($cover);
  covered,
  \* How far each process has come: the last thing that it did.
  \* @type: Str -> Str;
  step,
  \* The action that it works on.
  \* @type: Str -> Int;
  instant,
  \* The timeline files that a rollback found of its write and has not deleted yet.
  \* @type: Str -> Set(Str);
  found

\* What is on the table's storage, and what a process knows.
inTable == <<timeline, stored, markers, heartbeats>>
ofIndexes == <<indexed, building, built, covered>>
vars == <<clock, lock, crashes, inTable, metadata, ofIndexes, step, instant, found>>

Processes == Writers \union Indexers \union Rollbacks

Index == "column_stats"

-----------------------------------------------------------------------------
\* What has completed, what is there, what is listed.

Completed == CompletedInstants(timeline)

InstantsOf(action) == {file.requested: file \in {one \in timeline: one.action = action}}

PendingOf(action) == InstantsOf(action) \ Completed

\* MT-010: the files of these actions that storage holds.
\* @type: Set(Int) => Set($listed);
FilesBy(instants) == {file \in stored: file.instant \in instants}

\* MT-006: what a reader, or a writer that goes on from it, takes from the metadata table.
\* @type: Set($entry) => Set($entry);
Counting(entries) ==
  {entry \in entries:
    \/ entry.instant \in Completed \union {0}
    \/ "what has not completed does not count" \notin Rules}

\* MT-006: what stays there when another action commits.
\* @type: Set($entry) => Set($entry);
KeptOf(entries) == IF "a commit rolls back what has not completed" \in Rules THEN Counting(entries) ELSE entries

\* MT-008: what entries say together. A name that is marked as gone stays gone.
\* @type: Set($entry) => Set($listed);
FilesOfEntries(entries) == UNION {entry.added: entry \in entries} \ UNION {entry.removed: entry \in entries}

Listed == FilesOfEntries(Counting(metadata))

HeldByIndex == FilesOfEntries(Counting(indexed))

\* MT-003, MT-005: what an action has to record, so that with what counts it says what is there.
\* @type: (Int, Set($entry)) => $entry;
EntryOf(action, entries) ==
  LET known == FilesOfEntries(Counting(entries))
      there == FilesBy(Completed \union {action})
  IN [instant |-> action, added |-> there \ known, removed |-> known \ there]

\* @type: $entry => Bool;
SaysNothing(entry) == entry.added = {} /\ entry.removed = {}

\* IG-003: whether writers log to the index: it is there to log to, and the properties name it.
LogsToIndex == indexed # {} /\ Index \in building \union built

\* IG-002: the last completed write before which none is pending.
LastWithoutGap ==
  Greatest({write \in InstantsOf("commit") \intersect Completed:
    \/ \A other \in PendingOf("commit"): write < other
    \/ "a plan ends before a gap" \notin Rules})

\* The write up to which an indexing is planned.
PlannedUpTo(indexing) ==
  (CHOOSE cover \in covered: cover.requested = indexing /\ cover.state = "REQUESTED").upto

\* RB-001, RB-002: pending writes without a live heartbeat.
FailedWrites ==
  {write \in PendingOf("commit"):
    /\ \A heartbeat \in heartbeats: heartbeat.instant = write => ~heartbeat.live
    /\ "failed writes are rolled back" \in Rules}

\* RB-003: the write that a rollback names.
TargetOf(rollback) == (CHOOSE file \in FilesOf(timeline, rollback): TRUE).target

StatesOf(write) == {file.state: file \in FilesOf(timeline, write)}

\* RB-011: whether a write has committed to the metadata table.
IsRecorded(write) ==
  /\ \E entry \in metadata: entry.instant = write
  /\ "the metadata table forgets before the timeline" \in Rules

-----------------------------------------------------------------------------
\* Who does what next.

DayOf(p) == IF p = "two" THEN "d2" ELSE "d1"

ActionOf(p) == IF p \in Writers THEN "commit" ELSE IF p \in Indexers THEN "indexing" ELSE "rollback"

\* IG-001, RB-004: a service plans what nobody has planned: an index that is neither built nor
\* being built, the rollback of a failed write.
HasToPlan(p) ==
  /\ p \notin Writers /\ PendingOf(ActionOf(p)) = {}
  /\ IF p \in Indexers THEN Index \notin building \union built ELSE FailedWrites # {}

\* CP-002: the plan that waits to be carried out: the process's own or that of a failed one.
Waiting(p) ==
  IF p \notin Writers /\ step[p] = "idle" /\ "pending plans are taken up" \in Rules
  THEN PendingOf(ActionOf(p)) ELSE {}

GoTo(p, next) == step' = [step EXCEPT ![p] = next]

\* Before the completed file comes the metadata table, unless the rule for it is dropped.
WritesMetadataFirst == {"every action updates the metadata table", "the metadata table first"} \subseteq Rules

\* All that an action does before it updates the metadata table is done.
HasUndone(p) == p \in Rollbacks => StatesOf(TargetOf(instant[p])) = {}
===============================================================================
