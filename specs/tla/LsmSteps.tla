------------------------------ MODULE LsmSteps -------------------------------
(***************************************************************************)
(* How an archiver, a writer, readers and cleaners go on, one durable      *)
(* effect at a time. LsmTimeline says what holds meanwhile.                *)
(*                                                                         *)
(* Clauses: AR-009, AR-010, AR-011, AR-013, HS-002, HS-003, HS-004,        *)
(* HS-006, HS-011, LK-002, RD-001, RD-002, TL-003, TL-013.                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, LsmPast

-----------------------------------------------------------------------------
(* Lock and time: AR-013, TL-013. *)

\* @type: (Str, Str) => Bool;
Becomes(p, next) == step' = [step EXCEPT ![p] = next]

\* LK-002: where the holder is paused, the lease ends, and another takes the lock.
IsFree(p) ==
  \/ lock \in SlowHolders \union {"nobody"} /\ lock # p
  \/ p \in Archivers /\ "one archiver at a time" \notin Rules

TakeLock(p) ==
  /\ IsFree(p)
  /\ \/ step[p] = "idle" /\ p \in Writers \union Archivers /\ Becomes(p, "locked")
     \/ step[p] = "staged" /\ Becomes(p, "locked to finish")
  /\ lock' = p
  /\ UNCHANGED <<clock, crashes, table, tree, minds, work, followers>>

ReleaseLock(p) ==
  /\ \/ step[p] = "requested" /\ Becomes(p, "begun")
     \/ step[p] = "finished" /\ ~GivesUp(p) /\ Becomes(p, "done")
     \/ IsTo(p, "finished") /\ step[p] = "locked" /\ Becomes(p, "done")
     \/ GivesUp(p) /\ Becomes(p, "done")
  /\ lock' = IF lock = p /\ "the lock is released" \in Rules THEN "nobody" ELSE lock
  /\ time' = [time EXCEPT ![p] = 0]
  /\ UNCHANGED <<clock, crashes, table, tree, instant, seen, left, rows, work, followers>>

GenerateTime(p) ==
  /\ p \in Writers
  /\ \/ step[p] = "locked" /\ Becomes(p, "timed")
     \/ step[p] = "locked to finish" /\ Becomes(p, "finishing")
  /\ clock' = clock + 1
  /\ time' = [time EXCEPT ![p] = clock + 1]
  /\ UNCHANGED <<lock, crashes, table, tree, instant, seen, left, rows, work, followers>>

-----------------------------------------------------------------------------
(* A writer of one row; writers do not touch each other's days. *)

DayOf(p) == IF p = "two" THEN "d2" ELSE "d1"
KeyOf(p) == IF p = "two" THEN "b" ELSE "a"

\* The write begins, or ends: its heartbeat is described in Recovery.
WriteHeartbeat(p) ==
  /\ \/ /\ step[p] = "timed"
        /\ Becomes(p, "beating")
        /\ instant' = [instant EXCEPT ![p] = time[p]]
        /\ seen' = [seen EXCEPT ![p] = CompletedWrites]
     \/ step[p] = "unmarked" /\ Becomes(p, "finished") /\ UNCHANGED <<instant, seen>>
  /\ UNCHANGED <<clock, lock, crashes, table, tree, time, left, rows, work, followers>>

\* TL-003: requested, inflight, completed.
CreateInstant(p) ==
  /\ \/ step[p] = "beating" /\ Becomes(p, "requested")
          /\ timeline' = timeline \union {File(instant[p], 0, "commit", "REQUESTED", 0)}
     \/ step[p] = "begun" /\ Becomes(p, "inflight")
          /\ timeline' = timeline \union {File(instant[p], 0, "commit", "INFLIGHT", 0)}
     \/ step[p] = "finishing" /\ Becomes(p, "completed")
          /\ timeline' = timeline \union {File(instant[p], time[p], "commit", "COMPLETED", 0)}
  /\ UNCHANGED <<clock, lock, crashes, files, markers, tree, minds, work, followers>>

PutMarker(p) ==
  /\ step[p] = "inflight"
  /\ Becomes(p, "marked")
  /\ markers' = markers \union {[instant |-> instant[p], day |-> DayOf(p)]}
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, tree, minds, work, followers>>

\* The group that is there goes on, under a new row of the same key.
PutBaseFile(p) ==
  /\ step[p] = "marked"
  /\ Becomes(p, "staged")
  /\ \E slice \in Slices:
       /\ slice.day = DayOf(p)
       /\ files' = files \union
            {[day |-> slice.day, since |-> slice.since, instant |-> instant[p], kind |-> "base",
              rows |-> {[key |-> KeyOf(p), by |-> instant[p], ts |-> 2]}]}
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, tree, minds, work, followers>>

-----------------------------------------------------------------------------
(* The archiver. *)

\* AR-009: an archiver deletes what is left of markers, the oldest action first.
\* @type: Str => Bool;
Unmark(p) ==
  LET todo == WorkOf(p)
      one == Least(todo.unmark)
  IN
  /\ IsTo(p, "unmarking")
  /\ markers' = IF "an archiver deletes what is left of markers" \in Rules
                THEN {marker \in markers: marker.instant # one} ELSE markers
  /\ GoesOn(p, [todo EXCEPT !.unmark = @ \ {one}])

DeleteMarkers(p) ==
  /\ \/ /\ step[p] = "completed"
        /\ Becomes(p, "unmarked")
        /\ markers' = {marker \in markers: marker.instant # instant[p]}
        /\ UNCHANGED work
     \/ Unmark(p)
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, tree, minds, followers>>

\* The level that is to be merged, the lowest one first.
\* @type: $work => Int;
LevelOf(todo) == Least(todo.merges)

\* HS-006: archival writes level 0, merging the level above.
\* @type: $work => $archive;
NewFile(todo) == IF todo.entering # {} THEN HistoryFile(0, todo.entering) ELSE MergedFile(LevelOf(todo))

\* @type: $work => $work;
Published(todo) ==
  IF todo.entering # {} THEN [todo EXCEPT !.entering = {}] ELSE [todo EXCEPT !.merges = @ \ {LevelOf(todo)}]

\* AR-010: a file appears that no manifest names; what a failed archiver left under its name is
\* replaced.
PutHistoryFile(p) ==
  LET todo == WorkOf(p)
      new == NewFile(todo)
  IN
  /\ IsTo(p, "writing")
  /\ history' = {one \in history: one.name # new.name} \union {new}
  /\ GoesOnTo(p, todo, "written")
  /\ UNCHANGED <<clock, lock, crashes, table, manifests, version, minds, followers>>

\* HS-002, HS-003, AR-010: the manifest after the current one names the file beside those of before.
\* One of that number that never became current is replaced.
PutManifest(p) ==
  LET todo == work[p]
      merged == IF todo.entering # {} THEN {} ELSE {one.name: one \in OldestOf(LevelOf(todo))}
      kept == IF "the manifest names the older files" \in Rules THEN CurrentNames \ merged ELSE {}
      number == IF "every change is a new version" \in Rules \/ CurrentVersion = 0
                THEN CurrentVersion + 1 ELSE CurrentVersion
      new == [version |-> number, files |-> kept \union {NewFile(todo).name}]
  IN
  /\ IsTo(p, "written")
  /\ manifests' = {one \in manifests: one.version # number} \union {new}
  /\ GoesOnTo(p, Published(todo), "listed")
  /\ UNCHANGED <<clock, lock, crashes, table, history, version, minds, followers>>

\* A version file that is read while it is written.
TornVersion == 0 - 1

\* A reader of the history has been overtaken by one archiver more.
\* @type: Str => Bool;
Overtakes(p) ==
  followers' = [f \in Followers |->
    IF followers[f].step \in {"following", "reading"}
    THEN [followers[f] EXCEPT !.since = @ \union {p}] ELSE followers[f]]

\* AR-010: from now on readers follow another manifest.
SwapVersion(p) ==
  LET todo == WorkOf(p)
      newest == Greatest({one.version: one \in manifests})
      torn == IF "the version is swapped at once" \in Rules THEN {} ELSE {TornVersion}
  IN
  /\ \/ IsTo(p, "listed") /\ GoesOn(p, todo) /\ version' \in {newest} \union torn
     \/ IsTo(p, "swapping") /\ GoesOnTo(p, todo, "writing") /\ version' = CurrentVersion + 1
  /\ Overtakes(p)
  /\ UNCHANGED <<clock, lock, crashes, table, history, manifests, minds>>

\* AR-010, AR-011: what the history holds leaves the active timeline.
DeleteInstant(p) ==
  LET todo == WorkOf(p)
      there == UNION {FilesOfAction(one): one \in todo.leaving}
      stays == IF there = {} THEN {} ELSE there \ {NextToGo(there)}
  IN
  /\ IsTo(p, "switched")
  /\ "what is archived is deleted" \in Rules
  /\ timeline' = timeline \ (there \ stays)
  /\ GoesOn(p, [todo EXCEPT !.leaving = {file.requested: file \in stays}])
  /\ UNCHANGED <<clock, lock, crashes, files, markers, tree, minds, followers>>

\* HS-011: the manifests that end go first, then the files that none names that stays.
DeleteHistoryFile(p) ==
  LET todo == WorkOf(p)
      staying == {one \in manifests: one.version \notin todo.ending}
      isFile == todo.ending = {} \/ ("files go after their manifests" \notin Rules /\ Unused(staying, history) # {})
      ending == IF isFile THEN todo.ending ELSE todo.ending \ {Greatest(todo.ending)}
      there == IF isFile THEN history \ {First(Unused(staying, history))} ELSE history
  IN
  /\ IsTo(p, "cleaning")
  /\ history' = there
  /\ manifests' = {one \in manifests: one.version \in ending \/ one \in staying}
  /\ GoesOnTo(p, [todo EXCEPT !.ending = ending],
       IF ending = {} /\ Unused(staying, there) = {} THEN "finished" ELSE "cleaning")
  /\ Overtakes(p)
  /\ UNCHANGED <<clock, lock, crashes, table, version, minds>>

-----------------------------------------------------------------------------
(* Those who read, and those who clean up. *)

\* RD-001: a reader fixes what has completed, and the files that it will read.
PickSnapshot(p) ==
  /\ p \in Readers
  /\ step[p] = "idle"
  /\ Becomes(p, IF Slices = {} THEN "done" ELSE "reading")
  /\ seen' = [seen EXCEPT ![p] = {file.requested: file \in {one \in timeline: one.state = "COMPLETED"}}]
  /\ left' = [left EXCEPT ![p] = Slices]
  /\ UNCHANGED <<clock, lock, crashes, table, tree, instant, time, rows, work, followers>>

\* @type: Set($slice) => $slice;
FirstSlice(slices) ==
  CHOOSE one \in slices: \A other \in slices:
    \/ one.day = "d1" /\ other.day # "d1"
    \/ one.day = other.day /\ one.since <= other.since

\* RD-002: and reads them one after the other; without one of them it gives up.
ReadSlice(p) ==
  LET slice == FirstSlice(left[p])
      found == {file \in files: file.day = slice.day /\ file.since = slice.since /\ file.instant = slice.base}
  IN
  /\ p \in Readers
  /\ step[p] = "reading"
  /\ left' = [left EXCEPT ![p] = IF found = {} THEN {} ELSE @ \ {slice}]
  /\ rows' = [rows EXCEPT ![p] = @ \union UNION {file.rows: file \in found}]
  /\ Becomes(p, IF found = {} THEN "missed" ELSE IF left[p] = {slice} THEN "done" ELSE "reading")
  /\ UNCHANGED <<clock, lock, crashes, table, tree, instant, time, seen, work, followers>>

\* HS-002: a reader of the history looks which version counts.
FollowVersion(f) ==
  /\ followers[f].step = "idle"
  /\ CurrentVersion # 0
  /\ followers' = [followers EXCEPT ![f].step = "following", ![f].version = CurrentVersion, ![f].wanted = Archived]
  /\ UNCHANGED <<clock, lock, crashes, table, tree, step, minds, work>>

\* HS-002, HS-004: then which files are of it.
ReadManifest(f) ==
  LET number == followers[f].version IN
  /\ followers[f].step = "following"
  /\ "a reader gives up on a file that is gone" \notin Rules => \E one \in manifests: one.version = number
  /\ followers' = [followers EXCEPT
       ![f].step = IF \E one \in manifests: one.version = number THEN "reading" ELSE "missed",
       ![f].left = NamesIn(number)]
  /\ UNCHANGED <<clock, lock, crashes, table, tree, step, minds, work>>

\* HS-004: then opens one after the other, and is refused where one is not there.
ReadHistoryFile(f) ==
  LET name == CHOOSE one \in followers[f].left: \A other \in followers[f].left: one.from <= other.from
      found == {one \in history: one.name = name}
  IN
  /\ followers[f].step = "reading"
  /\ IF "a reader gives up on a file that is gone" \notin Rules /\ followers[f].left # {} THEN found # {} ELSE TRUE
  /\ IF followers[f].left = {} THEN followers' = [followers EXCEPT ![f].step = "done"]
     ELSE followers' = [followers EXCEPT
            ![f].step = IF found = {} THEN "missed" ELSE "reading",
            ![f].left = @ \ {name},
            ![f].rows = @ \union UNION {one.rows: one \in found}]
  /\ UNCHANGED <<clock, lock, crashes, table, tree, step, minds, work>>

\* Files of replaced groups and of undone writes go: by a clean, by another rollback.
DeleteDataFile(p) ==
  /\ p \in Cleaners
  /\ \E file \in files:
       /\ \/ WasReplaced(file) /\ Clustering \in CompletedWrites
          \/ file.instant \in Undone
       /\ files' = files \ {file}
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, tree, step, minds, work, followers>>

\* LK-002: a failed process keeps nothing, and the lock is free.
Crash(p) ==
  /\ crashes < MaxCrashes
  /\ p \in Writers \union Archivers
  /\ step[p] \notin {"idle", "done", "crashed"}
  /\ crashes' = crashes + 1
  /\ Becomes(p, IF Restarts /\ p \in Archivers THEN "idle" ELSE "crashed")
  /\ lock' = IF lock = p THEN "nobody" ELSE lock
  /\ time' = [time EXCEPT ![p] = 0]
  /\ seen' = [seen EXCEPT ![p] = {}]
  /\ work' = [work EXCEPT ![p] = Nothing]
  /\ UNCHANGED <<clock, table, tree, instant, left, rows, followers>>

\* What a process can do once it has the lock, or needs none.
Progress(p) ==
  \/ ReleaseLock(p) \/ GenerateTime(p) \/ WriteHeartbeat(p) \/ CreateInstant(p) \/ PutMarker(p) \/ PutBaseFile(p)
  \/ DeleteMarkers(p) \/ PutHistoryFile(p) \/ PutManifest(p) \/ SwapVersion(p) \/ DeleteInstant(p)
  \/ DeleteHistoryFile(p) \/ PickSnapshot(p) \/ ReadSlice(p) \/ DeleteDataFile(p)

Follow(f) == FollowVersion(f) \/ ReadManifest(f) \/ ReadHistoryFile(f)

Next ==
  \/ \E p \in Processes: TakeLock(p) \/ Progress(p) \/ Crash(p)
  \/ \E f \in Followers: Follow(f)
==============================================================================
