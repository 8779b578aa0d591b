-------------------------- MODULE OptimisticWriters --------------------------
(***************************************************************************)
(* Optimistic writers of one table and readers beside them. Versions 8, 9. *)
(*                                                                         *)
(* A write begins under the lock, makes its files outside, and takes the   *)
(* lock again to finish: it looks at what has completed since it began,    *)
(* and where that has touched a file group of its own it is refused, else  *)
(* it completes. What is refused takes back all it made. A holder that is  *)
(* paused for longer than its lease lives on, and completes nothing. A     *)
(* reader picks a snapshot and reads it slice by slice while writers go on.*)
(*                                                                         *)
(* Each action is one durable effect; looking belongs to the effect that   *)
(* follows from it. Recovery describes who finishes the work of failed     *)
(* writers, NonBlockingWriters the writers that are never refused.         *)
(*                                                                         *)
(* Clauses: OW-001, OW-002, OW-003, OW-004, OW-005, OW-007, OW-009, OW-010,*)
(* OW-012, OW-015, OW-016, LK-001, LK-002, LK-003, MK-001, MK-003, MK-004, *)
(* MK-005, TM-003, TM-005, TL-003, TL-011, TL-012, TL-013, RD-001, RD-002, *)
(* RD-004.                                                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, WrittenTable

\* A process goes from one step to another.
Goes(p, from, to) == step[p] = from /\ step' = [step EXCEPT ![p] = to]

\* LK-001: the lock is given to one process. LK-003: to begin and to finish. LK-002: where its holder
\* is paused, the lease ends, and another takes it.
TakeLock(p) ==
  /\ lock \in SlowHolders \union {"nobody"} \/ "one process at a time" \notin Rules
  /\ lock' = p
  /\ \/ Goes(p, "idle", "locked")
     \/ /\ "writers finish under the lock" \in Rules
        /\ time[p] # 0 \/ "completion time under the lock" \in Rules
        /\ Goes(p, "staged", IF time[p] = 0 THEN "locked to finish" ELSE "finishing")
  /\ UNCHANGED <<clock, crashes, timeline, files, markers, heartbeats, instant, time, seen, left, rows>>

\* The rules dropped: a completion time that is generated before the lock, or without it.
TimeTooEarly(p) ==
  \/ "completion time under the lock" \notin Rules /\ time[p] = 0 /\ Goes(p, "staged", "staged")
  \/ "writers finish under the lock" \notin Rules /\ Goes(p, "staged", "finishing")

\* TM-003: greater than all that were generated before.
GenerateTime(p) ==
  /\ \/ Goes(p, "locked", "timed") \/ TimeTooEarly(p)
     \/ LooksFirst(p) /\ Goes(p, "locked to finish", "finishing")
  /\ \E next \in IF "time is never repeated" \in Rules THEN {clock + 1} ELSE {clock, clock + 1}:
       clock' = next /\ time' = [time EXCEPT ![p] = next]
  /\ UNCHANGED <<lock, crashes, timeline, files, markers, heartbeats, instant, seen, left, rows>>

\* OW-001, OW-002: the begin time is the write's instant; what has completed by now is what it builds on.
Begin(p) ==
  /\ Goes(p, "timed", "beating")
  /\ instant' = [instant EXCEPT ![p] = time[p]]
  /\ seen' = [seen EXCEPT ![p] = Completed]
  /\ heartbeats' = heartbeats \union {[instant |-> time[p], live |-> TRUE]}

StopHeartbeat(p) ==
  /\ Goes(p, "unmarked", "finished") \/ Goes(p, "withdrawn", "gone")
  /\ heartbeats' = {heartbeat \in heartbeats: heartbeat.instant # instant[p]}
  /\ UNCHANGED <<instant, seen>>

\* MK-005: the heartbeat of a write is live from before the requested file until the write has
\* completed or is taken back.
WriteHeartbeat(p) ==
  /\ Begin(p) \/ StopHeartbeat(p)
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, markers, time, left, rows>>

Enter(p, state, completed) ==
  timeline' = timeline \union {File(instant[p], completed, WriteAction, state, 0)}

\* TL-003: requested under the lock, inflight outside, completed under the lock by one whole file,
\* unless something is in its way (OW-005). From here on it counts (OW-010).
CreateInstant(p) ==
  /\ \/ Goes(p, "beating", "requested") /\ MayRequest(p) /\ Enter(p, "REQUESTED", 0)
     \/ Goes(p, "begun", "inflight") /\ Enter(p, "INFLIGHT", 0)
     \/ "no state is skipped" \notin Rules /\ Goes(p, "begun", "inflight") /\ UNCHANGED timeline
     \/ Goes(p, "finishing", "completed") /\ MayPut(p) /\ Enter(p, "COMPLETED", time[p])
  /\ UNCHANGED <<clock, lock, crashes, files, markers, heartbeats, instant, time, seen, left, rows>>

\* MK-001: the marker announces the file.
PutMarker(p) ==
  /\ Goes(p, "inflight", IF "files come before completion" \in Rules THEN "marked" ELSE "staged")
  /\ markers' = markers \union {[instant |-> instant[p], day |-> DayOf(KeyOf(p))]}
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, heartbeats, instant, time, seen, left, rows>>

\* A file appears. With the rule dropped the writer looks for conflicts now and never again.
PutFile(p, kind, held) ==
  LET group == GroupOfWrite(p)
      refused == "conflicts are looked for under the lock" \notin Rules /\ InConflict(p)
      next == IF refused THEN "refused" ELSE "staged"
  IN
  /\ Goes(p, "marked", next) \/ ("a marker precedes its file" \notin Rules /\ Goes(p, "inflight", next))
  /\ files' = files \union
       {[day |-> group.day, since |-> group.since, instant |-> instant[p], kind |-> kind, rows |-> held]}
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, instant, time, seen, left, rows>>

PutBaseFile(p) == step[p] \in {"inflight", "marked"} /\ ~WritesLog(p) /\ PutFile(p, "base", RowsOfBaseFile(p))

PutLogFile(p) == step[p] \in {"inflight", "marked"} /\ WritesLog(p) /\ PutFile(p, "log", {RowOf(p)})

\* OW-009: who is refused lets go of the lock and takes back what it made.
Refuse(p) ==
  /\ \/ step[p] = "finishing" /\ ~MayPut(p)
     \/ step[p] = "locked to finish" /\ ~LooksFirst(p)
     \/ step[p] = "beating" /\ ~MayRequest(p)
  /\ Goes(p, step[p], IF "what is refused is taken back" \in Rules THEN "refused" ELSE "gone")

ReleaseLock(p) ==
  /\ Goes(p, "requested", "begun") \/ Goes(p, "finished", "done") \/ Refuse(p)
  /\ lock' = IF lock = p /\ "the lock is released" \in Rules THEN "nobody" ELSE lock
  /\ time' = [time EXCEPT ![p] = 0]
  /\ UNCHANGED <<clock, crashes, timeline, files, markers, heartbeats, instant, seen, left, rows>>

IsMarked(p) == \E marker \in markers: marker.instant = instant[p]

\* OW-009, MK-003: first the file goes that the marker announces,
DeleteDataFile(p) ==
  /\ {"markers name what to remove", "a refused write is withdrawn to its end"} \subseteq Rules
  /\ IsMarked(p)
  /\ Goes(p, "refused", "files gone")
  /\ files' = {file \in files: [instant |-> file.instant, day |-> file.day] \notin
                 {marker \in markers: marker.instant = instant[p]}}
  /\ UNCHANGED <<clock, lock, crashes, timeline, markers, heartbeats, instant, time, seen, left, rows>>

\* then the marker, then the instant, then the heartbeat. MK-004: or else after the completed file. Who was
\* refused before the request has none of these but a heartbeat.
DeleteMarkers(p) ==
  /\ \/ Goes(p, "completed", "unmarked")
     \/ Goes(p, "files gone", "withdrawing")
     \/ ~IsMarked(p) /\ Goes(p, "refused", IF FilesOf(timeline, instant[p]) = {} THEN "withdrawn" ELSE "withdrawing")
     \/ "markers name what to remove" \notin Rules /\ Goes(p, "refused", "withdrawing")
  /\ markers' = {marker \in markers: marker.instant # instant[p]}
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, heartbeats, instant, time, seen, left, rows>>

\* The highest state first, so that what is there of an instant is always a beginning.
DeleteInstant(p) ==
  LET highest == StateIn(timeline, instant[p]) IN
  /\ Goes(p, "withdrawing", IF highest = "INFLIGHT" THEN "withdrawing" ELSE "withdrawn")
  /\ timeline' = timeline \ {file \in FilesOf(timeline, instant[p]): file.state = highest}
  /\ UNCHANGED <<clock, lock, crashes, files, markers, heartbeats, instant, time, seen, left, rows>>

\* LK-002: the lease of a failed process ends; its heartbeat expires.
Crash(p) ==
  /\ crashes < MaxCrashes
  /\ step[p] \notin {"idle", "done", "gone", "crashed"}
  /\ crashes' = crashes + 1
  /\ step' = [step EXCEPT ![p] = "crashed"]
  /\ lock' = IF lock = p /\ "the lock of a failed process is freed" \in Rules THEN "nobody" ELSE lock
  /\ heartbeats' = {[one EXCEPT !.live = one.live /\ one.instant # instant[p]]: one \in heartbeats}
  /\ time' = [time EXCEPT ![p] = 0]
  /\ seen' = [seen EXCEPT ![p] = {}]
  /\ UNCHANGED <<clock, timeline, files, markers, instant, left, rows>>

-----------------------------------------------------------------------------
\* RD-001: every action that has completed, and nothing of others.
PickSnapshot(r) ==
  /\ Goes(r, "idle", "reading")
  /\ seen' = [seen EXCEPT ![r] = Completed]
  /\ left' = [left EXCEPT ![r] =
       SlicesOf(TimelineUpTo(Completed, "uncommitted files do not count"), GroupsOf(files))]
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, markers, heartbeats, instant, time, rows>>

\* What a reader goes by when it comes to the next slice. With the rule dropped it looks anew.
KnownToReader(r) ==
  TimelineUpTo(IF "readers keep to their snapshot" \in Rules THEN seen[r] ELSE Completed,
               "uncommitted files do not count")

\* The slices in the order of their days.
ReadSlice(r) ==
  LET known == KnownToReader(r)
      slices == SlicesOf(known, {GroupToRead(slice): slice \in left[r]})
  IN
  /\ step[r] = "reading"
  /\ \E slice \in slices:
       /\ \A other \in slices: slice.day = "d1" \/ other.day = "d2"
       /\ rows' = [rows EXCEPT ![r] = @ \union RowsOfGroup(known, GroupToRead(slice))]
       /\ left' = [left EXCEPT ![r] = slices \ {slice}]
       /\ Goes(r, "reading", IF slices = {slice} THEN "done" ELSE "reading")
  /\ UNCHANGED <<clock, lock, crashes, timeline, files, markers, heartbeats, instant, time, seen>>

\* What a writer does that has not crashed.
Write(p) ==
  \/ TakeLock(p) \/ GenerateTime(p) \/ WriteHeartbeat(p) \/ CreateInstant(p) \/ ReleaseLock(p)
  \/ PutMarker(p) \/ PutBaseFile(p) \/ PutLogFile(p)
  \/ DeleteDataFile(p) \/ DeleteMarkers(p) \/ DeleteInstant(p)

Read(r) == PickSnapshot(r) \/ ReadSlice(r)

Next ==
  \/ \E p \in Writers: Write(p) \/ Crash(p)
  \/ \E r \in Readers: Read(r)

Ended == {"done", "gone", "crashed"}

\* Whoever can go on from some moment on does. That is enough for the lock, too: each writer takes it twice
\* at most, so that it is free for good in the end, unless somebody keeps it.
Fairness == (\A p \in Writers: WF_vars(Write(p))) /\ (\A r \in Readers: WF_vars(Read(r)))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
Steps == {
  "idle", "locked", "timed", "beating", "requested", "begun", "inflight", "marked", "staged",
  "locked to finish", "finishing", "completed", "unmarked", "finished", "done",
  "refused", "files gone", "withdrawing", "withdrawn", "gone", "crashed", "reading"
}

TypeOK ==
  /\ clock \in Nat
  /\ lock \in Processes \union {"nobody"}
  /\ crashes \in 0..MaxCrashes
  /\ step \in [Processes -> Steps]
  /\ \A file \in timeline: file.requested \in 1..clock /\ file.completed \in 0..clock
  /\ \A file \in files: file.instant \in 1..clock /\ file.kind \in {"base", "log"}
  /\ \A p \in Processes: instant[p] \in 0..clock /\ time[p] \in 0..clock /\ seen[p] \subseteq 1..clock

\* LK-001, LK-003: a process that begins or finishes a write holds the lock. LK-002: one that is paused
\* may not know that it has lost it.
OneHolder ==
  \A p \in Writers \ SlowHolders:
    step[p] \in {"locked", "timed", "beating", "requested", "locked to finish", "finishing",
                 "completed", "unmarked", "finished"} => lock = p

\* TM-003, TL-011, TL-012: no time is given twice, and completion is later than the request.
TimesAreSound ==
  LET requested == {file.requested: file \in timeline}
      done == {file \in timeline: file.state = "COMPLETED"}
  IN
  /\ \A file \in done: file.completed > file.requested /\ file.completed \notin requested
  /\ \A file, other \in done: file.completed = other.completed => file = other
  /\ \A p, q \in Writers: (instant[p] # 0 /\ instant[p] = instant[q]) => p = q

\* TL-003: no state is skipped.
NoStateIsSkipped ==
  \A file \in timeline:
    /\ file.state = "COMPLETED" => \E before \in FilesOf(timeline, file.requested): before.state = "INFLIGHT"
    /\ file.state = "INFLIGHT" => \E before \in FilesOf(timeline, file.requested): before.state = "REQUESTED"

\* MK-001: whatever a write left behind can be found by its markers.
FilesAreMarked ==
  \A file \in files: file.instant \in Completed \/ [instant |-> file.instant, day |-> file.day] \in markers

\* OW-001, OW-005: from completion on all of a write counts, and no other write takes it back.
NothingIsLost == Serial(Completed) \subseteq RowsOfTable

\* Nor is there anything else: nothing of writes that have not completed, and no key twice.
NothingElseIsThere == RowsOfTable \subseteq Serial(Completed)

\* OW-001, RD-002: nothing counts before completion.
NothingUncommitted == \A row \in RowsOfTable: row.by \in Completed

\* RD-001, RD-004: a reader finds what had completed when it picked its snapshot, whenever it reads.
ReadersReadTheirSnapshot ==
  \A r \in Readers:
    /\ rows[r] \subseteq Serial(seen[r])
    /\ step[r] = "done" => rows[r] = Serial(seen[r])

\* TL-013: what completes later stands behind all that a reader has seen.
SnapshotsNeverChange ==
  \A r \in Readers: \A one \in Completed \ seen[r], other \in seen[r]:
    CompletionOf(timeline, one) > CompletionOf(timeline, other)

\* OW-009: nothing is left of a refused write. MK-004, MK-005: nor what a completed one needed on the way.
NothingIsLeft ==
  \A p \in Writers:
    /\ step[p] = "gone" =>
         FilesOf(timeline, instant[p]) = {} /\ \A file \in files: file.instant # instant[p]
    /\ step[p] \in {"gone", "done"} =>
         /\ \A marker \in markers: marker.instant # instant[p]
         /\ \A heartbeat \in heartbeats: heartbeat.instant # instant[p]

\* LK-002, LK-003: only the holder of the lock completes a write.
OnlyHoldersComplete ==
  [][\A p \in Writers: (step[p] = "finishing" /\ step'[p] = "completed") => lock = p]_vars

\* What users rely on: a commit counts whole or not at all, readers read a prefix of them (AtomicTable).
IsAtomic == Atomic!Spec
SnapshotsArePrefixes == Atomic!SnapshotsArePrefixes

\* Every writer that lives completes or is refused, every reader comes to its end.
EveryoneEnds == \A p \in Processes: <>(step[p] \in Ended)

\* What can happen: a must-fail configuration shows it for each of these.
NobodyIsRefused == \A p \in Writers: step[p] # "refused"
NobodyIsLate == \A p \in SlowHolders: step[p] = "finishing" => lock = p
RequestsCompleteInOrder ==
  \A file, other \in {one \in timeline: one.state = "COMPLETED"}:
    file.requested < other.requested => file.completed < other.completed
NoReaderIsOvertaken == \A r \in Readers: step[r] = "reading" => seen[r] = Completed
=============================================================================
