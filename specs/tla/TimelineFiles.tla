---------------------------- MODULE TimelineFiles ----------------------------
(***************************************************************************)
(* What a file of the timeline says, and what a set of them says together: *)
(* the actions, their states, and how a state may follow another.          *)
(*                                                                         *)
(* Clauses: TL-001, TL-002, TL-003, TL-004, TL-005, TL-006.                *)
(***************************************************************************)
EXTENDS Integers

(*
  A file of the timeline: `completed` is 0 before completion, `target` is the
  instant that a rollback names in its plan, else 0.
  @typeAlias: file = { requested: Int, completed: Int, action: Str, state: Str, target: Int, whole: Bool };
*)
FileAliases == TRUE

\* @type: (Int, Int, Str, Str, Int) => $file;
File(requested, completed, action, state, target) ==
  [requested |-> requested, completed |-> completed, action |-> action, state |-> state,
   target |-> target, whole |-> TRUE]

\* TL-001: the actions.
AllActions == {
  "commit", "deltacommit", "replacecommit", "clean", "compaction", "logcompaction",
  "clustering", "indexing", "rollback", "savepoint", "restore"
}

\* TL-006: the type of the completed file.
\* @type: Str => Str;
CompletedType(action) ==
  CASE action = "compaction" -> "commit"
    [] action = "logcompaction" -> "deltacommit"
    [] action = "clustering" -> "replacecommit"
    [] OTHER -> action

\* A write is performed by the process that requested it; a plan by any process.
Writes == {"commit", "deltacommit", "replacecommit"}

\* TL-005: the requested instant shows which files belong together.
\* @type: (Set($file), Int) => Set($file);
FilesOf(timeline, instant) == {file \in timeline: file.requested = instant}

\* TL-002, TL-004: the highest state that a file of the instant records.
\* @type: (Set($file), Int) => Str;
StateIn(timeline, instant) ==
  LET states == {file.state: file \in FilesOf(timeline, instant)} IN
  IF "COMPLETED" \in states THEN "COMPLETED"
  ELSE IF "INFLIGHT" \in states THEN "INFLIGHT"
  ELSE IF "REQUESTED" \in states THEN "REQUESTED"
  ELSE "ABSENT"

\* TL-003: from what state to what state one step may lead.
\* @type: Set(<<Str, Str>>);
Transitions == {
  <<"ABSENT", "REQUESTED">>, <<"REQUESTED", "INFLIGHT">>, <<"INFLIGHT", "REQUESTED">>,
  <<"INFLIGHT", "INFLIGHT">>, <<"INFLIGHT", "COMPLETED">>
}

===============================================================================
