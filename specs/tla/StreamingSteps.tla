--------------------------- MODULE StreamingSteps ----------------------------
(***************************************************************************)
(* How writers that do not wait for each other, compactions and readers go *)
(* on, one durable effect at a time. NonBlockingWriters says what holds.   *)
(*                                                                         *)
(* Clauses: CP-001, CP-002, CP-006, CP-009, CP-010, LK-001, LK-002,        *)
(* LK-003, LK-004, MK-001, MK-003, MK-005, OW-001, OW-002, OW-005, OW-010, *)
(* OW-016, RD-001, RD-002, RD-004, SW-003, SW-007, TL-003, TL-006, TL-013, *)
(* TM-003.                                                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, StreamedTable

-----------------------------------------------------------------------------
Init ==
  /\ clock = 2 * WritesBefore
  /\ lock = "nobody"
  /\ crashes = 0
  /\ timeline = UNION {{
       File(2 * n - 1, 0, "deltacommit", "REQUESTED", 0), File(2 * n - 1, 0, "deltacommit", "INFLIGHT", 0),
       File(2 * n - 1, 2 * n, "deltacommit", "COMPLETED", 0)}: n \in 1..WritesBefore}
  /\ files = {[day |-> DayOf(key), since |-> 1, instant |-> 2 * n - 1, kind |-> "log",
               rows |-> {Row(key, 2 * n - 1, 1)}]: key \in {"a", "b"}, n \in 1..WritesBefore}
  /\ markers = {}
  /\ heartbeats = {}
  /\ plans = {}
  /\ step = [p \in Processes |-> "idle"]
  /\ instant = [p \in Processes |-> 0]
  /\ time = [p \in Processes |-> 0]
  /\ seen = [p \in Processes |-> {}]
  /\ left = [p \in Processes |-> {}]
  /\ rows = [p \in Processes |-> {}]

\* Who wants the lock: writers to begin and to finish (LK-003), services to plan and to finish (LK-004).
WantsLock(p) ==
  \/ p \in Writers /\ step[p] = "idle"
  \/ p \in Writers /\ step[p] = "staged" /\ ("completion time under the lock" \in Rules \/ time[p] # 0)
  \/ p \in Compactions /\ step[p] = "idle" /\ "services plan under the lock" \in Rules
       /\ WaitingPlans = {} /\ WorthAPlan(timeline)
  \/ p \in Compactions /\ step[p] = "prepared"

\* LK-001. Where its rule is left out a writer has its completion time already.
TakeLock(p) ==
  /\ WantsLock(p)
  /\ lock = "nobody" \/ "one holder" \notin Rules
  /\ lock' = p
  /\ step' = [step EXCEPT ![p] =
       IF @ = "idle" THEN "locked" ELSE IF p \in Writers /\ time[p] # 0 THEN "finishing" ELSE "locked to finish"]
  /\ UNCHANGED <<clock, crashes, instant, time, timeline, files, markers, heartbeats, plans, seen, left, rows>>

\* Who needs a time. The last two need the lock first, and do not wait for it where their rule is left
\* out.
NeedsTime(p) ==
  \/ step[p] \in {"locked", "locked to finish"}
  \/ p \in Writers /\ step[p] = "staged" /\ time[p] = 0 /\ "completion time under the lock" \notin Rules
  \/ p \in Compactions /\ step[p] = "idle" /\ "services plan under the lock" \notin Rules
       /\ WaitingPlans = {} /\ WorthAPlan(timeline)

\* TM-003, TL-013.
GenerateTime(p) ==
  /\ NeedsTime(p)
  /\ \E next \in IF "every time is new" \in Rules THEN {clock + 1} ELSE {clock, clock + 1}:
       /\ clock' = next
       /\ time' = [time EXCEPT ![p] = next]
  /\ step' = [step EXCEPT ![p] =
       IF @ \in {"locked", "idle"} THEN "timed" ELSE IF @ = "staged" THEN "staged" ELSE "finishing"]
  /\ UNCHANGED <<lock, crashes, instant, timeline, files, markers, heartbeats, plans, seen, left, rows>>

\* MK-005, OW-002: a write begins at the time just generated, and builds on what has completed by now.
BeginsToBeat(p) ==
  /\ p \in Writers /\ step[p] = "timed"
  /\ heartbeats' = heartbeats \union {[instant |-> time[p], live |-> TRUE]}
  /\ instant' = [instant EXCEPT ![p] = time[p]]
  /\ seen' = [seen EXCEPT ![p] = CompletedInstants(timeline)]
  /\ step' = [step EXCEPT ![p] = "beating"]

EndsToBeat(p) ==
  /\ step[p] = "unmarked" /\ p \in Writers
  /\ heartbeats' = {heartbeat \in heartbeats: heartbeat.instant # instant[p]}
  /\ step' = [step EXCEPT ![p] = "finished"]
  /\ UNCHANGED <<instant, seen>>

WriteHeartbeat(p) ==
  /\ BeginsToBeat(p) \/ EndsToBeat(p)
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, markers, plans, time, left, rows>>

-----------------------------------------------------------------------------
\* OW-001, TL-003: a write is requested inside the lock, goes inflight outside, completes inside.
RequestsWrite(p) ==
  /\ p \in Writers /\ step[p] = "beating"
  /\ timeline' = timeline \union {File(instant[p], 0, "deltacommit", "REQUESTED", 0)}
  /\ step' = [step EXCEPT ![p] = "requested"]
  /\ UNCHANGED <<instant, plans>>

StartsWrite(p) ==
  /\ p \in Writers /\ step[p] = "begun"
  /\ timeline' = timeline \union {File(instant[p], 0, "deltacommit", "INFLIGHT", 0)}
  /\ step' = [step EXCEPT ![p] = "inflight"]
  /\ UNCHANGED <<instant, plans>>

\* What an optimistic writer would refuse to complete beside: a write to its file group that
\* completed since it began (OW-005).
InConflict(p) ==
  \E mine, other \in files:
    /\ mine.instant = instant[p] /\ GroupOf(other) = GroupOf(mine) /\ other.kind = "log"
    /\ other.instant \in CompletedInstants(timeline) \ seen[p]

\* SW-003: only the lock is waited for, whatever has completed meanwhile.
MayComplete(p) == "writers check nothing of each other" \in Rules \/ ~InConflict(p)

CompletesWrite(p) ==
  /\ p \in Writers /\ step[p] = "finishing" /\ MayComplete(p)
  /\ timeline' = timeline \union {File(instant[p], time[p], "deltacommit", "COMPLETED", 0)}
  /\ step' = [step EXCEPT ![p] = "completed"]
  /\ UNCHANGED <<instant, plans>>

\* CP-002, CP-009: a plan is requested, whatever is inflight; it never changes.
RequestsPlan(p) ==
  /\ p \in Compactions /\ step[p] = "timed" /\ WorthAPlan(TimelineBefore(time[p]))
  /\ timeline' = timeline \union {Requested(time[p])}
  /\ plans' = plans \union PlanOf(time[p], TimelineBefore(time[p]))
  /\ instant' = [instant EXCEPT ![p] = time[p]]
  /\ step' = [step EXCEPT ![p] = IF "services plan under the lock" \in Rules THEN "requested" ELSE "planned"]

\* CP-002: the planner or another begins, or begins anew: what the markers of a failed attempt
\* announce goes first (CP-010).
StartsPlan(p, plan) ==
  /\ timeline' = timeline \union {File(plan, 0, "compaction", "INFLIGHT", 0)}
  /\ instant' = [instant EXCEPT ![p] = plan]
  /\ step' = [step EXCEPT ![p] = IF \E marker \in markers: marker.instant = plan THEN "removing" ELSE "marking"]
  /\ UNCHANGED plans

StartsItsPlan(p) == step[p] = "planned" /\ StartsPlan(p, instant[p])

TakesUpPlan(p) ==
  /\ p \in Compactions /\ step[p] = "idle" /\ WaitingPlans # {}
  /\ StartsPlan(p, CHOOSE plan \in WaitingPlans: \A other \in WaitingPlans: plan <= other)

\* CP-006, TL-006: from its commit on the base files count.
CompletesPlan(p) ==
  /\ p \in Compactions /\ step[p] = "finishing" /\ instant[p] \notin CompletedInstants(timeline)
  /\ timeline' = timeline \union {File(instant[p], time[p], CompletedType("compaction"), "COMPLETED", 0)}
  /\ step' = [step EXCEPT ![p] = "completed"]
  /\ UNCHANGED <<instant, plans>>

CreateInstant(p) ==
  /\ \/ RequestsWrite(p) \/ StartsWrite(p) \/ CompletesWrite(p)
     \/ RequestsPlan(p) \/ StartsItsPlan(p) \/ TakesUpPlan(p) \/ CompletesPlan(p)
  /\ UNCHANGED <<clock, lock, crashes, files, markers, heartbeats, time, seen, left, rows>>

-----------------------------------------------------------------------------
\* MK-001: the marker comes before the file.
PutMarker(p) ==
  /\ \/ /\ step[p] = "inflight"
        /\ markers' = markers \union {[instant |-> instant[p], day |-> DayOf(KeyOf(p))]}
        /\ step' = [step EXCEPT ![p] = "marked"]
     \/ /\ step[p] = "marking" /\ LeftToCompact(p) # {}
        /\ markers' = markers \union {[instant |-> instant[p], day |-> First(LeftToCompact(p)).day]}
        /\ step' = [step EXCEPT ![p] = "writing"]
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, heartbeats, plans, instant, time, seen, left, rows>>

\* OW-016, SW-007: a log file of its own, named after its own instant.
PutLogFile(p) ==
  /\ step[p] = "marked"
  /\ LET group == GroupFor(p) IN
     files' = files \union
       {[day |-> group.day, since |-> group.since, instant |-> instant[p], kind |-> "log", rows |-> {RowOf(p)}]}
  /\ step' = [step EXCEPT ![p] = "staged"]
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, plans, instant, time, seen, left, rows>>

\* CP-001: one base file for each group of the plan.
PutBaseFile(p) ==
  /\ step[p] = "writing" /\ LeftToCompact(p) # {}
  /\ LET group == First(LeftToCompact(p)) IN
     /\ files' = files \union {[day |-> group.day, since |-> group.since, instant |-> instant[p], kind |-> "base",
                                rows |-> CompactedRows(TakenBy(p, group))]}
     /\ step' = [step EXCEPT ![p] = IF LeftToCompact(p) = {group} THEN "prepared" ELSE "marking"]
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, plans, instant, time, seen, left, rows>>

\* CP-010, MK-003: the files that were announced go, one after the other; the last may never have come.
DeleteDataFile(p) ==
  LET announced == {marker.day: marker \in {one \in markers: one.instant = instant[p]}}
      there == {file \in files: file.instant = instant[p] /\ file.day \in announced}
  IN
  /\ step[p] = "removing"
  /\ IF there = {} THEN UNCHANGED files
     ELSE files' = {file \in files: ~(file \in there /\ GroupOf(file) = First(GroupsOf(there)))}
  /\ step' = [step EXCEPT ![p] =
       IF there = {} \/ First(GroupsOf(there)).day = "d2" \/ Cardinality(announced) = 1 THEN "marking" ELSE "removing"]
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, plans, instant, time, seen, left, rows>>

\* OW-010: the markers go once the action has completed.
DeleteMarkers(p) ==
  /\ step[p] = "completed"
  /\ markers' = {marker \in markers: marker.instant # instant[p]}
  /\ step' = [step EXCEPT ![p] = IF p \in Writers THEN "unmarked" ELSE "finished"]
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, heartbeats, plans, instant, time, seen, left, rows>>

\* What follows within the same lock is done, or there is nothing to do.
ReleasesTo(p) ==
  CASE p \in Writers /\ step[p] = "requested" -> "begun"
    [] p \in Compactions /\ step[p] = "requested" -> "planned"
    [] p \in Writers /\ step[p] = "finishing" -> "refused"
    [] OTHER -> "done"

ReleaseLock(p) ==
  /\ \/ step[p] \in {"requested", "finished"}
     \/ p \in Writers /\ step[p] = "finishing" /\ ~MayComplete(p)
     \/ p \in Compactions /\ step[p] = "timed" /\ ~WorthAPlan(TimelineBefore(time[p]))
     \/ p \in Compactions /\ step[p] = "finishing" /\ instant[p] \in CompletedInstants(timeline)
  /\ lock' = IF lock = p THEN "nobody" ELSE lock
  /\ step' = [step EXCEPT ![p] = ReleasesTo(p)]
  /\ time' = [time EXCEPT ![p] = 0]
  /\ instant' = [instant EXCEPT ![p] = IF p \in Compactions /\ ReleasesTo(p) = "done" THEN 0 ELSE @]
  /\ UNCHANGED <<clock, crashes, timeline, files, markers, heartbeats, plans, seen, left, rows>>

-----------------------------------------------------------------------------
\* @type: (Set($file), Set($group)) => Set($slice);
SlicesOf(known, groups) ==
  {[day |-> group.day, since |-> group.since, base |-> BaseInstant(SliceOf(known, group))]: group \in groups}

\* RD-001, RD-004: what has completed by now is read, slice by slice, and nothing that completes later.
PickSnapshot(p) ==
  /\ p \in Readers /\ step[p] = "idle"
  /\ seen' = [seen EXCEPT ![p] = CompletedInstants(timeline)]
  /\ left' = [left EXCEPT ![p] = SlicesOf(timeline, ReadGroups(timeline))]
  /\ step' = [step EXCEPT ![p] = IF ReadGroups(timeline) = {} THEN "done" ELSE "reading"]
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, markers, heartbeats, plans, instant, time, rows>>

\* RD-002, RD-004: the files of the slice as the snapshot has it, whatever has come since.
ReadSlice(p) ==
  LET known == IF "a snapshot is fixed when it is picked" \in Rules THEN TimelineOf(seen[p]) ELSE timeline
      groups == {[day |-> one.day, since |-> one.since]: one \in left[p]}
  IN
  /\ step[p] = "reading"
  /\ rows' = [rows EXCEPT ![p] = @ \union RowsOf(known, SliceOf(known, First(groups)))]
  /\ left' = [left EXCEPT ![p] =
       IF "a snapshot is fixed when it is picked" \in Rules
       THEN {one \in @: [day |-> one.day, since |-> one.since] # First(groups)}
       ELSE SlicesOf(timeline, groups \ {First(groups)})]
  /\ step' = [step EXCEPT ![p] = IF Cardinality(groups) = 1 THEN "done" ELSE "reading"]
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, markers, heartbeats, plans, instant, time, seen>>

\* A process crashes: what it made stays, its lock is free (LK-002), its heartbeat expires. A service
\* comes back without memory, a write does not.
Crash(p) ==
  /\ crashes < MaxCrashes
  /\ p \notin Readers /\ step[p] \notin {"idle", "done", "crashed"}
  /\ crashes' = crashes + 1
  /\ lock' = IF lock = p /\ "the lock of a failed process is free" \in Rules THEN "nobody" ELSE lock
  /\ heartbeats' = {[one EXCEPT !.live = @ /\ one.instant # instant[p]]: one \in heartbeats}
  /\ step' = [step EXCEPT ![p] = IF p \in Writers THEN "crashed" ELSE "idle"]
  /\ instant' = [instant EXCEPT ![p] = IF p \in Writers THEN @ ELSE 0]
  /\ time' = [time EXCEPT ![p] = 0]
  /\ seen' = [seen EXCEPT ![p] = {}]
  /\ UNCHANGED <<clock, timeline, files, markers, plans, left, rows>>

Works(p) ==
  \/ GenerateTime(p) \/ WriteHeartbeat(p) \/ CreateInstant(p) \/ PutMarker(p) \/ PutLogFile(p) \/ PutBaseFile(p)
  \/ DeleteDataFile(p) \/ DeleteMarkers(p) \/ ReleaseLock(p)

Reads(p) == PickSnapshot(p) \/ ReadSlice(p)

Next == \E p \in Processes: TakeLock(p) \/ Works(p) \/ Reads(p) \/ Crash(p)

\* A process that can go on does, and one that requests the lock again and again gets it.
Fairness == \A p \in Processes: WF_vars(Works(p)) /\ SF_vars(TakeLock(p))

Spec == Init /\ [][Next]_vars /\ Fairness
==============================================================================
