---------------------------- MODULE ServicePlans ----------------------------
(***************************************************************************)
(* What table services plan: which slices a compaction or a clustering     *)
(* takes, which logs a log compaction, which files a clean removes, which  *)
(* files a savepoint keeps and which actions a restore undoes.             *)
(* Versions 8 and 9.                                                       *)
(*                                                                         *)
(* `named` are the files that plans and savepoints on the timeline name.   *)
(* A plan stays with its request, also when its action has completed.      *)
(*                                                                         *)
(* Clauses: CP-001, CP-003, CP-005, CL-001, CL-002, CL-006, CN-001, CN-002,*)
(* CN-004, CN-005, CN-007, CN-008, CN-009, SR-001, SR-002, SR-005, LC-001, *)
(* LC-002, LC-008, RD-003, RD-008.                                         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TimelineFiles, DataFiles

\* The services that read slices and write them anew.
Rewriting == {"compaction", "clustering"}

\* The services whose plans hold file groups.
Holding == Rewriting \union {"logcompaction"}

\* @type: Set(Int) => Int;
Least(numbers) == CHOOSE one \in numbers: \A other \in numbers: one <= other

\* The greatest `count` of some numbers.
\* @type: (Set(Int), Int) => Set(Int);
Last(numbers, count) == {one \in numbers: Cardinality({other \in numbers: other > one}) < count}

\* The timeline as it was at a time: what completed later is not there.
\* @type: (Set($file), Int) => Set($file);
CompletedBy(timeline, time) == {file \in timeline: file.completed <= time}

\* @type: (Set($file), Set(Str)) => Set(Int);
RequestsOf(timeline, actions) ==
  {file.requested: file \in {one \in timeline: one.state = "REQUESTED" /\ one.action \in actions}}

\* What has been requested and has not completed.
\* @type: (Set($file), Set(Str)) => Set(Int);
Pending(timeline, actions) == RequestsOf(timeline, actions) \ CompletedInstants(timeline)

\* Writes and services that have completed as commits of some type.
\* @type: Set($file) => Set(Int);
CompletedCommits(timeline) ==
  {file.requested: file \in {one \in timeline: one.state = "COMPLETED" /\ one.action \in Writes}}

-----------------------------------------------------------------------------
\* Files and what names them.

\* @type: $named => $group;
NamedGroup(name) == [day |-> name.day, since |-> name.since]

\* The file groups that some plans hold.
\* @type: (Set($named), Set(Int)) => Set($group);
GroupsNamed(named, instants) ==
  IF instants = {} THEN {} ELSE {NamedGroup(name): name \in {one \in named: one.requested \in instants}}

\* A file as a plan of an instant names it.
\* @type: (Int, $data) => $named;
NameOf(instant, file) ==
  [requested |-> instant, day |-> file.day, since |-> file.since, instant |-> file.instant, kind |-> file.kind]

\* The files that a plan names, as far as they are there.
\* @type: (Set($named), Set($data), Int) => Set($data);
FilesNamed(named, data, instant) == {file \in data: NameOf(instant, file) \in named}

\* @type: (Set($named), Set($data), Int) => Bool;
AllAreThere(named, data, instant) ==
  \A name \in named: name.requested = instant => \E file \in data: NameOf(instant, file) = name

\* RD-003, CL-006: the groups that a clustering read are out of the table when it has completed.
\* @type: (Set($file), Set($named)) => Set($group);
ReplacedGroups(timeline, named) ==
  GroupsNamed(named, RequestsOf(timeline, {"clustering"}) \intersect CompletedInstants(timeline))

\* The file groups that a snapshot reads.
\* @type: (Set($file), Set($named), Set($data)) => Set($group);
LiveGroups(timeline, named, data) ==
  LET done == CompletedInstants(timeline) IN
  GroupsOf({file \in data: file.instant \in done}) \ ReplacedGroups(timeline, named)

\* @type: (Set($file), Set($data), Set($group)) => Set($data);
SlicesOf(timeline, data, groups) == UNION {SnapshotSlice(timeline, data, group): group \in groups}

-----------------------------------------------------------------------------
\* Rewriting. CP-003, CL-002, LC-002: no group that another plan holds.

\* @type: (Set($file), Set($named), Set($data)) => Set($group);
FreeGroups(timeline, named, data) ==
  LiveGroups(timeline, named, data) \ GroupsNamed(named, Pending(timeline, Holding))

\* CP-001, CP-005: every slice with logs, each with all of its files.
\* @type: (Set($file), Set($data), Set($group)) => Set($data);
ToCompact(timeline, data, groups) ==
  SlicesOf(timeline, data, {group \in groups: \E file \in SnapshotSlice(timeline, data, group): file.kind = "log"})

\* LC-001, LC-008: the logs of every slice that has two of them, without those that a compacted one stands for.
\* @type: (Set($file), Set($named), Set($data), Set($group)) => Set($data);
ToMergeLogs(timeline, named, data, groups) ==
  LET done == RequestsOf(timeline, {"logcompaction"}) \intersect CompletedInstants(timeline)
      logs == {file \in SlicesOf(timeline, data, groups):
                 file.kind = "log" /\ \A one \in done: NameOf(one, file) \notin named}
  IN {file \in logs: Cardinality(FilesOfGroup(logs, GroupOf(file))) >= 2}

\* CL-001: every slice, each being small.
\* @type: (Set($file), Set($data), Set($group)) => Set($data);
ToCluster(timeline, data, groups) == SlicesOf(timeline, data, groups)

\* CL-005: the planned slices are still what their groups hold.
\* @type: (Set($file), Set($named), Set($data), Int) => Bool;
IsAsPlanned(timeline, named, data, instant) ==
  LET groups == GroupsNamed(named, {instant}) IN
  /\ groups \subseteq LiveGroups(timeline, named, data)
  /\ SlicesOf(timeline, data, groups) = FilesNamed(named, data, instant)

-----------------------------------------------------------------------------
\* Cleaning.

\* CN-002: the oldest of the newest writes; where an older one is pending, the last that completed
\* before that. 0 where there are too few to clean anything.
\* @type: (Set($file), Int) => Int;
EarliestToRetain(timeline, retained) ==
  LET done == CompletedCommits(timeline)
      oldest == Least(Last(done, retained) \union Pending(timeline, Writes \union Rewriting))
  IN IF Cardinality(done) <= retained THEN 0 ELSE Greatest({one \in done: one <= oldest})

\* RD-004, RD-005, RD-008: what opens a slice: a base file that counts, or a compaction that waits.
\* @type: (Set($file), Set($named), Set($data), $group) => Set(Int);
Openings(timeline, named, data, group) ==
  {file.instant: file \in {one \in FilesOfGroup(data, group):
    one.kind = "base" /\ one.instant \in CompletedInstants(timeline)}}
  \union {one \in Pending(timeline, {"compaction"}): group \in GroupsNamed(named, {one})}

\* A slice: the base file that opened it, and the logs that completed since, until the next was opened.
\* @type: (Set($file), Set($named), Set($data), $group, Int) => Set($data);
SliceOpenedAt(timeline, named, data, group, opening) ==
  LET done == CompletedInstants(timeline)
      openings == Openings(timeline, named, data, group)
  IN {file \in FilesOfGroup(data, group):
       /\ file.instant \in done
       /\ IF file.kind = "base" THEN file.instant = opening
          ELSE opening = Greatest({one \in openings: one < CompletionOf(timeline, file.instant)})}

\* The slices of a group, by what opened them.
\* @type: (Set($file), Set($named), Set($data), $group) => Set(Int);
SliceOpenings(timeline, named, data, group) ==
  {one \in Openings(timeline, named, data, group): SliceOpenedAt(timeline, named, data, group, one) # {}}

\* CN-007: the groups that were replaced before what is retained; all that were replaced where
\* versions are counted.
\* @type: (Set($file), Set($named), Int) => Set($group);
ReplacedBefore(timeline, named, earliest) ==
  GroupsNamed(named, {one \in RequestsOf(timeline, {"clustering"}) \intersect CompletedInstants(timeline):
    earliest = 0 \/ one < earliest})

\* CN-005, CN-008: the files that savepoints name, or that pending plans read.
\* @type: (Set($file), Set($named)) => Set($named);
Saved(timeline, named) ==
  LET savepoints == {file.requested: file \in {one \in timeline: one.action = "savepoint" /\ one.state = "COMPLETED"}}
  IN {name \in named: name.requested \in savepoints}

\* @type: (Set($file), Set($named)) => Set($named);
Awaited(timeline, named) ==
  LET pending == Pending(timeline, Holding) IN {name \in named: name.requested \in pending}

\* @type: (Set($data), Set($named)) => Bool;
IsNeeded(slice, names) == \E file \in slice, name \in names: NameOf(name.requested, file) = name

-----------------------------------------------------------------------------
\* SR-001: the write that completed last; not a service, whose own plan bears the same instant.
\* @type: Set($file) => Int;
NewestWrite(timeline) ==
  LET done == CompletedCommits(timeline) \ RequestsOf(timeline, Holding) IN
  CHOOSE one \in done: \A other \in done: CompletionOf(timeline, other) <= CompletionOf(timeline, one)

\* SR-002: the files of the slices that a snapshot as of an instant reads.
\* @type: (Set($file), Set($named), Set($data), Int) => Set($data);
ToSave(timeline, named, data, instant) ==
  LET then == {file \in timeline: file.requested <= instant} IN
  SlicesOf(then, data, LiveGroups(then, named, data))

\* SR-004: the newest write that has a savepoint, 0 where there is none.
\* @type: Set($file) => Int;
SavedWrite(timeline) ==
  Greatest({file.requested: file \in {one \in timeline: one.action = "savepoint" /\ one.state = "COMPLETED"}})

\* SR-005: what had completed by then, and compactions that were requested by then.
\* @type: Set($file) => Set(Int);
Staying(timeline) ==
  LET saved == SavedWrite(timeline) IN
  {one \in CompletedCommits(timeline): CompletionOf(timeline, one) <= CompletionOf(timeline, saved)}
  \union {one \in RequestsOf(timeline, {"compaction"}): one < saved}

\* SR-005: all else is to be undone, what has not completed too.
\* @type: Set($file) => Set(Int);
ToUndo(timeline) ==
  {file.requested: file \in {one \in timeline: one.action \in Writes \union Holding}} \ Staying(timeline)

===============================================================================
