---------------------------- MODULE LsmArchiving ----------------------------
(***************************************************************************)
(* What an archiver finds and decides: the history as its files record it, *)
(* the active timeline as a reader takes it, which actions leave, which    *)
(* levels are merged, which old versions end.                              *)
(*                                                                         *)
(* Clauses: AR-001, AR-002, AR-003, AR-004, AR-005, AR-006, AR-007,        *)
(* AR-009, AR-010, AR-011, HS-002, HS-003, HS-005, HS-006, HS-007, HS-009, *)
(* HS-011, CN-002, TL-018.                                                 *)
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

-----------------------------------------------------------------------------
(* The active timeline, and what a reader makes of it. *)

PendingPlans == {"compaction", "logcompaction", "clustering"}

\* The files of an action; a savepoint bears the instant of the write that it keeps.
\* @type: Int => Set($file);
FilesOfAction(one) == {file \in FilesOf(timeline, one): file.action # "savepoint"}

Actions == {file.requested: file \in {one \in timeline: one.action # "savepoint"}}

CompletedWrites ==
  {file.requested: file \in {one \in timeline: one.state = "COMPLETED" /\ one.action \in Writes}}

PendingWrites ==
  {file.requested: file \in {one \in timeline: one.action \in Writes \union PendingPlans}} \ CompletedWrites

Saved == {file.requested: file \in {one \in timeline: one.action = "savepoint"}}

\* What was rolled back, as far as the timeline shows.
Undone == {file.target: file \in {one \in timeline: one.action = "rollback" /\ one.state = "COMPLETED"}}

\* TL-018: the first write; those that a savepoint keeps are not taken for it.
FirstWrite ==
  LET unsaved == (CompletedWrites \union PendingWrites) \ Saved
  IN IF unsaved # {} THEN Least(unsaved) ELSE Greatest(CompletedWrites)

\* The clustering of the past takes all groups there are, and begins others.
Clustering == IF Past = "a clustering" THEN 3 ELSE 0

\* @type: $data => Bool;
WasReplaced(file) == file.since < Clustering

\* TL-018: a file of a write counts that has completed, or is older than the timeline and was not
\* undone. Groups that the timeline calls replaced are not read.
\* @type: Set($data);
ReadableFiles ==
  LET completed == CompletedWrites
      pending == PendingWrites
      first == FirstWrite
      undone == Undone
  IN {file \in files:
        /\ \/ file.instant \in completed
           \/ file.instant < first /\ file.instant \notin pending \union undone
        /\ ~(WasReplaced(file) /\ Clustering \in completed)}

\* The newest base file of each group.
\* @type: Set($slice);
Slices ==
  LET readable == ReadableFiles
      newest(group) == Greatest({file.instant: file \in FilesOfGroup(readable, group)})
  IN {[day |-> group.day, since |-> group.since, base |-> newest(group)]: group \in GroupsOf(readable)}

-----------------------------------------------------------------------------
(* What archival takes. *)

\* AR-003: what the cleaner retains (CN-002), and one write before it.
NeededByCleaner ==
  LET retained == Least(Newest(CompletedWrites, CleanerRetains))
      earliest == Greatest({one \in CompletedWrites:
                    one <= retained /\ \A pending \in PendingWrites: one < pending})
  IN IF Cardinality(CompletedWrites) <= CleanerRetains \/ earliest = 0 THEN 0
     ELSE Cardinality({one \in CompletedWrites: one >= earliest}) + 1

\* AR-005: the last completed write before the first pending one stays, and all that follows.
BoundByPending ==
  LET first == Least(PendingWrites)
      before == {one \in CompletedWrites: one < first}
  IN IF PendingWrites = {} \/ "not past a pending write" \notin Rules THEN {}
     ELSE {IF before = {} THEN first ELSE Greatest(before)}

\* AR-006: what a savepoint keeps stays, and all that follows.
BoundBySavepoints == IF "not past a savepoint" \in Rules THEN Saved ELSE {}

\* AR-007: a replacecommit stays while there is a file of a group that it replaced.
BoundByReplaced ==
  IF "replaced files first" \in Rules /\ \E file \in files: WasReplaced(file)
  THEN {Clustering} \intersect CompletedWrites ELSE {}

\* AR-009: a rollback stays while there is a file of what it undid.
\* @type: $file => Bool;
IsFinished(one) ==
  /\ one.action \in {"clean", "rollback"}
  /\ "only completed actions" \in Rules => one.state = "COMPLETED"
  /\ "side effects first" \in Rules => \A file \in files: file.instant # one.target

\* AR-003, AR-004: the oldest completed writes, so that enough stay; with them cleans and rollbacks.
ToArchive ==
  LET least == Larger(KeepLeast, NeededByCleaner)
      most == KeepMost + least - KeepLeast
      bounds == BoundByPending \union BoundBySavepoints \union BoundByReplaced
      old == {one \in CompletedWrites: \A bound \in bounds: one < bound}
      writes == Oldest(old, Cardinality(CompletedWrites) - least)
      others == {file.requested: file \in {one \in timeline: IsFinished(one) /\ one.requested < Greatest(writes)}}
  IN IF Cardinality(CompletedWrites) <= most THEN {} ELSE writes \union others

\* AR-002: what the history holds already leaves, and is not written again.
KnownToArchiver == IF "what is archived is not written again" \in Rules THEN Archived ELSE {}

LeftOvers == IF "an interrupted archival is finished" \in Rules THEN KnownToArchiver \intersect Actions ELSE {}

\* HS-007: the row of an action, as its last file records.
\* @type: Int => $archived;
RowOf(one) ==
  LET own == FilesOfAction(one)
      last == CHOOSE file \in own: file.state = StateIn(own, one)
  IN [requested |-> one, completed |-> last.completed, action |-> last.action]

\* HS-009: the levels that become full one after the other.
\* @type: Bool => Set(Int);
MergesAfter(isMore) ==
  LET before == IF "the manifest names the older files" \in Rules THEN CurrentNames ELSE {}
      grown(level) == Cardinality({name \in before: name.level = level}) + (IF level > 0 \/ isMore THEN 1 ELSE 0)
  IN {level \in 0..3: \A below \in {one \in 0..3: one <= level}: grown(below) >= BatchSize}

\* HS-011: the manifests but the newest three, and one more for each level merged.
\* @type: (Int, Int) => Set(Int);
EndingAfter(changes, merged) ==
  LET there == {one.version: one \in manifests} \union (CurrentVersion + 1..CurrentVersion + changes)
      kept == IF "old versions stay" \in Rules THEN ManifestsRetained + merged ELSE 1
  IN there \ Newest(there, kept)

\* AR-011: files of earlier states first, then the completed ones, the oldest before the newer.
\* @type: ($file, $file) => Bool;
GoesBefore(one, other) ==
  LET \* @type: $file => Bool;
      completed(file) == file.state = "COMPLETED" IN
  \/ ~completed(one) /\ completed(other)
  \/ completed(one) = completed(other) /\ one.requested < other.requested
  \/ completed(one) = completed(other) /\ one.requested = other.requested
       /\ (one.state = "REQUESTED" \/ one = other)

\* @type: Set($file) => $file;
NextToGo(there) ==
  IF "completed files go last" \in Rules
  THEN CHOOSE one \in there: \A other \in there: GoesBefore(one, other)
  ELSE CHOOSE one \in there: \A other \in there: GoesBefore(other, one)

\* Files that none of some manifests names.
\* @type: (Set($manifest), Set($archive)) => Set($archive);
Unused(listed, there) == {one \in there: \A each \in listed: one.name \notin each.files}

\* @type: Set($archive) => $archive;
First(there) ==
  CHOOSE one \in there: \A other \in there:
    \/ one.name.level < other.name.level
    \/ one.name.level = other.name.level /\ one.name.from <= other.name.from

\* What an archiver decides under the lock.
Decided ==
  LET fresh == (ToArchive \intersect Actions) \ KnownToArchiver
      leaving == fresh \union LeftOvers
      merges == MergesAfter(fresh # {})
      changes == Cardinality(merges) + (IF fresh = {} THEN 0 ELSE 1)
  IN [unmark |-> IF "side effects first" \in Rules THEN leaving ELSE {},
      entering |-> {RowOf(one): one \in fresh},
      leaving |-> leaving,
      merges |-> merges,
      ending |-> EndingAfter(changes, Cardinality(merges))]

\* @type: $work;
Nothing == [unmark |-> {}, entering |-> {}, leaving |-> {}, merges |-> {}, ending |-> {}]

\* @type: Str => $work;
WorkOf(p) == IF step[p] = "locked" THEN Decided ELSE work[p]

\* AR-010: first the file, then the manifest, then the version.
Publishing == IF "the version is swapped last" \in Rules THEN "writing" ELSE "swapping"

\* What comes next: markers, the history, the timeline, the merges, the clean-up. AR-009, AR-010, HS-009.
\* @type: $work => Str;
Turn(todo) ==
  CASE "history first" \notin Rules /\ todo.leaving # {} -> "switched"
    [] todo.unmark # {} -> "unmarking"
    [] todo.entering # {} -> Publishing
    [] todo.leaving # {} -> "switched"
    [] todo.merges # {} -> Publishing
    [] todo.ending # {} -> "cleaning"
    [] OTHER -> "finished"

\* LK-002: another has taken the lock of an archiver that was paused. What that one did not do yet the other does.
\* @type: Str => Bool;
IsLate(p) == p \in SlowHolders /\ lock # p /\ step[p] \notin {"idle", "done", "crashed"}

\* @type: Str => Bool;
GivesUp(p) == IsLate(p) /\ "a late holder archives no further" \in Rules

\* What an archiver is to do now, `locked` being where it decides.
\* @type: (Str, Str) => Bool;
IsTo(p, doing) ==
  /\ p \in Archivers /\ ~GivesUp(p)
  /\ step[p] = doing \/ (step[p] = "locked" /\ Turn(Decided) = doing)

\* @type: (Str, $work) => Bool;
GoesOn(p, todo) ==
  /\ work' = [work EXCEPT ![p] = todo]
  /\ step' = [step EXCEPT ![p] = Turn(todo)]

\* @type: (Str, $work, Str) => Bool;
GoesOnTo(p, todo, next) ==
  /\ work' = [work EXCEPT ![p] = todo]
  /\ step' = [step EXCEPT ![p] = next]

===============================================================================
