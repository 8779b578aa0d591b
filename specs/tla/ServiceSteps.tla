---------------------------- MODULE ServiceSteps -----------------------------
(***************************************************************************)
(* How table services, writers and readers go on, one durable effect at a  *)
(* time. TableServices says what holds meanwhile.                          *)
(*                                                                         *)
(* Clauses: CL-003, CL-004, CL-006, CN-009, CN-012, CP-002, CP-004,        *)
(* CP-006, CP-010, LC-001, LC-006, LK-001, LK-002, LK-003, LK-004, MK-001, *)
(* MK-003, MK-004, MK-005, OW-001, OW-002, OW-009, OW-011, OW-015, OW-016, *)
(* RD-001, RD-004, RD-011, SR-001, SR-002, SR-006, TL-010, TM-003.         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TimelineFiles, DataFiles, ServicePlans, ServedTable

\* A process goes from one step to another.
Goes(p, from, to) == step[p] = from /\ step' = [step EXCEPT ![p] = to]

\* LK-001, LK-003, LK-004: the lock is taken to begin or to plan, and to finish.
TakeLock(p) ==
  /\ lock = "nobody" \/ "one process at a time" \notin Rules
  /\ lock' = p
  /\ \/ p \notin Planners /\ Goes(p, "idle", "locked")
     \/ "services plan under the lock" \in Rules /\ HasToPlan(p) /\ Goes(p, "idle", "locked")
     \/ Goes(p, "staged", "locked to finish")
     \/ "services finish under the lock" \in Rules /\ Goes(p, "prepared", "locked to finish")
     \/ Goes(p, "undoing", "locked to finish") /\ LeftToUndo = {}
  /\ UNCHANGED <<clock, crashes, timeline, files, markers, heartbeats, plans, instant, time, seen, left, rows>>

\* TM-003: greater than all that were generated before.
GenerateTime(p) ==
  /\ \/ Goes(p, "locked", "timed")
     \/ Goes(p, "locked to finish", "finishing")
     \/ "services plan under the lock" \notin Rules /\ HasToPlan(p) /\ Goes(p, "idle", "timed")
     \/ "services finish under the lock" \notin Rules /\ Goes(p, "prepared", "finishing")
  /\ clock' = clock + 1
  /\ time' = [time EXCEPT ![p] = clock + 1]
  /\ UNCHANGED <<lock, crashes, timeline, files, markers, heartbeats, plans, instant, seen, left, rows>>

\* OW-002, MK-005: a write begins, with what has completed by now; its heartbeat is live until it ends.
WriteHeartbeat(p) ==
  /\ p \in Writers
  /\ \/ /\ Goes(p, "timed", "beating")
        /\ instant' = [instant EXCEPT ![p] = time[p]]
        /\ seen' = [seen EXCEPT ![p] = CompletedInstants(timeline)]
        /\ heartbeats' = heartbeats \union {[instant |-> time[p], live |-> TRUE]}
     \/ /\ Goes(p, "unmarked", "finished") \/ Goes(p, "withdrawn", "gone")
        /\ heartbeats' = {heartbeat \in heartbeats: heartbeat.instant # instant[p]}
        /\ UNCHANGED <<instant, seen>>
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, markers, plans, time, left, rows>>

Enter(requested, completed, action, state) ==
  timeline' = timeline \union {File(requested, completed, action, state, 0)}

\* OW-011: before anything is made.
GivesUp(p) == IF MissesItsSnapshot(p) THEN TRUE ELSE IsHeld(p)

\* OW-001: requested under the lock, inflight outside, completed under the lock.
EnterWrite(p) ==
  /\ p \in Writers
  /\ \/ Goes(p, "beating", "requested") /\ Enter(instant[p], 0, WriteAction, "REQUESTED")
     \/ Goes(p, "begun", "inflight") /\ ~GivesUp(p) /\ Enter(instant[p], 0, WriteAction, "INFLIGHT")
     \/ Goes(p, "finishing", "completed") /\ ~InConflict(p) /\ Enter(instant[p], time[p], WriteAction, "COMPLETED")
  /\ UNCHANGED <<plans, instant>>

\* CP-002, CL-003, CN-009: the plan is there with the request.
RequestPlan(p) ==
  LET planned == ToPlan(p, time[p]) IN
  /\ p \in Planners
  /\ step[p] = "timed" /\ planned # {}
  /\ Goes(p, "timed", IF "services plan under the lock" \in Rules THEN "requested" ELSE "planned")
  /\ Enter(time[p], 0, ServiceAction(p), "REQUESTED")
  /\ plans' = plans \union {NameOf(time[p], file): file \in planned}
  /\ instant' = [instant EXCEPT ![p] = time[p]]

\* CP-002, CP-010: the one who planned begins, or one who finds that a plan waits.
BeginPlan(p) ==
  LET requested == PlanOf(p) IN
  /\ p \in Planners
  /\ \/ step[p] = "planned"
     \/ step[p] = "idle" /\ "a plan that waits is taken up" \in Rules /\ Waiting(p) # {}
  /\ CanBeDone(p, requested)
  /\ Enter(requested, 0, ServiceAction(p), "INFLIGHT")
  /\ instant' = [instant EXCEPT ![p] = requested]
  /\ Goes(p, step[p], IF p = "restorer" THEN "undoing"
                      ELSE IF ToRemove(p, requested) # {} THEN "removing"
                      ELSE IF Unwritten(p, requested) # {} THEN "marking" ELSE "prepared")
  /\ UNCHANGED plans

\* CP-006, CL-006, LC-006: the completed file, of another type than the request. A clean has no markers, nor
\* has a restore.
CompletePlan(p) ==
  /\ p \in Planners
  /\ step[p] = "finishing" /\ CanBeDone(p, instant[p])
  /\ Goes(p, "finishing", IF p \in {"cleaning", "restorer"} THEN "finished" ELSE "completed")
  /\ Enter(instant[p], time[p], CompletedType(ServiceAction(p)), "COMPLETED")
  /\ UNCHANGED <<plans, instant>>

\* SR-001, SR-002, TL-010: a savepoint bears the instant of its write, and is never merely requested.
EnterSavepoint(p) ==
  /\ p = "savepointer"
  /\ \/ /\ Goes(p, "timed", "inflight")
        /\ instant' = [instant EXCEPT ![p] = NewestWrite(timeline)]
        /\ Enter(NewestWrite(timeline), 0, "savepoint", "INFLIGHT")
        /\ UNCHANGED plans
     \/ /\ Goes(p, "inflight", "finished")
        /\ Enter(instant[p], time[p], "savepoint", "COMPLETED")
        /\ plans' = plans \union {NameOf(instant[p], file): file \in ToSave(timeline, plans, files, instant[p])}
        /\ UNCHANGED instant

CreateInstant(p) ==
  /\ EnterWrite(p) \/ RequestPlan(p) \/ BeginPlan(p) \/ CompletePlan(p) \/ EnterSavepoint(p)
  /\ UNCHANGED <<clock, lock, crashes, files, markers, heartbeats, time, seen, left, rows>>

\* MK-001: a marker precedes its file.
PutMarker(p) ==
  /\ \/ /\ Goes(p, "inflight", "marked") /\ p \in Writers
        /\ markers' = markers \union {[instant |-> instant[p], day |-> DayOf(KeyOf(p))]}
     \/ /\ Goes(p, "marking", "writing")
        /\ markers' = markers \union {[instant |-> instant[p], day |-> FirstGroup(Unwritten(p, instant[p])).day]}
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, heartbeats, plans, instant, time, seen, left, rows>>

\* @type: (Str, $group, Str, Set($row)) => Bool;
PutFile(p, group, kind, held) ==
  /\ files' = files \union {[
       day |-> group.day, since |-> group.since, instant |-> instant[p], kind |-> kind, rows |-> held]}
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, plans, instant, time, seen, left, rows>>

\* What a service makes of the next group of its plan.
PutNext(p, kind) ==
  LET unwritten == Unwritten(p, instant[p]) IN
  /\ step[p] = "writing"
  /\ Goes(p, "writing", IF Cardinality(unwritten) = 1 THEN "prepared" ELSE "marking")
  /\ PutFile(p, FirstGroup(unwritten), kind, RowsToWrite(p, instant[p], FirstGroup(unwritten)))

\* OW-016: a log beside the group's base file. LC-001: so does a log compaction.
PutLogFile(p) ==
  \/ /\ TableType = "MERGE_ON_READ"
     /\ Goes(p, "marked", "staged") /\ ~MissesItsSnapshot(p)
     /\ PutFile(p, GroupOfWrite(p), "log", {RowOf(p)})
  \/ p = "logcompaction" /\ PutNext(p, "log")

\* OW-015: a write carries over the group's other rows. CP-004, CL-004: a service all of them.
PutBaseFile(p) ==
  \/ /\ TableType = "COPY_ON_WRITE"
     /\ Goes(p, "marked", "staged") /\ ~MissesItsSnapshot(p)
     /\ LET known == Known(seen[p])
            old == RowsOf(known, SnapshotSlice(known, files, GroupOfWrite(p)))
        IN PutFile(p, GroupOfWrite(p), "base", {row \in old: row.key # KeyOf(p)} \union {RowOf(p)})
  \/ p # "logcompaction" /\ PutNext(p, "base")

\* CN-012, MK-003: what is to go goes one after the other; a file that is not there is no failure.
RemoveNext(p) ==
  LET going == ToRemove(p, instant[p])
      there == {one \in going: \E file \in files: file.day = one.day /\ file.instant = one.since}
      \* @type: $group => Bool;
      IsLast(one) == \A other \in going: ComesBefore(other.day, other.since, one.day, one.since)
      next == IF there = {} THEN CHOOSE one \in going: IsLast(one) ELSE FirstGroup(there)
  IN
  /\ files' = {file \in files: ~(file.day = next.day /\ file.instant = next.since)}
  /\ Goes(p, "removing", IF ~IsLast(next) THEN "removing" ELSE IF p = "cleaning" THEN "prepared" ELSE "marking")

\* SR-006: of an action that is undone the completed entry goes first, then its files, then its other entries.
FilesToUndo == {file \in files: file.instant = NextToUndo}

Unpublishes == NextToUndo \in CompletedInstants(timeline) /\ "a restore unpublishes before it deletes" \in Rules

\* OW-009: who is refused takes back the file that its marker announces.
DeleteDataFile(p) ==
  /\ \/ /\ Goes(p, "refused", "files gone")
        /\ files' = {file \in files: file.instant # instant[p]}
     \/ step[p] = "removing" /\ RemoveNext(p)
     \/ /\ step[p] = "undoing" /\ LeftToUndo # {} /\ ~Unpublishes /\ FilesToUndo # {}
        /\ Goes(p, "undoing", "undoing")
        /\ files' = {file \in files: file \notin FilesToUndo \/ GroupOf(file) # FirstGroup(GroupsOf(FilesToUndo))}
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, plans, instant, time, seen, left, rows>>

\* MK-004: when the action has completed. OW-009, OW-011: or is given up.
DeleteMarkers(p) ==
  /\ \/ Goes(p, "completed", IF p \in Writers THEN "unmarked" ELSE "finished")
     \/ Goes(p, "files gone", "withdrawing")
     \/ step[p] = "begun" /\ GivesUp(p) /\ Goes(p, "begun", "withdrawing")
     \/ step[p] = "marked" /\ MissesItsSnapshot(p) /\ Goes(p, "marked", "withdrawing")
  /\ markers' = {marker \in markers: marker.instant # instant[p]}
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, heartbeats, plans, instant, time, seen, left, rows>>

\* OW-009: the highest state first.
DeleteInstant(p) ==
  LET one == IF step[p] = "undoing" THEN NextToUndo ELSE instant[p]
      highest == StateIn(timeline, one)
  IN
  /\ \/ Goes(p, "withdrawing", IF highest = "INFLIGHT" THEN "withdrawing" ELSE "withdrawn")
     \/ step[p] = "undoing" /\ LeftToUndo # {} /\ (Unpublishes \/ FilesToUndo = {}) /\ Goes(p, "undoing", "undoing")
  /\ timeline' = {file \in timeline: ~(file.requested = one /\ file.state = highest)}
  /\ UNCHANGED <<clock, lock, crashes, files, markers, heartbeats, plans, instant, time, seen, left, rows>>

\* A service that finds nothing to plan any more, or that has finished, or cannot.
EndService(p) ==
  /\ p \in Services
  /\ \/ p \in Planners /\ step[p] = "timed" /\ ToPlan(p, time[p]) = {} /\ Goes(p, "timed", "done")
     \/ p \in Planners /\ step[p] = "finishing" /\ ~CanBeDone(p, instant[p]) /\ Goes(p, "finishing", "done")
     \/ Goes(p, "finished", "done")
  /\ instant' = [instant EXCEPT ![p] = 0]

ReleaseLock(p) ==
  /\ \/ EndService(p)
     \/ /\ \/ Goes(p, "requested", IF p \in Writers THEN "begun" ELSE "planned")
           \/ p \in Writers /\ Goes(p, "finished", "done")
           \/ p \in Writers /\ step[p] = "finishing" /\ InConflict(p) /\ Goes(p, "finishing", "refused")
        /\ UNCHANGED instant
  /\ lock' = IF lock = p THEN "nobody" ELSE lock
  /\ time' = [time EXCEPT ![p] = 0]
  /\ UNCHANGED <<clock, crashes, timeline, files, markers, heartbeats, plans, seen, left, rows>>

\* LK-002: the lease of a failed process ends, its heartbeat expires. CP-002: a service begins anew, a
\* write does not.
Crash(p) ==
  LET begins == p \in Planners IN
  /\ crashes < MaxCrashes
  /\ step[p] \notin {"idle", "done", "gone", "crashed"}
  /\ crashes' = crashes + 1
  /\ step' = [step EXCEPT ![p] = IF begins THEN "idle" ELSE "crashed"]
  /\ instant' = [instant EXCEPT ![p] = IF begins THEN 0 ELSE @]
  /\ lock' = IF lock = p /\ "the lock of a failed process is freed" \in Rules THEN "nobody" ELSE lock
  /\ heartbeats' = {[one EXCEPT !.live = one.live /\ one.instant # instant[p]]: one \in heartbeats}
  /\ time' = [time EXCEPT ![p] = 0]
  /\ seen' = [seen EXCEPT ![p] = {}]
  /\ UNCHANGED <<clock, timeline, files, markers, plans, left, rows>>

-----------------------------------------------------------------------------
\* RD-001, RD-004: what has completed, and the slices to read of it.
PickSnapshot(r) ==
  /\ Goes(r, "idle", "reading")
  /\ seen' = [seen EXCEPT ![r] = CompletedInstants(timeline)]
  /\ left' = [left EXCEPT ![r] =
       {[day |-> group.day, since |-> group.since, base |-> NewestBase(timeline, files, group)]:
        group \in LiveGroupsOf(timeline)}]
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, markers, heartbeats, plans, instant, time, rows>>

\* RD-011: a reader that misses a file of its snapshot gives up.
ReadSlice(r) ==
  /\ step[r] = "reading"
  /\ LET group == FirstGroup({[day |-> slice.day, since |-> slice.since]: slice \in left[r]})
         next == CHOOSE slice \in left[r]: slice.day = group.day /\ slice.since = group.since
         rest == left[r] \ {next}
         there == \/ "readers keep to their snapshot" \notin Rules
                  \/ \E file \in FilesOfGroup(files, group): file.kind = "base" /\ file.instant = next.base
     IN
     /\ Goes(r, "reading", IF ~there THEN "missed" ELSE IF rest = {} THEN "done" ELSE "reading")
     /\ left' = [left EXCEPT ![r] = IF there THEN rest ELSE {}]
     /\ rows' = [rows EXCEPT ![r] = IF there THEN @ \union RowsToRead(r, next) ELSE @]
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, markers, heartbeats, plans, instant, time, seen>>

\* What a process that lives does.
Act(p) ==
  \/ TakeLock(p) \/ GenerateTime(p) \/ WriteHeartbeat(p) \/ CreateInstant(p) \/ ReleaseLock(p)
  \/ PutMarker(p) \/ PutBaseFile(p) \/ PutLogFile(p)
  \/ DeleteDataFile(p) \/ DeleteMarkers(p) \/ DeleteInstant(p)

Read(r) == PickSnapshot(r) \/ ReadSlice(r)

Next ==
  \/ \E p \in Writers \union Services: Act(p) \/ Crash(p)
  \/ \E r \in Readers: Read(r)

\* Who lives goes on. Each comes to an end after so many steps, whence it is enough that somebody does.
Fairness == WF_vars((\E p \in Writers \union Services: Act(p)) \/ (\E r \in Readers: Read(r)))

Spec == Init /\ [][Next]_vars /\ Fairness
==============================================================================
