----------------------------- MODULE ServedTable -----------------------------
(***************************************************************************)
(* A table with services: who shares it, how it begins, and what each of   *)
(* them would do next as the table stands. What they do is described in    *)
(* TableServices, which also has the rules in force.                       *)
(*                                                                         *)
(* Clauses: CP-001, CP-002, CP-003, CP-004, CP-005, CL-002, CL-004, CL-005,*)
(* CL-006, CN-001, CN-002, CN-004, CN-005, CN-006, CN-007, CN-008, CN-009, *)
(* OW-003, OW-004, OW-005, OW-006, OW-011, CP-010, MK-003, LC-001, LC-003, *)
(* LC-004, LC-010, SR-004, SR-005, SR-006.                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, SharedTable

-----------------------------------------------------------------------------
\* Plans.

\* CP-005: without the rule the newest log of a slice is forgotten.
\* @type: Set($data) => Set($data);
WholeSlices(slices) ==
  IF "a plan names every file of its slices" \in Rules THEN slices
  ELSE {file \in slices: file.kind = "base" \/
         \E other \in FilesOfGroup(slices, GroupOf(file)): other.instant > file.instant}

\* CP-003, CL-002, CP-005: groups that no other plan holds, and what had completed by the plan's instant.
\* @type: (Str, Int) => Set($data);
ToRewrite(p, requested) ==
  LET known == CompletedBy(timeline, requested)
      groups == IF "a plan leaves out groups of other plans" \in Rules
                THEN FreeGroups(known, plans, files)
                ELSE LiveGroupsOf(known)
  IN WholeSlices(
       IF p = "compaction" THEN ToCompact(known, files, groups)
       ELSE IF p = "logcompaction" THEN ToMergeLogs(known, plans, files, groups)
       ELSE ToCluster(known, files, groups))

\* SR-004: the files of what a restore undoes, once all others have come to their end.
\* @type: Str => Set($data);
ToRestore(p) ==
  IF SavedWrite(timeline) # 0 /\ \A q \in Processes \ {p}: step[q] \in {"done", "gone", "crashed"}
  THEN {file \in files: file.instant \in ToUndo(timeline)}
  ELSE {}

\* SR-005, SR-006: what is left to undo.
LeftToUndo ==
  ToUndo(timeline) \intersect
    (IF "a restore undoes pending actions" \in Rules
     THEN RequestsOf(timeline, AllActions) ELSE CompletedInstants(timeline))

\* SR-006: what is pending first, so also what has just been unpublished; then the youngest.
NextToUndo ==
  LET pending == LeftToUndo \ CompletedInstants(timeline)
      \* @type: (Int, Int) => Bool;
      isYounger(one, other) == CompletionOf(timeline, one) >= CompletionOf(timeline, other)
  IN
  IF pending # {} THEN Greatest(pending)
  ELSE IF "a restore undoes the youngest first" \in Rules
  THEN CHOOSE one \in LeftToUndo: \A other \in LeftToUndo: isYounger(one, other)
  ELSE CHOOSE one \in LeftToUndo: \A other \in LeftToUndo: isYounger(other, one)

\* CN-001, CN-002, CN-004: the slices that the policy lets go.
\* @type: (Set(Int), Int) => Set(Int);
OldSlices(slices, earliest) ==
  LET early == {one \in slices: one < earliest} IN
  IF "cleaning leaves the newest slice" \notin Rules THEN IF Policy = "versions" THEN slices ELSE early
  ELSE IF Policy = "versions" THEN slices \ Last(slices, Retained)
  ELSE IF "cleaning leaves the last slice before" \notin Rules THEN early \ Last(slices, 1)
  ELSE early \ Last(early, 1)

\* CN-005, CN-008: what a cleaner must leave.
KeptNames ==
  (IF "cleaning leaves what savepoints name" \in Rules THEN Saved(timeline, plans) ELSE {})
  \union (IF "cleaning leaves what plans read" \in Rules THEN Awaited(timeline, plans) ELSE {})

\* CN-007: a group that was replaced not long ago stays whole, until it goes whole.
\* @type: Int => Set($data);
SlicesToRemove(earliest) ==
  LET replaced == ReplacedGroups(timeline, plans)
      gone == IF "cleaning leaves replaced groups a while" \in Rules
              THEN ReplacedBefore(timeline, plans, earliest) ELSE replaced
      \* @type: $group => Set(Int);
      going(group) ==
        LET slices == SliceOpenings(timeline, plans, files, group) IN
        IF group \in gone THEN slices ELSE IF group \in replaced THEN {} ELSE OldSlices(slices, earliest)
  IN UNION {slice \in UNION {
       {SliceOpenedAt(timeline, plans, files, group, one): one \in going(group)}: group \in GroupsOf(files)}:
     ~IsNeeded(slice, KeptNames)}

\* CN-006, CN-009: one clean at a time, and only after a commit.
ToClean ==
  LET earliest == IF Policy = "commits" THEN EarliestToRetain(timeline, Retained) ELSE 0
      last == Greatest(RequestsOf(timeline, {"clean"}))
  IN
  IF \/ Pending(timeline, {"clean"}) # {}
     \/ Policy = "commits" /\ earliest = 0
     \/ \A one \in CompletedCommits(timeline): CompletionOf(timeline, one) <= last
  THEN {}
  ELSE SlicesToRemove(earliest)

\* What a service would plan at a time.
\* @type: (Str, Int) => Set($data);
ToPlan(p, requested) ==
  IF p = "cleaning" THEN ToClean ELSE IF p = "restorer" THEN ToRestore(p) ELSE ToRewrite(p, requested)

Waiting(p) == Pending(timeline, {ServiceAction(p)})

\* CP-002, CN-012: the instant of the plan to carry out: one that waits, whichever process made it.
PlanOf(p) == IF instant[p] # 0 THEN instant[p] ELSE Least(Waiting(p))

\* CP-005: what a plan names must be there. CL-005: a clustering looks whether others have written meanwhile.
CanBeDone(p, requested) ==
  \/ p \in {"cleaning", "restorer"}
  \/ /\ AllAreThere(plans, files, requested)
     /\ (p = "clustering" /\ "a clustering gives up where others wrote" \in Rules) =>
          IsAsPlanned(timeline, plans, files, requested)

\* A compaction makes a base file in each of its groups, a log compaction a log; a clustering makes one
\* group of all that it takes of a day.
\* @type: (Str, Int) => Set($group);
Targets(p, requested) ==
  IF p # "clustering" THEN GroupsNamed(plans, {requested})
  ELSE {[day |-> group.day, since |-> requested]: group \in GroupsNamed(plans, {requested})}

\* What has no file of this plan yet.
\* @type: (Str, Int) => Set($group);
Unwritten(p, requested) ==
  {group \in Targets(p, requested): \A file \in FilesOfGroup(files, group): file.instant # requested}

\* CP-004, CL-004, LC-004: the rows that a snapshot reads from the planned slices.
\* @type: (Str, Int, $group) => Set($row);
RowsToWrite(p, requested, target) ==
  UNION {RowsOf(timeline, FilesOfGroup(FilesNamed(plans, files, requested), group)):
    group \in {one \in GroupsNamed(plans, {requested}):
      IF p # "clustering" THEN one = target ELSE one.day = target.day}}

\* The files that a marker of an instant announces, or a clean is to remove; by their day and instant.
\* @type: (Str, Int) => Set($group);
ToRemove(p, requested) ==
  IF p = "cleaning"
  THEN {[day |-> name.day, since |-> name.instant]: name \in {one \in plans: one.requested = requested}}
  ELSE IF "a new attempt removes what the last left" \in Rules
  THEN {[day |-> marker.day, since |-> requested]: marker \in {one \in markers: one.instant = requested}}
  ELSE {}

\* A service wakes up where no plan of its own waits and there is something to plan.
HasToPlan(p) == p \in Planners /\ step[p] = "idle" /\ Waiting(p) = {} /\ ToPlan(p, clock) # {}

-----------------------------------------------------------------------------
\* Writes.

\* OW-003: the file group that holds the key in the snapshot that the write builds on.
GroupOfWrite(p) ==
  LET known == Known(seen[p]) IN
  CHOOSE group \in LiveGroupsOf(known):
    \E row \in RowsOf(known, SnapshotSlice(known, files, group)): row.key = KeyOf(p)

\* RD-011: a file of the snapshot is gone. Where commits are retained that cannot be: CN-002.
MissesItsSnapshot(p) ==
  LET known == Known(seen[p]) IN
  \A group \in LiveGroupsOf(known):
    \A row \in RowsOf(known, SnapshotSlice(known, files, group)): row.key # KeyOf(p)

\* OW-011: a clustering that waits is to replace the group.
IsHeld(p) ==
  /\ "a write leaves groups of a clustering alone" \in Rules
  /\ UpdatesStrategy = "reject"
  /\ GroupOfWrite(p) \in GroupsNamed(plans, Pending(timeline, {"clustering"}))

\* OW-004, OW-005: the group was written or replaced by what has completed since the write began.
\* OW-006: compactions count by their request, and so do plans that wait; log compactions not at all (LC-010).
InConflict(p) ==
  LET group == GroupOf(CHOOSE file \in files: file.instant = instant[p])
      since == CompletedCommits(timeline) \ (seen[p] \union RequestsOf(timeline, {"compaction", "logcompaction"}))
      planned == {one \in RequestsOf(timeline, Rewriting): one > instant[p]}
  IN
  \/ /\ "a write gives way to what completed since" \in Rules
     /\ \/ \E file \in FilesOfGroup(files, group): file.instant \in since
        \/ group \in GroupsNamed(plans, RequestsOf(timeline, {"clustering"}) \intersect since)
  \/ "a write gives way to plans made since" \in Rules /\ group \in GroupsNamed(plans, planned)

\* @type: Str => $row;
RowOf(p) == [key |-> KeyOf(p), by |-> instant[p], ts |-> 2]

-----------------------------------------------------------------------------
\* Reads.

\* The rows of a slice, as the snapshot has it. With the rule dropped, what its day holds by now.
\* @type: (Str, $slice) => Set($row);
RowsToRead(r, slice) ==
  IF "readers keep to their snapshot" \in Rules
  THEN RowsOf(Known(seen[r]), {file \in FilesOfGroup(files, [day |-> slice.day, since |-> slice.since]):
    /\ file.instant \in seen[r]
    /\ \/ file.kind = "base" /\ file.instant = slice.base
       \/ file.kind = "log" /\ CompletionOf(timeline, file.instant) > slice.base})
  ELSE UNION {RowsOf(timeline, SnapshotSlice(timeline, files, group)):
    group \in {one \in LiveGroupsOf(timeline): one.day = slice.day}}

-----------------------------------------------------------------------------
\* The table after some writes of both keys.
FirstTimes == {2 * number - 1: number \in 1..WritesBefore}

FirstTimeline ==
  UNION {{
    File(one, 0, WriteAction, "REQUESTED", 0),
    File(one, 0, WriteAction, "INFLIGHT", 0),
    File(one, one + 1, WriteAction, "COMPLETED", 0)}: one \in FirstTimes}

FirstFiles ==
  {[day |-> DayOf(key), since |-> 1, instant |-> one,
    kind |-> IF TableType = "COPY_ON_WRITE" \/ one = 1 THEN "base" ELSE "log",
    rows |-> {[key |-> key, by |-> one, ts |-> 1]}]: one \in FirstTimes, key \in Keys}

Init ==
  /\ clock = 2 * WritesBefore
  /\ lock = "nobody"
  /\ crashes = 0
  /\ timeline = FirstTimeline
  /\ files = FirstFiles
  /\ markers = {}
  /\ heartbeats = {}
  /\ plans = {}
  /\ step = [p \in Processes |-> "idle"]
  /\ instant = [p \in Processes |-> 0]
  /\ time = [p \in Processes |-> 0]
  /\ seen = [p \in Processes |-> {}]
  /\ left = [p \in Processes |-> {}]
  /\ rows = [p \in Processes |-> {}]

==============================================================================
