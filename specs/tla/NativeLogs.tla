------------------------------ MODULE NativeLogs ------------------------------
(***************************************************************************)
(* [Draft, v10] Logs that are whole files, in one file group.              *)
(* A write logs one row by appends, each a file of rows, of deletes, or    *)
(* one of each; a task of it that is tried again, or runs twice at once,   *)
(* puts them all anew under a token of its own. The write completes when   *)
(* one task has put all its files, whatever the others are at; a write     *)
(* that fails is rolled back file by file. Readers pick a moment, and      *)
(* merge the logs of what had completed by their names. Where storage      *)
(* shows files before they are whole, one more rule is needed (NL-007).    *)
(*                                                                         *)
(* Clauses: NL-002, NL-005, NL-006, NL-007, NL-012, NL-013, MK-001,        *)
(* MK-003, OW-001, RB-009, RD-001, RD-002, SA-001, TL-003, TL-026.         *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TimelineFiles, DataFiles

(*
  A log: the instant, version and token of its name, its kind, and whether its footer is there.
  @typeAlias: native = { instant: Int, version: Int, token: Int, kind: Str, whole: Bool };
  @typeAlias: nativename = { instant: Int, version: Int, token: Int, kind: Str };
  A file that a task is to put: the number of its append, and its kind.
  @typeAlias: entry = { append: Int, kind: Str };
  @typeAlias: task = { writer: Str, token: Int };
*)
NativeAliases == TRUE

CONSTANTS
  \* @type: Set(Str);
  Writers,
  \* What each write does to the row: it is written and deleted "at once", or deleted in one append, "then rows".
  \* @type: Str;
  Logged,
  \* The tasks that a write may have, one after the other or at once.
  \* @type: Int;
  MaxTasks,
  \* Whether files appear "whole" (SA-001), or are seen "torn" until they are closed.
  \* @type: Str;
  Storage,
  \* Deaths of tasks and of writers.
  \* @type: Int;
  MaxCrashes,
  \* The rules in force. A must-fail configuration leaves one out.
  \* @type: Set(Str);
  Rules

AllRules == {
  "the files of an append share a version",     \* NL-005
  "rows come before deletes",                   \* NL-006
  "files are whole before completion",          \* NL-002, TL-026
  "a rollback removes logs of every kind",      \* NL-012
  "each log has a marker",                      \* NL-013
  "a failed task is tried again",
  "a task that died puts no more",              \* NL-002
  "a log counts where its commit names it"      \* no rule of the draft: what would settle finding NL-007
}

ASSUME Rules \subseteq AllRules /\ Logged \in {"at once", "then rows"} /\ Storage \in {"whole", "torn"}

VARIABLES
  \* The greatest time generated so far.
  \* @type: Int;
  clock,
  \* @type: Set($file);
  timeline,
  \* @type: Set($native);
  logs,
  \* The logs that have a write stat in a commit.
  \* @type: Set($nativename);
  named,
  \* The logs that are announced.
  \* @type: Set($nativename);
  markers,
  \* Tasks at work.
  \* @type: Set($task);
  tasks,
  \* @type: Int;
  crashes,
  \* How many tasks of a write have begun; their tokens count from 1.
  \* @type: Str -> Int;
  begun,
  \* @type: Str -> Str;
  step,
  \* @type: Str -> Int;
  instant

vars == <<clock, timeline, logs, named, markers, tasks, crashes, begun, step, instant>>

-----------------------------------------------------------------------------
\* What a write logs, and how it is read.

\* @type: Seq(Set(Str));
Appends == IF Logged = "at once" THEN <<{"log", "deletes"}>> ELSE <<{"deletes"}, {"log"}>>

\* @type: Set($entry);
ToLog == {one \in [append: DOMAIN Appends, kind: {"log", "deletes"}]: one.kind \in Appends[one.append]}

\* NL-005: the first version that is free for both kinds; without the rule the first that is free for the kind.
\* @type: $entry => Int;
VersionOf(entry) ==
  IF "the files of an append share a version" \in Rules THEN entry.append
  ELSE Cardinality({one \in ToLog: one.kind = entry.kind /\ one.append <= entry.append})

\* @type: $native => $nativename;
NameOf(log) == [instant |-> log.instant, version |-> log.version, token |-> log.token, kind |-> log.kind]

\* @type: (Str, Int) => Set($native);
LogsOfTask(w, token) == {log \in logs: log.instant = instant[w] /\ log.token = token}

\* @type: (Str, Int) => Set($entry);
LeftToPut(w, token) ==
  {entry \in ToLog: \A log \in LogsOfTask(w, token): log.kind # entry.kind \/ log.version # VersionOf(entry)}

\* Of one append rows are put before deletes.
\* @type: Set($entry) => $entry;
NextOf(entries) ==
  CHOOSE one \in entries: \A other \in entries:
    one.append < other.append \/ (one.append = other.append /\ (one.kind = "log" \/ one = other))

\* NL-006: by instants, versions and tokens; of those that have all alike rows first.
\* @type: $native => Int;
PlaceOf(log) ==
  2 * (100 * log.instant + 10 * log.version + log.token)
  + IF (log.kind = "deletes") = ("rows come before deletes" \in Rules) THEN 1 ELSE 0

\* The write whose row stands, by commit time; 0 where there is none.
\* @type: Set($native) => Int;
RowIn(slice) ==
  IF slice = {} THEN 0
  ELSE LET last == CHOOSE one \in slice: \A other \in slice: PlaceOf(other) <= PlaceOf(one) IN
       IF last.kind = "deletes" THEN 0 ELSE last.instant

\* RD-001, RD-002: what had completed by a moment, and its logs.
\* @type: Int => Set(Int);
CompletedBy(moment) == CompletedInstants({file \in timeline: file.completed <= moment})

\* @type: Set(Int) => Set($native);
SliceAt(known) ==
  {log \in logs: log.instant \in known /\ ("a log counts where its commit names it" \in Rules => NameOf(log) \in named)}

\* NL-007: one log that does not parse, and the slice is refused.
\* @type: Set($native) => Bool;
IsRefused(slice) == \E log \in slice: ~log.whole

\* The writes one after the other as they were requested, and of each its last append.
\* @type: Set(Int) => Int;
Expected(known) == IF "deletes" \in Appends[Len(Appends)] THEN 0 ELSE Greatest(known)

-----------------------------------------------------------------------------
Init ==
  /\ clock = 0 /\ crashes = 0
  /\ timeline = {} /\ logs = {} /\ named = {} /\ markers = {} /\ tasks = {}
  /\ begun = [p \in Writers |-> 0] /\ instant = [p \in Writers |-> 0]
  /\ step = [p \in Writers |-> "idle"]

\* OW-001, TL-003. The lock and the time are joined to the file that follows; OptimisticWriters has them apart.
CreateInstant(w) ==
  /\ step[w] = "idle"
  /\ clock' = clock + 1
  /\ instant' = [instant EXCEPT ![w] = clock']
  /\ timeline' = timeline \union {File(clock', 0, "deltacommit", state, 0): state \in {"REQUESTED", "INFLIGHT"}}
  /\ step' = [step EXCEPT ![w] = "inflight"]
  /\ UNCHANGED <<logs, named, markers, tasks, crashes, begun>>

\* A task is tried again, or a second one begins beside it.
StartTask(w) ==
  /\ step[w] = "inflight" /\ begun[w] < MaxTasks
  /\ "a failed task is tried again" \in Rules \/ begun[w] = 0
  /\ begun' = [begun EXCEPT ![w] = @ + 1]
  /\ tasks' = tasks \union {[writer |-> w, token |-> begun[w] + 1]}
  /\ UNCHANGED <<clock, timeline, logs, named, markers, crashes, step, instant>>

\* What a task is to put next.
\* @type: (Str, Int) => $native;
NextLog(w, token) ==
  LET next == NextOf(LeftToPut(w, token)) whole == Storage = "whole" IN
  [instant |-> instant[w], version |-> VersionOf(next), token |-> token, kind |-> next.kind, whole |-> whole]

IsAtWork(w, token) == [writer |-> w, token |-> token] \in tasks \/ "a task that died puts no more" \notin Rules

MayPut(w, token) ==
  /\ IsAtWork(w, token)
  /\ LeftToPut(w, token) # {} /\ \A log \in LogsOfTask(w, token): log.whole

\* Without the rule the marker of the rows stands for the deletes of their append, too.
IsAnnounced(log) ==
  \/ NameOf(log) \in markers
  \/ "each log has a marker" \notin Rules /\ NameOf([log EXCEPT !.kind = "log"]) \in markers

\* NL-013, MK-001.
PutMarker(w, token) ==
  /\ MayPut(w, token) /\ ~IsAnnounced(NextLog(w, token))
  /\ markers' = markers \union {NameOf(NextLog(w, token))}
  /\ UNCHANGED <<clock, timeline, logs, named, tasks, crashes, begun, step, instant>>

\* NL-002: a file of its own, never appended to. SA-001 says that it appears whole.
PutLogFile(w, token) ==
  /\ MayPut(w, token) /\ IsAnnounced(NextLog(w, token))
  /\ logs' = logs \union {NextLog(w, token)}
  /\ UNCHANGED <<clock, timeline, named, markers, tasks, crashes, begun, step, instant>>

\* Where it does not: the footer is written last.
CloseLogFile(w, token) ==
  /\ IsAtWork(w, token)
  /\ \E log \in LogsOfTask(w, token):
       ~log.whole /\ logs' = (logs \ {log}) \union {[log EXCEPT !.whole = TRUE]}
  /\ UNCHANGED <<clock, timeline, named, markers, tasks, crashes, begun, step, instant>>

HasPutAll(w, token) ==
  /\ LeftToPut(w, token) = {}
  /\ "files are whole before completion" \in Rules => \A log \in LogsOfTask(w, token): log.whole

\* NL-005: each file of the task has a write stat in the commit.
CompleteInstant(w) ==
  /\ step[w] = "inflight"
  /\ \E token \in 1..MaxTasks:
       HasPutAll(w, token) /\ named' = named \union {NameOf(log): log \in LogsOfTask(w, token)}
  /\ clock' = clock + 1
  /\ timeline' = timeline \union {File(instant[w], clock', "deltacommit", "COMPLETED", 0)}
  /\ step' = [step EXCEPT ![w] = "completed"]
  /\ UNCHANGED <<logs, markers, tasks, crashes, begun, instant>>

\* A task dies, or is stopped because another was faster.
TaskDies(w, token) ==
  /\ crashes < MaxCrashes /\ [writer |-> w, token |-> token] \in tasks
  /\ tasks' = tasks \ {[writer |-> w, token |-> token]}
  /\ crashes' = crashes + 1
  /\ UNCHANGED <<clock, timeline, logs, named, markers, begun, step, instant>>

TasksOf(w) == {task \in tasks: task.writer = w}

Fails(w) ==
  /\ step[w] = "inflight"
  /\ tasks' = tasks \ TasksOf(w)
  /\ step' = [step EXCEPT ![w] = "failed"]
  /\ UNCHANGED <<clock, timeline, logs, named, markers, begun, instant>>

\* The writer dies, and its tasks with it.
Crash(w) == crashes < MaxCrashes /\ crashes' = crashes + 1 /\ Fails(w)

\* It has no task left to try.
GiveUp(w) ==
  /\ begun[w] = MaxTasks /\ TasksOf(w) = {} /\ \A token \in 1..MaxTasks: ~HasPutAll(w, token)
  /\ UNCHANGED crashes /\ Fails(w)

\* NL-012, MK-003: of its own what markers announce.
ToRemove(w) ==
  {log \in logs:
    /\ log.instant = instant[w] /\ NameOf(log) \in markers
    /\ "a rollback removes logs of every kind" \in Rules \/ log.kind = "log"}

DeleteDataFile(w) ==
  /\ step[w] = "failed"
  /\ \E log \in ToRemove(w): logs' = logs \ {log}
  /\ UNCHANGED <<clock, timeline, named, markers, tasks, crashes, begun, step, instant>>

\* RB-009: the files go first.
DeleteInstant(w) ==
  /\ step[w] = "failed" /\ ToRemove(w) = {}
  /\ timeline' = timeline \ FilesOf(timeline, instant[w])
  /\ step' = [step EXCEPT ![w] = "rolled back"]
  /\ UNCHANGED <<clock, logs, named, markers, tasks, crashes, begun, instant>>

OnItsWay(w) ==
  \/ StartTask(w) \/ CompleteInstant(w) \/ GiveUp(w) \/ DeleteDataFile(w) \/ DeleteInstant(w)
  \/ \E token \in 1..MaxTasks: PutMarker(w, token) \/ PutLogFile(w, token) \/ CloseLogFile(w, token)

Next ==
  \E w \in Writers: CreateInstant(w) \/ OnItsWay(w) \/ Crash(w) \/ \E token \in 1..MaxTasks: TaskDies(w, token)

Spec == Init /\ [][Next]_vars /\ \A w \in Writers: WF_vars(OnItsWay(w))

-----------------------------------------------------------------------------
TypeOK ==
  /\ clock \in Nat /\ crashes \in 0..MaxCrashes /\ \A file \in timeline: file.completed # file.requested
  /\ \A log \in logs: log.instant \in 1..clock /\ log.version \in 1..Len(Appends) /\ log.token \in 1..MaxTasks
  /\ \A task \in tasks: task.writer \in Writers /\ task.token \in 1..begun[task.writer]
  /\ \A w \in Writers: step[w] \in {"idle", "inflight", "completed", "failed", "rolled back"}

\* NL-005, NL-006: an answer is that of the completed writes, one after the other, whenever it is given.
AnswersAreSerial ==
  \A file \in timeline:
    LET known == CompletedBy(file.completed) IN ~IsRefused(SliceAt(known)) => RowIn(SliceAt(known)) = Expected(known)

\* NL-007, SA-001: what failed or slow tasks leave behind makes no completed write unreadable.
NobodyIsRefused == ~IsRefused(SliceAt(CompletedBy(clock)))

\* TL-026, NL-002: what a commit names is there and whole.
NamedLogsAreWhole == \A name \in named: \E log \in logs: NameOf(log) = name /\ log.whole

\* NL-002: each file is that of one task; what a task that died has left open stays so.
OnlyTasksPut ==
  [][\A log \in logs' \ logs: \E task \in tasks: task.token = log.token /\ instant[task.writer] = log.instant]_vars

\* NL-012, NL-013, TL-026: no log without its action, which leaves when it is rolled back (RB-009).
NothingIsLeft ==
  /\ \A log \in logs: \E file \in timeline: file.requested = log.instant
  /\ \A w \in Writers: step[w] = "rolled back" => FilesOf(timeline, instant[w]) = {}

EveryWriteEnds == \A w \in Writers: step[w] = "inflight" ~> step[w] \in {"completed", "rolled back"}
===============================================================================
