----------------------------- MODULE LsmHistory ------------------------------
(***************************************************************************)
(* A timeline with a history: who shares it, the rules in force, and the   *)
(* history as its files record it.                                         *)
(*                                                                         *)
(* Clauses: AR-001, AR-002, AR-003, AR-005, AR-006, AR-007, AR-009,        *)
(* AR-010, AR-011, AR-013, HS-002, HS-003, HS-004, HS-005, HS-006, HS-007, *)
(* HS-009, HS-011, LK-001, LK-002, SA-001.                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, DataFiles

(*
  HS-005: the name of a file of the history holds the least and the greatest requested
  time in it, and its level. HS-007: one row an action.
  @typeAlias: name = { level: Int, from: Int, upto: Int };
  @typeAlias: archived = { requested: Int, completed: Int, action: Str };
  @typeAlias: archive = { name: $name, rows: Set($archived) };
  @typeAlias: manifest = { version: Int, files: Set($name) };
  What an archiver has still to do: the actions whose markers go, the rows that enter the
  history, the actions whose files leave the timeline, the levels to merge, the manifests
  that end.
  @typeAlias: work = { unmark: Set(Int), entering: Set($archived), leaving: Set(Int), merges: Set(Int), ending: Set(Int) };
  @typeAlias: slice = { day: Str, since: Int, base: Int };
  A reader of the history: how far it is, the version it follows, the files it has not come
  to, the rows it has; what was archived when it began, and who has changed
  the history since.
  @typeAlias: follower = { step: Str, version: Int, left: Set($name), rows: Set($archived), wanted: Set(Int), since: Set(Str) };
*)
LsmAliases == TRUE

CONSTANTS
  \* @type: Set(Str);
  Writers,
  \* @type: Set(Str);
  Archivers,
  \* Readers of the table.
  \* @type: Set(Str);
  Readers,
  \* Readers of the history.
  \* @type: Set(Str);
  Followers,
  \* Who deletes files that no longer count.
  \* @type: Set(Str);
  Cleaners,
  \* Archivers that may be paused for longer than the lease of the lock that they hold (LK-002).
  \* @type: Set(Str);
  SlowHolders,
  \* What has happened before; see `Init`.
  \* @type: Str;
  Past,
  \* The rules in force. A must-fail configuration leaves one out.
  \* @type: Set(Str);
  Rules,
  \* AR-003: hoodie.keep.min.commits, hoodie.keep.max.commits, hoodie.clean.commits.retained.
  \* @type: Int;
  KeepLeast,
  \* @type: Int;
  KeepMost,
  \* @type: Int;
  CleanerRetains,
  \* HS-009: hoodie.timeline.compaction.batch.size.
  \* @type: Int;
  BatchSize,
  \* HS-011: the manifests that stay, three.
  \* @type: Int;
  ManifestsRetained,
  \* How many archivals a reader of the history outlives.
  \* @type: Int;
  Patience,
  \* @type: Int;
  MaxCrashes,
  \* Whether an archiver that crashed comes back.
  \* @type: Bool;
  Restarts

AllRules == {
  "only completed actions",               \* AR-001
  "what is archived is not written again",\* AR-002
  "an interrupted archival is finished",  \* AR-002
  "not past a pending write",             \* AR-005
  "not past a savepoint",                 \* AR-006
  "replaced files first",                 \* AR-007
  "side effects first",                   \* AR-009
  "an archiver deletes what is left of markers", \* AR-009
  "history first",                        \* AR-010
  "the manifest names the older files",   \* AR-010, HS-002
  "the version is swapped last",          \* AR-010, HS-004
  "the version is swapped at once",       \* AR-010, SA-001
  "completed files go last",              \* AR-011
  "what is archived is deleted",          \* AR-010, AR-011
  "one archiver at a time",               \* AR-013
  "the lock is released",                 \* AR-013, LK-001
  "a late holder archives no further",    \* LK-002, AR-013
  "every change is a new version",        \* HS-003
  "merging keeps every row",              \* HS-009
  "old versions stay",                    \* HS-011
  "a reader gives up on a file that is gone", \* HS-004
  "files go after their manifests"        \* HS-011
}

ASSUME Rules \subseteq AllRules /\ SlowHolders \subseteq Archivers

VARIABLES
  \* @type: Int;
  clock,
  \* @type: Str;
  lock,
  \* @type: Int;
  crashes,
  \* The files of the active timeline.
  \* @type: Set($file);
  timeline,
  \* The data files.
  \* @type: Set($data);
  files,
  \* @type: Set($marker);
  markers,
  \* The files of the history, the manifests, and the number in the version file: 0 without one.
  \* @type: Set($archive);
  history,
  \* @type: Set($manifest);
  manifests,
  \* @type: Int;
  version,
  \* How far each process has come; the write it works on; the time it holds.
  \* @type: Str -> Str;
  step,
  \* @type: Str -> Int;
  instant,
  \* @type: Str -> Int;
  time,
  \* What a write found completed, or a reader reads; what a reader has still to read; its rows.
  \* @type: Str -> Set(Int);
  seen,
  \* @type: Str -> Set($slice);
  left,
  \* @type: Str -> Set($row);
  rows,
  \* @type: Str -> $work;
  work,
  \* @type: Str -> $follower;
  followers

table == <<timeline, files, markers>>
tree == <<history, manifests, version>>
minds == <<instant, time, seen, left, rows>>
vars == <<clock, lock, crashes, table, tree, step, minds, work, followers>>

Processes == Writers \union Archivers \union Readers \union Cleaners

-----------------------------------------------------------------------------
\* Sets of numbers, taken by size.
\* @type: Set(Int) => Int;
Least(numbers) == IF numbers = {} THEN 0 ELSE CHOOSE one \in numbers: \A other \in numbers: one <= other

\* @type: (Set(Int), Int) => Set(Int);
Oldest(numbers, count) == {one \in numbers: Cardinality({other \in numbers: other < one}) < count}

\* @type: (Set(Int), Int) => Set(Int);
Newest(numbers, count) == {one \in numbers: Cardinality({other \in numbers: other > one}) < count}

\* @type: (Int, Int) => Int;
Larger(one, other) == IF one > other THEN one ELSE other

-----------------------------------------------------------------------------
(* The history. *)

\* HS-002: the version file names the manifest that counts; where there is none, the greatest number.
CurrentVersion == IF version = 0 THEN Greatest({one.version: one \in manifests}) ELSE version

\* HS-002, HS-003: no manifest yet means no history yet.
\* @type: Int => Set($name);
NamesIn(number) == UNION {one.files: one \in {each \in manifests: each.version = number}}

CurrentNames == NamesIn(CurrentVersion)

\* HS-002: a file that the current manifest does not name does not count.
CurrentFiles == {one \in history: one.name \in CurrentNames}

\* The actions in the history.
Archived == UNION {{row.requested: row \in one.rows}: one \in CurrentFiles}

\* HS-005, HS-006.
\* @type: (Int, Set($archived)) => $archive;
HistoryFile(level, held) ==
  LET times == {row.requested: row \in held}
  IN [name |-> [level |-> level, from |-> Least(times), upto |-> Greatest(times)], rows |-> held]

\* HS-009: the oldest files of a level, a batch of them.
\* @type: Int => Set($archive);
OldestOf(level) ==
  LET there == {one \in CurrentFiles: one.name.level = level}
  IN {one \in there: one.name.from \in Oldest({each.name.from: each \in there}, BatchSize)}

\* HS-009: the rows stay the same.
\* @type: Int => $archive;
MergedFile(level) ==
  LET held == UNION {one.rows: one \in OldestOf(level)}
      kept == IF "merging keeps every row" \in Rules THEN held
              ELSE {row \in held: row.requested # Least({each.requested: each \in held})}
  IN [HistoryFile(level + 1, held) EXCEPT !.rows = kept]
==============================================================================
