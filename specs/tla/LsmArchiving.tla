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
EXTENDS Integers, FiniteSets, LsmHistory

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
  LET begun == {CurrentVersion + one: one \in {each \in 1..5: each <= changes}}
      there == {one.version: one \in manifests} \union begun
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

==============================================================================
