---------------------------- MODULE MetadataSteps ----------------------------
(***************************************************************************)
(* How writers, an indexer, rollbacks and readers go on beside the         *)
(* metadata table, one durable effect at a time. MetadataTable says what   *)
(* holds.                                                                  *)
(*                                                                         *)
(* Clauses: CP-002, IG-002, IG-003, IG-004, IG-005, LK-001, LK-002,        *)
(* LK-003, LK-004, MK-001, MK-005, MT-003, MT-004, MT-006, MT-007, MT-009, *)
(* OW-001, RB-002, RB-003, RB-006, RB-009, RB-010, RB-011, TL-003, TM-005. *)
(***************************************************************************)
EXTENDS ListedTable

-----------------------------------------------------------------------------
\* Two writes of both days lie behind.
Before == {1, 3}

\* @type: Int => Set($listed);
FirstFiles(write) == {[day |-> day, since |-> 1, instant |-> write, kind |-> "base"]: day \in {"d1", "d2"}}

Init ==
  /\ clock = 4
  /\ lock = "nobody"
  /\ crashes = 0
  /\ timeline = UNION {{File(write, 0, "commit", "REQUESTED", 0), File(write, 0, "commit", "INFLIGHT", 0),
                        File(write, write + 1, "commit", "COMPLETED", 0)}: write \in Before}
  /\ stored = UNION {FirstFiles(write): write \in Before}
  /\ markers = {}
  /\ heartbeats = {}
  /\ metadata = {[instant |-> 0, added |-> {}, removed |-> {}]} \union
       {[instant |-> write, added |-> FirstFiles(write), removed |-> {}]: write \in Before}
  /\ indexed = {}
  /\ building = {}
  /\ built = {"files"}
  /\ covered = {}
  /\ step = [p \in Processes |-> "idle"]
  /\ instant = [p \in Processes |-> 0]
  /\ found = [p \in Processes |-> {}]

\* LK-001, LK-003, LK-004: to begin a write or make a plan, and again to finish it.
TakeLock(p) ==
  /\ lock = "nobody"
  /\ \/ step[p] = "idle" /\ (p \in Writers \/ HasToPlan(p)) /\ GoTo(p, "locked")
     \/ step[p] = "staged" /\ "writers finish under the lock" \in Rules /\ GoTo(p, "locked to finish")
     \/ step[p] = "prepared" /\ GoTo(p, "locked to finish")
  /\ lock' = p
  /\ UNCHANGED <<clock, crashes, inTable, metadata, ofIndexes, instant, found>>

\* TM-005: under the lock, where the rules have it taken.
GenerateTime(p) ==
  /\ \/ step[p] = "locked" /\ GoTo(p, "timed")
     \/ step[p] = "locked to finish" /\ GoTo(p, "finishing")
     \/ step[p] = "staged" /\ "writers finish under the lock" \notin Rules /\ GoTo(p, "finishing")
  /\ clock' = clock + 1
  /\ UNCHANGED <<lock, crashes, inTable, metadata, ofIndexes, instant, found>>

\* A service that is done works on nothing.
ReleaseLock(p) ==
  /\ \/ step[p] = "requested" /\ GoTo(p, IF p \in Writers THEN "begun" ELSE "planned")
        /\ UNCHANGED instant
     \/ step[p] = "finished" /\ GoTo(p, "done")
        /\ instant' = [instant EXCEPT ![p] = IF p \in Writers THEN instant[p] ELSE 0]
  /\ lock' = "nobody"
  /\ UNCHANGED <<clock, crashes, inTable, metadata, ofIndexes, found>>

\* MK-005: the heartbeat of a write is live from before its request until it has completed.
BeginToBeat(p) ==
  /\ p \in Writers /\ step[p] = "timed"
  /\ instant' = [instant EXCEPT ![p] = clock]
  /\ heartbeats' = heartbeats \union {[instant |-> clock, live |-> TRUE]}
  /\ GoTo(p, "beating")

\* RB-010: a rollback deletes the heartbeat of its write.
EndBeat(p) ==
  LET write == IF p \in Writers THEN instant[p] ELSE TargetOf(instant[p]) IN
  /\ step[p] = "unmarked"
  /\ heartbeats' = {heartbeat \in heartbeats: heartbeat.instant # write}
  /\ GoTo(p, IF lock = p THEN "finished" ELSE "done")
  /\ UNCHANGED instant

WriteHeartbeat(p) ==
  /\ BeginToBeat(p) \/ EndBeat(p)
  /\ UNCHANGED <<clock, lock, crashes, timeline, stored, markers, metadata, ofIndexes, found>>

\* OW-001, IG-002, RB-003: a write, the plan of an index, or of the rollback of the newest failed write.
Request(p) ==
  /\ \/ p \in Writers /\ step[p] = "beating" /\ UNCHANGED <<instant, covered>>
        /\ timeline' = timeline \union {File(instant[p], 0, "commit", "REQUESTED", 0)}
     \/ p \in Indexers /\ step[p] = "timed" /\ instant' = [instant EXCEPT ![p] = clock]
        /\ timeline' = timeline \union {File(clock, 0, "indexing", "REQUESTED", 0)}
        /\ covered' = covered \union {[requested |-> clock, state |-> "REQUESTED", upto |-> LastWithoutGap]}
     \/ p \in Rollbacks /\ step[p] = "timed" /\ instant' = [instant EXCEPT ![p] = clock]
        /\ timeline' = timeline \union {File(clock, 0, "rollback", "REQUESTED", Greatest(FailedWrites))}
        /\ UNCHANGED covered
  /\ GoTo(p, "requested")
  /\ UNCHANGED found

\* What a rollback does outside the lock: files go, then the write's entries, unless the
\* metadata table has to forget the write before them (RB-009, RB-011).
\* @type: (Str, Int, Set(Str)) => Str;
NextToUndo(p, write, states) ==
  IF FilesBy({write}) # {} THEN "removing" ELSE IF states # {} THEN "taking back" ELSE "prepared"

BeginPlan(p, plan) ==
  LET write == TargetOf(plan)
      states == IF p \in Rollbacks /\ ~IsRecorded(write) THEN StatesOf(write) ELSE {}
  IN
  /\ timeline' = timeline \union {File(plan, 0, ActionOf(p), "INFLIGHT", write)}
  /\ instant' = [instant EXCEPT ![p] = plan]
  /\ found' = [found EXCEPT ![p] = states]
  /\ GoTo(p, IF p \in Rollbacks THEN NextToUndo(p, write, states)
             ELSE IF "the partition is announced to writers" \in Rules THEN "announcing" ELSE "prepared")

\* TL-003, CP-002: a write, or a plan, its process's own or one that waits.
Begin(p) ==
  /\ \/ step[p] = "begun" /\ GoTo(p, "inflight")
        /\ timeline' = timeline \union {File(instant[p], 0, "commit", "INFLIGHT", 0)}
        /\ UNCHANGED <<instant, found>>
     \/ step[p] = "planned" /\ BeginPlan(p, instant[p])
     \/ \E plan \in Waiting(p): BeginPlan(p, plan)
  /\ UNCHANGED covered

\* From its completed file on an action counts, and what it has committed to the metadata table.
Complete(p) ==
  LET target == TargetOf(instant[p]) IN
  /\ \/ step[p] = "metadata committed"
     \/ step[p] = "finishing" /\ ~WritesMetadataFirst /\ p \notin Indexers /\ HasUndone(p)
  /\ timeline' = timeline \union {File(instant[p], clock, ActionOf(p), "COMPLETED", target)}
  /\ covered' = covered \union
       {[requested |-> plan, state |-> "COMPLETED", upto |-> LastWithoutGap]:
         plan \in IF p \in Indexers THEN {instant[p]} ELSE {}}
  /\ GoTo(p, IF p \in Indexers THEN "finished"
             ELSE IF "the metadata table first" \in Rules THEN "completed" ELSE "metadata next")
  /\ UNCHANGED <<instant, found>>

CreateInstant(p) ==
  /\ Request(p) \/ Begin(p) \/ Complete(p)
  /\ UNCHANGED <<clock, lock, crashes, stored, markers, heartbeats, metadata, indexed, building, built>>

\* MK-001: the marker, then the file: a new version of the day's one file group.
PutMarker(p) ==
  /\ step[p] = "inflight"
  /\ markers' = markers \union {[instant |-> instant[p], day |-> DayOf(p)]}
  /\ GoTo(p, "marked")
  /\ UNCHANGED <<clock, lock, crashes, timeline, stored, heartbeats, metadata, ofIndexes, instant, found>>

PutBaseFile(p) ==
  /\ step[p] = "marked"
  /\ stored' = stored \union {[day |-> DayOf(p), since |-> 1, instant |-> instant[p], kind |-> "base"]}
  /\ GoTo(p, "staged")
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, metadata, ofIndexes, instant, found>>

\* RB-010: a rollback removes the markers of its write.
DeleteMarkers(p) ==
  LET write == IF p \in Writers THEN instant[p] ELSE TargetOf(instant[p]) IN
  /\ step[p] = "completed"
  /\ markers' = {marker \in markers: marker.instant # write}
  /\ GoTo(p, "unmarked")
  /\ UNCHANGED <<clock, lock, crashes, timeline, stored, heartbeats, metadata, ofIndexes, instant, found>>

\* MT-003: under its own instant an action records its files in the metadata table, and in an index
\* only if there is something to record. What others left there without completing is gone (MT-006).
RecordFiles(p) ==
  LET entry == EntryOf(instant[p], indexed) IN
  /\ metadata' = KeptOf(metadata) \union {EntryOf(instant[p], metadata)}
  /\ indexed' = KeptOf(indexed) \union (IF LogsToIndex /\ ~SaysNothing(entry) THEN {entry} ELSE {})
  /\ UNCHANGED found

\* MT-004: before it completes, under the lock.
TellBeforeCompletion(p) ==
  /\ p \notin Indexers /\ WritesMetadataFirst
  /\ step[p] \in {"finishing", "metadata next"} /\ HasUndone(p)
  /\ RecordFiles(p)
  /\ GoTo(p, "metadata committed")

\* What "the metadata table first" forbids.
TellAfterCompletion(p) ==
  /\ p \notin Indexers /\ "the metadata table first" \notin Rules
  /\ step[p] = "metadata next"
  /\ RecordFiles(p)
  /\ GoTo(p, "completed")

\* RB-011: what a failed write committed to the metadata table is rolled back, before its entries go.
Withdraw(p) ==
  LET write == TargetOf(instant[p]) IN
  /\ p \in Rollbacks /\ step[p] = "finishing" /\ IsRecorded(write)
  /\ metadata' = {entry \in metadata: entry.instant # write}
  /\ indexed' = {entry \in indexed: entry.instant # write}
  /\ found' = [found EXCEPT ![p] = StatesOf(write)]
  /\ GoTo(p, "taking back")

\* MT-009, IG-004: an index is built of the table as the plan has it, and takes in what has
\* completed since; whatever an earlier attempt left of it is gone.
Build(p) ==
  LET upto == PlannedUpTo(instant[p])
      planned == {write \in Completed: write <= upto}
      later == IF "an index takes in what came after its plan" \in Rules THEN Completed \ planned ELSE {}
  IN
  /\ p \in Indexers /\ step[p] = "finishing"
  /\ indexed' = {[instant |-> 0, added |-> FilesBy(planned \union later), removed |-> {}]}
  /\ metadata' = Counting(metadata)
  /\ GoTo(p, IF "an index is used once it is whole" \in Rules THEN "switching on" ELSE "metadata committed")
  /\ UNCHANGED found

CommitMetadataTable(p) ==
  /\ TellBeforeCompletion(p) \/ TellAfterCompletion(p) \/ Withdraw(p) \/ Build(p)
  /\ UNCHANGED <<clock, lock, crashes, inTable, building, built, covered, instant>>

\* IG-003: from now on writers log to the partition.
Announce(p) ==
  /\ step[p] = "announcing" /\ Index \notin building
  /\ building' = building \union {Index}
  /\ UNCHANGED built
  /\ GoTo(p, IF "an index is used once it is whole" \in Rules THEN "prepared" ELSE "announcing")

\* IG-005, MT-007: from now on readers use it.
SwitchOn(p) ==
  /\ \/ step[p] = "switching on" /\ GoTo(p, "metadata committed")
     \/ step[p] = "announcing" /\ Index \in building /\ GoTo(p, "prepared")
          /\ "an index is used once it is whole" \notin Rules
  /\ building' = building \ {Index}
  /\ built' = built \union {Index, "files"}

\* What an earlier attempt has announced stays announced.
AnnounceAgain(p) ==
  /\ step[p] = "announcing" /\ Index \in building /\ "an index is used once it is whole" \in Rules
  /\ UNCHANGED <<building, built>>
  /\ GoTo(p, "prepared")

PutProperties(p) ==
  /\ Announce(p) \/ AnnounceAgain(p) \/ SwitchOn(p)
  /\ UNCHANGED <<clock, lock, crashes, inTable, metadata, indexed, covered, instant, found>>

\* RB-006, RB-009: the files of the write.
DeleteDataFile(p) ==
  LET write == TargetOf(instant[p]) IN
  /\ step[p] = "removing"
  /\ \E file \in FilesBy({write}):
       /\ stored' = stored \ {file}
       /\ GoTo(p, IF FilesBy({write}) # {file} THEN "removing"
                  ELSE IF found[p] # {} THEN "taking back" ELSE "prepared")
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, metadata, ofIndexes, instant, found>>

\* RB-009: its entries, the highest state first. Under the lock if the metadata table had to
\* forget the write, or had when the rollback began and others have seen to it since.
DeleteInstant(p) ==
  LET write == TargetOf(instant[p])
      states == IF step[p] = "taking back" THEN found[p] ELSE StatesOf(write)
      highest == IF "INFLIGHT" \in states THEN "INFLIGHT" ELSE "REQUESTED"
      after == IF lock # p THEN "prepared" ELSE IF WritesMetadataFirst THEN "metadata next" ELSE "metadata committed"
  IN
  /\ \/ step[p] = "taking back"
     \/ p \in Rollbacks /\ step[p] = "finishing" /\ ~HasUndone(p) /\ ~IsRecorded(write)
  /\ timeline' = {file \in timeline: ~(file.requested = write /\ file.state = highest)}
  /\ found' = [found EXCEPT ![p] = states \ {highest}]
  /\ GoTo(p, IF states = {highest} THEN after ELSE "taking back")
  /\ UNCHANGED <<clock, lock, crashes, stored, markers, heartbeats, metadata, ofIndexes, instant>>

\* LK-002, RB-002, CP-002: a process crashes: its lock is free, its heartbeat expires. A write does not
\* come back; a service does, without memory.
Crash(p) ==
  /\ crashes < MaxCrashes
  /\ step[p] \notin {"idle", "done", "crashed"}
  /\ crashes' = crashes + 1
  /\ lock' = IF lock = p /\ "the lock of a failed process is freed" \in Rules THEN "nobody" ELSE lock
  /\ heartbeats' = {[one EXCEPT !.live = one.live /\ one.instant # instant[p]]: one \in heartbeats}
  /\ GoTo(p, IF p \in Writers THEN "crashed" ELSE "idle")
  /\ instant' = IF p \in Writers THEN instant ELSE [instant EXCEPT ![p] = 0]
  /\ found' = [found EXCEPT ![p] = {}]
  /\ UNCHANGED <<clock, timeline, stored, markers, metadata, ofIndexes>>

Step(p) ==
  \/ TakeLock(p) \/ GenerateTime(p) \/ ReleaseLock(p) \/ WriteHeartbeat(p) \/ CreateInstant(p)
  \/ PutMarker(p) \/ PutBaseFile(p) \/ DeleteMarkers(p) \/ CommitMetadataTable(p)
  \/ PutProperties(p) \/ DeleteDataFile(p) \/ DeleteInstant(p)

Next == \E p \in Processes: Step(p) \/ Crash(p)

\* A process that can go on does so; none has to crash. Each takes finitely many steps, so that the
\* lock comes to everyone who waits.
Fairness == \A p \in Processes: WF_vars(Step(p))

Spec == Init /\ [][Next]_vars /\ Fairness
==============================================================================
