------------------------------- MODULE Effects -------------------------------
(***************************************************************************)
(* The durable effects of specs/effects.toml as a state machine: what each *)
(* of them waits for, and what it changes. A process that keeps the        *)
(* protocol has no effect but these.                                       *)
(*                                                                         *)
(* The local state of a process is not here, only what others can see of   *)
(* it: the module decides whether a trace of effects can have happened.    *)
(* Nor is the content of files: a trace does not show which write a        *)
(* rollback names, or which actions a manifest holds.                      *)
(*                                                                         *)
(* Each rule is named, so that one of them can be left out.                *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, VisibleState

-----------------------------------------------------------------------------
\* LK-001.
TakeLock(p, holder) ==
  /\ Keeps("one process holds the lock", lock = "nobody" /\ holder = p)
  /\ lock' = holder
  /\ within' = 0
  /\ UNCHANGED <<clock, time, timeline, markers, metadata, history, manifest, logged, seen>>

\* LK-001; LK-002: the lock's provider releases the lock of a failed process.
ReleaseLock(p, holder) ==
  /\ Keeps("one process holds the lock", lock = p /\ holder = p)
  /\ lock' = "nobody"
  /\ within' = 0
  /\ UNCHANGED <<clock, time, timeline, markers, metadata, history, manifest, logged, seen>>

\* TM-003: later than every time before it, whichever process generated it.
GenerateTime(p, instant) ==
  /\ Keeps("times increase", instant > clock)
  /\ clock' = instant
  /\ time' = Given(p, instant)
  /\ within' = IF lock = p THEN instant ELSE within
  /\ UNCHANGED <<lock, timeline, markers, metadata, history, manifest, logged, seen>>

\* TL-003: INFLIGHT -> REQUESTED is a file that goes, REQUESTED -> REQUESTED does not occur
\* (TL-025). TL-010: a savepoint begins inflight.
MayFollow(action, before, state) ==
  /\ <<before, state>> \in
       IF action = "savepoint" THEN (Transitions \ {<<"ABSENT", "REQUESTED">>}) \union {<<"ABSENT", "INFLIGHT">>}
       ELSE Transitions
  /\ state = "REQUESTED" => before = "ABSENT"

\* TL-006: the name that was requested, until the action completes under its other one.
\* @type: (Str, Str, Set($entry)) => Bool;
TypesAgree(action, state, own) ==
  \A file \in own:
    action = IF state = "COMPLETED" THEN CompletedType(file.action) ELSE file.action

\* MT-003: these change which files there are; a table that keeps a metadata table keeps it with each.
IsFiled(action) == action \in Writes \union {"clean", "rollback"}

CreateInstant(p, action, state, requested, completed) ==
  LET saved == action = "savepoint"
      own == FilesOfAction(requested, saved)
      appears == own = {} /\ ~saved
      done == state = "COMPLETED"
  IN
  /\ Keeps("no state is skipped", MayFollow(action, StateOf(requested, saved), state))
  /\ Keeps("completed type follows the request", TypesAgree(action, state, own))
  /\ Keeps("completed writes are saved",
       saved => IsWrite(requested) /\ StateOf(requested, FALSE) = "COMPLETED")
  /\ Keeps("a request bears the time just generated", appears => requested = LastTime(p))
  /\ Keeps("plans are made under the lock", (appears /\ action \notin Writes) => lock = p)
  /\ Keeps("finished under the lock", done => lock = p)
  /\ Keeps("completion time under the lock", (done /\ completed # 0) => completed = within)
  /\ Keeps("metadata before completion",
       (done /\ IsFiled(action) /\ metadata # {}) => requested \in metadata)
  /\ timeline' = {file \in timeline:
                    ~(file.requested = requested /\ file.state = state /\ (file.action = "savepoint") = saved)}
                 \union {[action |-> action, state |-> state, requested |-> requested,
                          completed |-> completed, process |-> p]}
  \* TL-012, TL-024: no other completion and no request has the time of a completion.
  /\ IF completed # 0
     THEN time' = Given(p, 0) /\ within' = IF lock = p THEN 0 ELSE within
     ELSE UNCHANGED <<time, within>>
  \* SR-012: a restore may drop the metadata table.
  /\ metadata' = IF action = "restore" /\ done THEN {} ELSE metadata
  /\ UNCHANGED <<clock, lock, markers, history, manifest, logged, seen>>

\* HS-005: the history has a file whose name bounds the instant; HS-010: or the archived log
\* has more actions than have left since. AR-001: nothing pending is archived.
IsArchived(requested) ==
  \/ \E file \in history.current: file.first <= requested /\ requested <= file.last
  \/ logged > 0

\* What may leave unfinished: with its rollback or restore; what a process itself gives up (OW-009); an
\* inflight file whose plan is reverted to requested (TL-003).
MayGiveUp(p, state, requested) ==
  \/ IsBeingUndone({"rollback", "restore"})
  \/ IsOf(p, requested, FALSE)
  \/ state = "INFLIGHT" /\ "REQUESTED" \in {file.state: file \in FilesOfAction(requested, FALSE)}

\* What has completed is undone by a restore (RB-005); rollbacks leave with it (SR-009).
MayUndo(action) ==
  \/ IsBeingUndone({"restore"})
  \/ action = "rollback" /\ \E file \in timeline: file.action = "restore"

FileLeaves(p, action, state, requested) ==
  LET saved == action = "savepoint"
      own == FilesOfAction(requested, saved)
      leaving == {file \in own: file.state = state}
      others == {file.state: file \in own \ leaving}
      done == StateOf(requested, saved) = "COMPLETED"
      archived == ~saved /\ done /\ ~MayUndo(action)
  IN
  /\ leaving # {}
  \* SR-003: a savepoint is taken back without more ado.
  /\ Keeps("undone before it leaves", (~saved /\ ~done) => MayGiveUp(p, state, requested))
  /\ Keeps("history before it leaves", archived => IsArchived(requested))
  /\ Keeps("completed file last", (archived /\ state = "COMPLETED") => others = {})
  /\ Keeps("highest state first", ~archived => state = StateOf(requested, saved))
  /\ timeline' = timeline \ leaving
  /\ logged' = IF archived /\ state = "COMPLETED" /\ logged > 0 THEN logged - 1 ELSE logged
  /\ UNCHANGED <<clock, lock, time, within, markers, metadata, history, manifest, seen>>

\* RB-004: where several carry out one rollback, a file may be gone already, and the rollback
\* may even have completed; nothing changes.
FileIsGone(action, state, requested) ==
  /\ \A file \in FilesOfAction(requested, action = "savepoint"): file.state # state
  /\ Keeps("only a rollback finds files gone", \E file \in timeline: file.action \in {"rollback", "restore"})
  /\ UNCHANGED vars

DeleteInstant(p, action, state, requested) ==
  FileLeaves(p, action, state, requested) \/ FileIsGone(action, state, requested)

-----------------------------------------------------------------------------
\* TL-026: files belong to an action that is on the timeline and has not completed.
MayMakeFiles(requested) == Keeps("everything before completion", IsPending(requested, FALSE))

PutMarker(p, requested, partition, file) ==
  /\ MayMakeFiles(requested)
  /\ markers' = markers \union {[requested |-> requested, partition |-> partition, file |-> file]}
  /\ UNCHANGED <<clock, lock, time, within, timeline, metadata, history, manifest, logged, seen>>

\* MK-004: after the write has completed or was undone; before that only by who gives it up, or begins
\* it anew. A heartbeat that is stopped leaves its line here, too (MK-005).
DeleteMarkers(p, requested) ==
  /\ Keeps("markers stay with their write",
       IsPending(requested, FALSE) =>
         IsOf(p, requested, FALSE) \/ IsPlanned(requested) \/ IsBeingUndone({"rollback", "restore"}))
  /\ markers' = {marker \in markers: marker.requested # requested}
  /\ UNCHANGED <<clock, lock, time, within, timeline, metadata, history, manifest, logged, seen>>

\* MK-001: the marker comes first. RB-007: what a rollback adds to logs needs none.
PutDataFile(requested, partition, file) ==
  /\ MayMakeFiles(requested)
  /\ Keeps("marker before file",
       IsWrite(requested) =>
         [requested |-> requested, partition |-> partition, file |-> file] \in markers)
  /\ UNCHANGED vars

PutBaseFile(p, requested, partition, file) == PutDataFile(requested, partition, file)

PutLogFile(p, requested, partition, file) == PutDataFile(requested, partition, file)

PutPartitionMetafile(p, requested) == MayMakeFiles(requested) /\ UNCHANGED vars

DeleteDataFile(p, requested) == MayMakeFiles(requested) /\ UNCHANGED vars

\* MT-004: before the action's completed file appears, both inside the lock.
CommitMetadataTable(p, requested) ==
  /\ MayMakeFiles(requested)
  /\ Keeps("finished under the lock", lock = p)
  /\ metadata' = metadata \union {requested}
  /\ UNCHANGED <<clock, lock, time, within, timeline, markers, history, manifest, logged, seen>>

-----------------------------------------------------------------------------
PutHistoryFile(p, first, last) ==
  /\ history' = [history EXCEPT !.unnamed = history.unnamed \union {[first |-> first, last |-> last]}]
  /\ UNCHANGED <<clock, lock, time, within, timeline, markers, metadata, manifest, logged, seen>>

\* HS-011: manifests list which files are in use.
DeleteHistoryFile(p) == UNCHANGED vars

\* HS-010: a block of actions, each of which may leave after that.
AppendArchivedLog(p, actions) ==
  /\ logged' = logged + actions
  /\ UNCHANGED <<clock, lock, time, within, timeline, markers, metadata, history, manifest, seen>>

\* HS-003: the one after the current one; one that never became current is written anew.
PutManifest(p, version) ==
  /\ Keeps("manifests are numbered", manifest.current # 0 => version = manifest.current + 1)
  /\ manifest' = [manifest EXCEPT !.next = version]
  /\ history' = [history EXCEPT !.named = history.unnamed]
  /\ UNCHANGED <<clock, lock, time, within, timeline, markers, metadata, logged, seen>>

\* AR-010: only now readers find what the manifest names.
SwapVersion(p, version) ==
  /\ Keeps("manifest before version", version = manifest.next)
  /\ manifest' = [next |-> 0, current |-> version]
  /\ history' = [unnamed |-> history.unnamed \ history.named, named |-> {},
                 current |-> history.current \union history.named]
  /\ UNCHANGED <<clock, lock, time, within, timeline, markers, metadata, logged, seen>>

PutProperties(p) == UNCHANGED vars

WriteHeartbeat(p) == UNCHANGED vars

-----------------------------------------------------------------------------
PickSnapshot(p) ==
  /\ seen' = seen \union {p}
  /\ UNCHANGED <<clock, lock, time, within, timeline, markers, metadata, history, manifest, logged>>

\* RD-001, RD-004: slices are those of the snapshot that was picked.
ReadSlice(p) ==
  /\ Keeps("snapshot before slices", p \in seen)
  /\ UNCHANGED vars

-----------------------------------------------------------------------------
\* A line of a trace as a step: its effect is the name of the action.
\* @type: $line => Bool;
Step(l) ==
  CASE l.effect = "take_lock" -> TakeLock(l.process, l.holder)
    [] l.effect = "release_lock" -> ReleaseLock(l.process, l.holder)
    [] l.effect = "generate_time" -> GenerateTime(l.process, l.time)
    [] l.effect = "create_instant" -> CreateInstant(l.process, l.action, l.state, l.requested, l.completed)
    [] l.effect = "delete_instant" -> DeleteInstant(l.process, l.action, l.state, l.requested)
    [] l.effect = "put_marker" -> PutMarker(l.process, l.requested, l.partition, l.file)
    [] l.effect = "delete_markers" -> DeleteMarkers(l.process, l.requested)
    [] l.effect = "put_base_file" -> PutBaseFile(l.process, l.requested, l.partition, l.file)
    [] l.effect = "put_log_file" -> PutLogFile(l.process, l.requested, l.partition, l.file)
    [] l.effect = "put_partition_metafile" -> PutPartitionMetafile(l.process, l.requested)
    [] l.effect = "delete_data_file" -> DeleteDataFile(l.process, l.requested)
    [] l.effect = "commit_metadata_table" -> CommitMetadataTable(l.process, l.requested)
    [] l.effect = "put_history_file" -> PutHistoryFile(l.process, l.first, l.last)
    [] l.effect = "delete_history_file" -> DeleteHistoryFile(l.process)
    [] l.effect = "append_archived_log" -> AppendArchivedLog(l.process, l.number)
    [] l.effect = "put_manifest" -> PutManifest(l.process, l.number)
    [] l.effect = "swap_version" -> SwapVersion(l.process, l.number)
    [] l.effect = "put_properties" -> PutProperties(l.process)
    [] l.effect = "write_heartbeat" -> WriteHeartbeat(l.process)
    [] l.effect = "pick_snapshot" -> PickSnapshot(l.process)
    [] l.effect = "read_slice" -> ReadSlice(l.process)
    [] OTHER -> FALSE

\* TM-003: nothing that is there is later than what was generated.
\* @type: Set($entry) => Int;
LatestOf(files) ==
  LET times == {file.requested: file \in files} \union {file.completed: file \in files}
  IN IF times = {} THEN 0 ELSE CHOOSE latest \in times: \A one \in times: one <= latest

\* A table with a timeline, whose lock is free unless somebody holds it.
Begins(files, holder) ==
  /\ clock = LatestOf(files)
  /\ lock = holder
  /\ time = [p \in {} |-> 0]
  /\ within = 0
  /\ timeline = files
  /\ markers = {}
  /\ metadata = {}
  /\ history = [unnamed |-> {}, named |-> {}, current |-> {}]
  /\ manifest = [next |-> 0, current |-> 0]
  /\ logged = 0
  /\ seen = {}
==============================================================================
