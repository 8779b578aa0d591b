------------------------------ MODULE DataFiles ------------------------------
(***************************************************************************)
(* The data files of a table, which of them a snapshot reads, and what it  *)
(* finds in them. Versions 8 and 9.                                        *)
(*                                                                         *)
(* Clauses: SL-003, RD-002, RD-004, RD-005, RD-007, MG-002, MG-003, MG-004.*)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TimelineFiles

(*
  A row: its key, the write it comes from, its ordering value.
  @typeAlias: row = { key: Str, by: Int, ts: Int };
  A file group is identified by its day and the instant that began it; a file by its group,
  the instant in its name and its kind, "base" or "log".
  @typeAlias: group = { day: Str, since: Int };
  @typeAlias: data = { day: Str, since: Int, instant: Int, kind: Str, rows: Set($row) };
  A file as plans name it.
  @typeAlias: named = { requested: Int, day: Str, since: Int, instant: Int, kind: Str };
  @typeAlias: marker = { instant: Int, day: Str };
  @typeAlias: heartbeat = { instant: Int, live: Bool };
*)
DataAliases == TRUE

\* @type: $data => $group;
GroupOf(file) == [day |-> file.day, since |-> file.since]

\* @type: Set($data) => Set($group);
GroupsOf(data) == {GroupOf(file): file \in data}

\* @type: (Set($data), $group) => Set($data);
FilesOfGroup(data, group) == {file \in data: GroupOf(file) = group}

\* The instants whose actions have completed.
\* @type: Set($file) => Set(Int);
CompletedInstants(timeline) == {file.requested: file \in {one \in timeline: one.state = "COMPLETED"}}

\* When an action completed.
\* @type: (Set($file), Int) => Int;
CompletionOf(timeline, instant) ==
  (CHOOSE file \in timeline: file.requested = instant /\ file.state = "COMPLETED" /\ file.action # "savepoint").completed

\* The greatest of some numbers, 0 of none.
\* @type: Set(Int) => Int;
Greatest(numbers) == IF numbers = {} THEN 0 ELSE CHOOSE one \in numbers: \A other \in numbers: other <= one

\* The instant of the newest base file of a group that counts: 0 where there is none.
\* @type: (Set($file), Set($data), $group) => Int;
NewestBase(timeline, data, group) ==
  LET done == CompletedInstants(timeline) IN
  Greatest({file.instant: file \in {one \in FilesOfGroup(data, group): one.kind = "base" /\ one.instant \in done}})

\* The slice that a snapshot reads of a group: its newest base file, and the logs that completed
\* after the instant of that file, of whatever instant they are.
\* @type: (Set($file), Set($data), $group) => Set($data);
SnapshotSlice(timeline, data, group) ==
  LET base == NewestBase(timeline, data, group)
      done == CompletedInstants(timeline)
  IN
  {file \in FilesOfGroup(data, group):
    \/ file.kind = "base" /\ file.instant = base
    \/ file.kind = "log" /\ file.instant \in done /\ CompletionOf(timeline, file.instant) > base}

\* Where a file stands in the order of merging: the base file first; then, as released, logs by the
\* instants in their names, in the text by the completion of their writes (RD-007).
\* @type: (Str, Set($file), $data) => Int;
MergeOrder(reading, timeline, file) ==
  IF file.kind = "base" THEN 0
  ELSE IF reading = "released" THEN file.instant
  ELSE CompletionOf(timeline, file.instant)

\* Whether one version of a row stands over another: by ordering value under event time, in
\* the order of merging where these are equal, and always under commit time.
\* @type: (Str, { row: $row, order: Int }, { row: $row, order: Int }) => Bool;
StandsOver(mode, one, other) ==
  \/ one = other
  \/ mode = "EVENT_TIME_ORDERING" /\ one.row.ts > other.row.ts
  \/ (mode = "COMMIT_TIME_ORDERING" \/ one.row.ts = other.row.ts) /\ one.order > other.order

\* Of each key the version that stands over all others.
\* @type: (Str, Set({ row: $row, order: Int })) => Set($row);
Standing(mode, versions) ==
  {one.row: one \in {version \in versions:
    \A other \in versions: other.row.key = version.row.key => StandsOver(mode, version, other)}}

\* The rows of a slice.
\* @type: (Str, Str, Set($file), Set($data)) => Set($row);
Merged(mode, reading, timeline, slice) ==
  Standing(mode, UNION {
    {[row |-> row, order |-> MergeOrder(reading, timeline, file)]: row \in file.rows}: file \in slice})

===============================================================================
