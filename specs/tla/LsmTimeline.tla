----------------------------- MODULE LsmTimeline -----------------------------
(***************************************************************************)
(* The history of the timeline, versions 8 and 9: an archiver takes the    *)
(* oldest completed actions off the active timeline into files of a merge  *)
(* tree, which manifests list and a version file chooses between.          *)
(*                                                                         *)
(* A writer and readers work beside it. An archiver may crash anywhere,    *)
(* and the next one goes on. How a failed write is rolled back is          *)
(* described in Recovery, what a clean deletes and when in TableServices.  *)
(*                                                                         *)
(* Clauses: AR-001, AR-002, AR-005, AR-006, AR-007, AR-009, AR-010,        *)
(* AR-011, AR-013, HS-001, HS-002, HS-003, HS-004, HS-005, HS-006, HS-007, *)
(* HS-008, HS-009, HS-011, TL-003, TL-018, LK-002, RD-001, RD-002.         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, LsmSteps

\* A process that holds the lock decides. `Turn` always names something to do, and to look for it in every
\* action of an archiver would take TLC minutes: here it is enough that the process goes on.
Decide(p) ==
  /\ step[p] = "locked"
  /\ \E next \in {"timed", "unmarking", "writing", "written", "swapping", "switched", "cleaning", "finished", "done"}:
       step' = [step EXCEPT ![p] = next]

GoOn(p) == step[p] # "locked" /\ Progress(p)

\* Whoever can go on from some moment on does. That is enough for the lock, too: everyone takes it twice at
\* most, and again after a crash, so that it is free for good in the end, unless somebody keeps it.
Fairness ==
  /\ \A p \in Writers \union Archivers: WF_vars(TakeLock(p)) /\ WF_step(Decide(p)) /\ WF_vars(GoOn(p))
  /\ \A f \in Followers: WF_vars(Follow(f))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
TypeOK ==
  /\ lock \in Processes \union {"nobody"}
  /\ \A one \in history: one.name.level >= 0
       /\ \A row \in one.rows: one.name.from <= row.requested /\ row.requested <= one.name.upto
  /\ \A one \in manifests: one.version > 0 /\ one.files # {}
  /\ \A p \in Processes: instant[p] \in 0..clock /\ time[p] \in 0..clock

ArchivedRows == UNION {one.rows: one \in CurrentFiles}
ArchivedWrites == {row.requested: row \in {one \in ArchivedRows: one.action \in Writes}}

\* AR-001, HS-008: whatever has completed is on the active timeline or in the history.
NothingIsLost ==
  LET before == {file.requested: file \in {one \in EarlierFiles: one.state = "COMPLETED"}}
      since == {instant[p]: p \in {one \in Writers: step[one] \in {"completed", "unmarked", "finished", "done"}}}
      active == {file.requested: file \in {one \in timeline: one.state = "COMPLETED"}}
  IN before \union since \subseteq Archived \union active

\* AR-010, HS-009: what the history holds it holds for ever.
ArchivedStays == [][Archived \subseteq Archived']_vars

\* AR-002, HS-009: no action is in two files of the history.
ArchivedOnce ==
  \A one, other \in CurrentFiles:
    one # other => {row.requested: row \in one.rows} \intersect {row.requested: row \in other.rows} = {}

\* AR-001, HS-001, HS-007.
OnlyCompletedIsArchived == \A row \in ArchivedRows: row.completed > row.requested

\* AR-013: one process archives at a time.
OneArchives ==
  LET busy == {p \in Archivers: step[p] \notin {"idle", "done", "crashed"}} IN Cardinality(busy) <= 1

\* HS-004: the version file names a manifest that is there,
VersionNamesAManifest == version # 0 => \E one \in manifests: one.version = version

\* and each manifest files that are there.
ManifestsNameFilesThatAreThere ==
  \A one \in manifests: \A name \in one.files: \E each \in history: each.name = name

\* AR-011: what is archived never seems to be pending.
NeverPendingAgain ==
  \A one \in Archived: FilesOfAction(one) # {} => StateIn(FilesOfAction(one), one) = "COMPLETED"

\* AR-011: no completed write stands before one that has left.
NoHole == \A gone \in ArchivedWrites \ CompletedWrites, stays \in CompletedWrites: gone < stays

\* AR-005: no write leaves that is younger than a pending one, nor the last one before it.
NotPastPending ==
  \A pending \in PendingWrites, gone \in ArchivedWrites:
    gone < pending /\ \E stays \in CompletedWrites: gone <= stays /\ stays < pending

\* AR-006.
NotPastSaved == \A saved \in Saved, gone \in ArchivedWrites: gone < saved

\* AR-007: only the replacecommit records that the files of a replaced group do not count.
ReplacementsAreKnown == (\E file \in files: WasReplaced(file)) => Clustering \in CompletedWrites

\* AR-009: only the rollback records that a file of what it undid does not count.
RollbacksAreKnown ==
  \A file \in EarlierFiles: file.target # 0 /\ (\E data \in files: data.instant = file.target) => file.target \in Undone

\* AR-009: the markers of an action go before its files on the timeline.
MarkersHaveActions == \A marker \in markers: FilesOfAction(marker.instant) # {}

\* AR-001, TL-018: a reader now finds of each day one group, as the last write left it.
ReadersFindTheLatest ==
  \A day \in {"d1", "d2"}:
    LET wrote == {file.instant: file \in {one \in files: one.day = day}} \intersect (CompletedWrites \union ArchivedWrites)
        found == {slice \in Slices: slice.day = day}
    IN Cardinality(found) = 1 /\ {slice.base: slice \in found} = {Greatest(wrote)}

\* RD-001: and the rows that a reader gets are each there once.
RowsAreReadOnce == \A p \in Readers: \A one, other \in rows[p]: one.key = other.key => one = other

\* HS-011: a reader of the history finishes, unless more archivals change it meanwhile. Where levels
\* are merged it is one: the next archival keeps three manifests again, though it adds but one, or none.
FollowersFinish == \A f \in Followers: followers[f].step = "missed" => Cardinality(followers[f].since) > Patience

\* HS-002, AR-010: and has read the history as it was.
FollowersReadOneVersion ==
  \A f \in Followers: followers[f].step = "done" => {row.requested: row \in followers[f].rows} = followers[f].wanted

\* HS-003: what a manifest says that is or was current, it says for ever.
ManifestsNeverChange ==
  [][\A one \in manifests, other \in manifests':
       one.version = other.version /\ one.version <= CurrentVersion => one = other]_vars

\* Every writer and every archiver comes to its end, or crashes,
EveryoneEnds == \A p \in Writers \union Archivers: <>(step[p] \in {"done", "crashed"})

\* and every reader of the history that has begun.
FollowersEnd == \A f \in Followers: followers[f].step # "idle" ~> followers[f].step \in {"done", "missed"}

\* AR-002: what an archiver left is finished by the next: nothing stands in both.
LeftoversGoAway == <>[](Archived \intersect Actions = {} /\ \A marker \in markers: marker.instant \notin Archived)

\* What can happen: a must-fail run shows it for each of these.
NothingStandsInBoth == Archived \intersect Actions = {}
NoLevelIsMerged == \A one \in history: one.name.level < 2
NoFileIsUnnamed == Unused(manifests, history) = {}
NobodyIsLate == \A p \in SlowHolders: ~IsLate(p)
NoReplacementIsArchived == Clustering = 0 \/ Clustering \notin Archived
NoRollbackIsArchived == \A row \in ArchivedRows: row.action # "rollback"
NoFollowerIsOvertaken == \A f \in Followers: followers[f].step # "missed"
NobodyCrashes == crashes = 0
OnlyReplacedFilesGo == [][Clustering \notin CompletedWrites => files \subseteq files']_vars
==============================================================================
