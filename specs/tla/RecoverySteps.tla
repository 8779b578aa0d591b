---------------------------- MODULE RecoverySteps ----------------------------
(***************************************************************************)
(* How writers, those who crash among them, rollbacks and readers go on,   *)
(* one durable effect at a time. Recovery says what holds meanwhile.       *)
(*                                                                         *)
(* Clauses: LK-001, LK-002, LK-003, LK-004, MK-001, MK-003, MK-004,        *)
(* MK-005, OW-001, OW-008, OW-009, RB-002, RB-003, RB-004, RB-006, RB-009, *)
(* RB-010, SA-003, SA-004, TL-017.                                         *)
(***************************************************************************)
EXTENDS FailedWrites

-----------------------------------------------------------------------------
FirstTimes == {2 * number - 1: number \in 1..WritesBefore}

FirstTimeline ==
  UNION {{File(one, 0, "commit", "REQUESTED", 0), File(one, 0, "commit", "INFLIGHT", 0),
          File(one, one + 1, "commit", "COMPLETED", 0)}: one \in FirstTimes}

FirstFiles ==
  {[day |-> DayOf(key), since |-> 1, instant |-> one, kind |-> "base", rows |-> {Row(key, one, 1)}]:
   one \in FirstTimes, key \in {"a", "b"}}

Init ==
  /\ clock = 2 * WritesBefore
  /\ lock = "nobody"
  /\ crashes = 0
  /\ timeline = FirstTimeline
  /\ files = FirstFiles
  /\ markers = {}
  /\ heartbeats = {}
  /\ doomed = {}
  /\ step = [p \in Processes |-> "idle"]
  /\ instant = [p \in Processes |-> 0]
  /\ time = [p \in Processes |-> 0]
  /\ seen = [p \in Processes |-> {}]
  /\ found = [p \in Processes |-> {}]
  /\ left = [p \in Processes |-> {}]
  /\ rows = [p \in Processes |-> {}]

\* A process goes from one step to another.
Goes(p, from, to) == step[p] = from /\ step' = [step EXCEPT ![p] = to]

\* LK-003, LK-004: to begin or to plan, and to finish. A rollback that another has completed since it
\* was planned is not carried out again.
WantsLock(p) ==
  \/ p \in Writers /\ step[p] \in {"idle", "staged"}
  \/ p \in Rollbacks /\ step[p] = "idle" /\ ToTakeUp = {} /\ ToPlan(p) # {}
  \/ p \in Rollbacks /\ step[p] = "prepared"
  \/ p \in Rollbacks /\ step[p] = "planned" /\ instant[p] \in Completed

\* LK-001: the lock is given to one process. LK-002: where its holder is paused, the lease ends, and another
\* takes it.
TakeLock(p) ==
  /\ WantsLock(p)
  /\ lock \in SlowHolders \union {"nobody"} /\ lock # p
  /\ lock' = p
  /\ Goes(p, step[p], IF step[p] = "idle" THEN "locked" ELSE "locked to finish")
  /\ UNCHANGED <<clock, crashes, table, instant, time, seen, found, left, rows>>

\* RB-004: another was faster.
IsDoneByAnother(p) == instant[p] \in Completed /\ "a rollback looks under the lock" \in Rules

\* OW-008: a writer looks whether its write is still its own, LK-004: a rollback whether it still waits. A slow
\* holder does so before it generates the time, and not again.
MayFinish(p) == IF p \in Writers THEN MayComplete(p) ELSE ~IsDoneByAnother(p)

Looks(p, first) == (p \in SlowHolders) = first => MayFinish(p)

GenerateTime(p) ==
  /\ Goes(p, "locked", "timed") \/ (Looks(p, TRUE) /\ Goes(p, "locked to finish", "finishing"))
  /\ clock' = clock + 1
  /\ time' = [time EXCEPT ![p] = clock']
  /\ seen' = [seen EXCEPT ![p] = IF step[p] = "locked" /\ p \in Rollbacks \intersect SlowHolders THEN ToPlan(p) ELSE @]
  /\ UNCHANGED <<lock, crashes, table, instant, found, left, rows>>

\* What a rollback found to be undone: a slow one when it generated its time.
ToUndo(p) == IF p \in SlowHolders THEN seen[p] ELSE ToPlan(p)

\* MK-005: the heartbeat of a write is live from before its request until it has completed or is taken
\* back; RB-010: or until a rollback has completed.
WriteHeartbeat(p) ==
  /\ \/ /\ p \in Writers /\ Goes(p, "timed", "beating")
        /\ instant' = [instant EXCEPT ![p] = time[p]]
        /\ seen' = [seen EXCEPT ![p] = Completed]
        /\ heartbeats' = heartbeats \union {[instant |-> time[p], live |-> TRUE]}
     \/ /\ Goes(p, "unmarked", "finished") \/ Goes(p, "withdrawn", "gone")
        /\ LET write == IF p \in Writers THEN instant[p] ELSE TargetOf(instant[p]) IN
           heartbeats' = {heartbeat \in heartbeats: heartbeat.instant # write}
        /\ UNCHANGED <<instant, seen>>
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, markers, doomed, time, found, left, rows>>

\* OW-001: a write is requested under the lock, inflight outside, and completes under the lock.
EnterWrite(p) ==
  /\ p \in Writers
  /\ \E state \in {"REQUESTED", "INFLIGHT", "COMPLETED"}:
       /\ \/ state = "REQUESTED" /\ Goes(p, "beating", "requested") /\ MayRequest(p)
          \/ /\ state = "INFLIGHT"
             /\ Goes(p, "begun", IF "a marker precedes its file" \in Rules /\ p \notin Unmarked THEN "inflight" ELSE "marked")
          \/ state = "COMPLETED" /\ Looks(p, FALSE) /\ MayPut(p) /\ Goes(p, "finishing", "completed")
       /\ timeline' = timeline \union {File(instant[p], IF state = "COMPLETED" THEN time[p] ELSE 0, "commit", state, 0)}
  /\ UNCHANGED <<doomed, instant, found>>

\* RB-003, LK-004: a plan that names the write and all that is to be removed, under the lock.
Plan(p) ==
  /\ p \in Rollbacks /\ MayRequest(p)
  /\ Goes(p, "timed", "requested")
  /\ \E write \in ToUndo(p):
       /\ timeline' = timeline \union {File(time[p], 0, "rollback", "REQUESTED", write)}
       /\ doomed' = doomed \union PlanOf(time[p], write)
  /\ instant' = [instant EXCEPT ![p] = time[p]]
  /\ UNCHANGED found

\* RB-004: the plan is carried out, by who made it or by another who finds it waiting.
CarryOut(p, rollback) ==
  LET target == TargetOf(rollback)
      states == IF "entries go before the rollback completes" \in Rules THEN StatesOf(target) ELSE {}
  IN
  /\ Goes(p, step[p], IF HasFilesToRemove(rollback) /\ FilesGoFirst THEN "removing" ELSE AfterFiles(states))
  /\ timeline' = timeline \union {File(rollback, 0, "rollback", "INFLIGHT", target)}
  /\ instant' = [instant EXCEPT ![p] = rollback]
  /\ found' = [found EXCEPT ![p] = states]
  /\ UNCHANGED doomed

TakeUp(p) ==
  /\ p \in Rollbacks
  /\ \E rollback \in PendingRollbacks:
       /\ \/ step[p] = "planned" /\ rollback = instant[p]
          \/ step[p] = "idle" /\ rollback \in ToTakeUp
       /\ CarryOut(p, rollback)

\* RB-009, TL-017: a slow writer may have gone on meanwhile; nothing of the write is left when the
\* rollback completes.
LeftToTakeBack(p) ==
  IF "entries go before the rollback completes" \in Rules THEN StatesOf(TargetOf(instant[p])) ELSE {}

CompleteRollback(p) ==
  /\ p \in Rollbacks /\ MayPut(p)
  /\ \/ step[p] = "finishing" /\ Looks(p, FALSE) /\ LeftToTakeBack(p) = {}
     \/ step[p] = "metadata committed"
  /\ Goes(p, step[p], IF ~FilesGoFirst /\ HasFilesToRemove(instant[p]) THEN "removing" ELSE "completed")
  /\ timeline' = timeline \union {File(instant[p], time[p], "rollback", "COMPLETED", TargetOf(instant[p]))}
  /\ UNCHANGED <<doomed, instant, found>>

CreateInstant(p) ==
  /\ EnterWrite(p) \/ Plan(p) \/ TakeUp(p) \/ CompleteRollback(p)
  /\ UNCHANGED <<clock, lock, crashes, files, markers, heartbeats, time, seen, left, rows>>

\* MK-001: the marker announces the file.
PutMarker(p) ==
  /\ Goes(p, "inflight", IF "a marker precedes its file" \in Rules THEN "marked" ELSE "staged")
  /\ markers' = markers \union {[instant |-> instant[p], day |-> DayOf(KeyOf(p))]}
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, heartbeats, doomed, instant, time, seen, found, left, rows>>

PutBaseFile(p) ==
  LET group == GroupOfWrite(p) IN
  /\ Goes(p, "marked", IF "a marker precedes its file" \in Rules \/ p \in Unmarked THEN "staged" ELSE "inflight")
  /\ files' = files \union {[day |-> group.day, since |-> group.since, instant |-> instant[p], kind |-> "base",
                             rows |-> RowsOfBaseFile(p)]}
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, doomed, instant, time, seen, found, left, rows>>

\* OW-009: who is refused takes back what it made: a writer that found its write no more its own, or that is late.
Refuse(p) ==
  /\ p \in Writers
  /\ \/ step[p] = "beating" /\ ~MayRequest(p)
     \/ step[p] = "locked to finish" /\ ~Looks(p, TRUE)
     \/ step[p] = "finishing" /\ ~(Looks(p, FALSE) /\ MayPut(p))
  /\ Goes(p, step[p], "refused")

\* A rollback has nothing to do where others did it meanwhile. One that is late begins anew, or takes the lock again.
GiveWay(p) ==
  /\ p \in Rollbacks
  /\ \/ ToUndo(p) = {} /\ Goes(p, "timed", "done")
     \/ ToUndo(p) # {} /\ ~MayRequest(p) /\ Goes(p, "timed", "idle")
     \/ step[p] = "locked to finish" /\ ~Looks(p, TRUE) /\ Goes(p, step[p], "done")
     \/ step[p] = "finishing" /\ ~Looks(p, FALSE) /\ Goes(p, step[p], "done")
     \/ step[p] \in {"finishing", "metadata committed"} /\ ~MayPut(p) /\ Goes(p, step[p], "prepared")

ReleaseLock(p) ==
  /\ \/ Goes(p, "requested", IF p \in Writers THEN "begun" ELSE "planned") \/ Goes(p, "finished", "done")
     \/ Refuse(p) \/ GiveWay(p)
  /\ lock' = IF lock = p /\ "the lock is released" \in Rules THEN "nobody" ELSE lock
  /\ time' = [time EXCEPT ![p] = 0]
  /\ instant' = [instant EXCEPT ![p] = IF p \in Rollbacks /\ step'[p] = "done" THEN 0 ELSE @]
  /\ UNCHANGED <<clock, crashes, table, seen, found, left, rows>>

\* MK-003: what the writer's markers announce.
\* @type: ($data, Int) => Bool;
IsAnnounced(file, write) ==
  file.instant = write /\ [instant |-> write, day |-> file.day] \in markers

\* RB-006: what the plan names; SA-004: be it there or not.
\* @type: ($data, Int) => Bool;
IsDoomed(file, rollback) ==
  [requested |-> rollback, day |-> file.day, since |-> file.since, instant |-> file.instant, kind |-> file.kind] \in doomed

HasMarkers(p) == \E marker \in markers: marker.instant = instant[p]

\* OW-009: the files of who is refused go first. RB-009: so do those of a plan.
DeleteDataFile(p) ==
  /\ \/ /\ p \in Writers /\ HasMarkers(p) /\ Goes(p, "refused", "files gone")
        /\ files' = {file \in files: ~IsAnnounced(file, instant[p])}
        /\ found' = [found EXCEPT ![p] = StatesOf(instant[p])]
     \/ /\ Goes(p, "removing", IF lock = p THEN "completed" ELSE AfterFiles(found[p]))
        /\ files' = {file \in files: ~IsDoomed(file, instant[p])}
        /\ UNCHANGED found
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, doomed, instant, time, seen, left, rows>>

\* OW-009: a refused write's markers go before its instant. MK-004, RB-010: others go after completion.
WithdrawMarkers(p) ==
  LET states == IF step[p] = "files gone" THEN found[p] ELSE StatesOf(instant[p]) IN
  /\ \/ step[p] = "files gone"
     \/ step[p] = "refused" /\ ~HasMarkers(p)
  /\ Goes(p, step[p], IF states = {} THEN "withdrawn" ELSE "withdrawing")
  /\ found' = [found EXCEPT ![p] = states]

DeleteMarkers(p) ==
  /\ WithdrawMarkers(p) \/ (Goes(p, "completed", "unmarked") /\ UNCHANGED found)
  /\ markers' = {marker \in markers: marker.instant # IF p \in Writers THEN instant[p] ELSE TargetOf(instant[p])}
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, heartbeats, doomed, instant, time, seen, left, rows>>

\* RB-009: the entries of a write, as its writer or a rollback found them; under the lock what is
\* still there.
DeleteInstant(p) ==
  LET again == p \in Rollbacks /\ step[p] = "finishing" /\ Looks(p, FALSE)
      states == IF again THEN LeftToTakeBack(p) ELSE found[p]
      write == IF p \in Writers THEN instant[p] ELSE TargetOf(instant[p])
      rest == states \ {FirstToGo(states)}
  IN
  /\ step[p] \in {"withdrawing", "taking back"} \/ (again /\ states # {})
  /\ Goes(p, step[p], IF p \in Writers THEN (IF rest = {} THEN "withdrawn" ELSE "withdrawing")
                      ELSE IF lock = p THEN (IF rest = {} THEN "metadata committed" ELSE "taking back")
                      ELSE AfterFiles(rest))
  /\ timeline' = {file \in timeline: ~(file.requested = write /\ file.state = FirstToGo(states))}
  /\ found' = [found EXCEPT ![p] = rest]
  /\ UNCHANGED <<clock, lock, crashes, files, markers, heartbeats, doomed, instant, time, seen, left, rows>>

\* SA-003: what was done stays. LK-002: the lease ends; RB-002: the heartbeat expires. A rollback
\* begins anew, a write does not.
Crash(p) ==
  /\ crashes < MaxCrashes
  /\ step[p] \notin {"idle", "done", "gone", "crashed"}
  /\ crashes' = crashes + 1
  /\ step' = [step EXCEPT ![p] = IF p \in Writers THEN "crashed" ELSE "idle"]
  /\ lock' = IF lock = p /\ "the lock of a failed process is freed" \in Rules THEN "nobody" ELSE lock
  /\ heartbeats' = IF "the heartbeat of a failed write expires" \in Rules
                   THEN {[one EXCEPT !.live = one.live /\ one.instant # instant[p]]: one \in heartbeats}
                   ELSE heartbeats
  /\ instant' = [instant EXCEPT ![p] = IF p \in Writers THEN @ ELSE 0]
  /\ time' = [time EXCEPT ![p] = 0]
  /\ seen' = [seen EXCEPT ![p] = {}]
  /\ found' = [found EXCEPT ![p] = {}]
  /\ UNCHANGED <<clock, timeline, files, markers, doomed, left, rows>>

-----------------------------------------------------------------------------
\* Readers take no lock: what has completed, slice by slice in the order of the days.

\* The group that a slice is of.
\* @type: $slice => $group;
GroupToRead(slice) == [day |-> slice.day, since |-> slice.since]

PickSnapshot(r) ==
  /\ Goes(r, "idle", "reading")
  /\ seen' = [seen EXCEPT ![r] = Completed]
  /\ left' = [left EXCEPT ![r] =
       {[day |-> group.day, since |-> group.since, base |-> NewestBase(KnownByNow, files, group)]:
        group \in {group \in GroupsOf(files): SnapshotSlice(KnownByNow, files, group) # {}}}]
  /\ UNCHANGED <<clock, lock, crashes, table, instant, time, found, rows>>

ReadSlice(r) ==
  /\ step[r] = "reading"
  /\ \E slice \in left[r]:
       /\ \A other \in left[r]: slice.day = "d1" \/ other.day = "d2"
       /\ rows' = [rows EXCEPT ![r] = @ \union RowsOfGroup(Known(seen[r]), GroupToRead(slice))]
       /\ left' = [left EXCEPT ![r] = @ \ {slice}]
       /\ Goes(r, "reading", IF left[r] = {slice} THEN "done" ELSE "reading")
  /\ UNCHANGED <<clock, lock, crashes, table, instant, time, seen, found>>

Next ==
  \/ \E p \in Writers \union Rollbacks:
       \/ TakeLock(p) \/ GenerateTime(p) \/ WriteHeartbeat(p) \/ CreateInstant(p) \/ ReleaseLock(p)
       \/ DeleteDataFile(p) \/ DeleteMarkers(p) \/ DeleteInstant(p) \/ Crash(p)
  \/ \E p \in Writers: PutMarker(p) \/ PutBaseFile(p)
  \/ \E r \in Readers: PickSnapshot(r) \/ ReadSlice(r)

\* A process that has not failed goes on, and one that waits for a lock that is free again and again gets it.
GoOn(p) ==
  \/ GenerateTime(p) \/ WriteHeartbeat(p) \/ CreateInstant(p) \/ ReleaseLock(p) \/ PutMarker(p) \/ PutBaseFile(p)
  \/ DeleteDataFile(p) \/ DeleteMarkers(p) \/ DeleteInstant(p)

Fairness ==
  /\ \A p \in Writers \union Rollbacks: SF_vars(TakeLock(p)) /\ WF_vars(GoOn(p))
  /\ \A r \in Readers: WF_vars(PickSnapshot(r) \/ ReadSlice(r))

Spec == Init /\ [][Next]_vars /\ Fairness
==============================================================================
