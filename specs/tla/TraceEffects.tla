----------------------------- MODULE TraceEffects -----------------------------
(***************************************************************************)
(* Traces, line by line, as behaviours of Effects.                         *)
(*                                                                         *)
(* TraceData, a generated module, holds the traces; each is followed from  *)
(* an initial state of its own, and has one state a line. A line that no   *)
(* rule forbids is a step. Of the first one that is none, TLC prints which *)
(* rules it breaks, and what its process might have done at that place.    *)
(***************************************************************************)
EXTENDS Effects, Sequences, TLC, TraceData

CONSTANTS
  \* The traces to follow, by their names.
  \* @type: Set(Str);
  Names,
  \* Who holds the lock before the first line: "nobody", unless a run wants to be refused.
  \* @type: Str;
  Holder

VARIABLES
  \* The number of the trace, that of the next line, and what came of it: "open" at first.
  \* @type: Int;
  trace,
  \* @type: Int;
  line,
  \* @type: Str;
  verdict

Lines == Traces[trace].lines

\* The line that comes next.
ToCome == DistinctLines[Lines[line]]

-----------------------------------------------------------------------------
\* The effects under one rule alone.
Under(rule) == INSTANCE Effects WITH Rules <- {rule}

\* The rules that forbid a line; none where there is nothing that it could have changed.
BrokenBy(l) == {rule \in Rules: ~ENABLED Under(rule)!Step(l)}

-----------------------------------------------------------------------------
\* What a process might do, to be tried. A text that any would do for is "*".
Blank(p, effect) ==
  [process |-> p, effect |-> effect, holder |-> p, time |-> 0, action |-> "", state |-> "",
   requested |-> 0, completed |-> 0, partition |-> "*", file |-> "*", first |-> 0, last |-> 0, number |-> 0]

Instants == {file.requested: file \in timeline}

Pending == {instant \in Instants: IsPending(instant, FALSE)}

Tried(p) ==
  {Blank(p, effect): effect \in {
     "take_lock", "release_lock", "put_history_file", "delete_history_file",
     "append_archived_log", "put_properties", "write_heartbeat", "pick_snapshot", "read_slice"}}
  \union {[Blank(p, "generate_time") EXCEPT !.time = clock + 1]}
  \union {[Blank(p, effect) EXCEPT !.requested = instant]: instant \in Pending, effect \in {
            "put_marker", "delete_markers", "put_base_file", "put_log_file", "put_partition_metafile",
            "delete_data_file", "commit_metadata_table"}}
  \union {[Blank(p, effect) EXCEPT !.requested = marker.requested, !.partition = marker.partition,
             !.file = marker.file]: marker \in markers, effect \in {"put_base_file", "put_log_file"}}
  \union {[Blank(p, "create_instant") EXCEPT !.action = action, !.state = state, !.requested = instant,
             !.completed = IF state = "COMPLETED" THEN within ELSE 0]:
            action \in AllActions, state \in {"REQUESTED", "INFLIGHT", "COMPLETED"},
            instant \in (Instants \union {LastTime(p)}) \ {0}}
  \union {[Blank(p, "delete_instant") EXCEPT !.action = file.action, !.state = file.state,
             !.requested = file.requested, !.completed = file.completed]: file \in timeline}
  \union {[Blank(p, "put_manifest") EXCEPT !.number = manifest.current + 1]}
  \union {[Blank(p, "swap_version") EXCEPT !.number = version]: version \in {manifest.next} \ {0}}

Allowed(p) == {l \in Tried(p): ENABLED Step(l)}

-----------------------------------------------------------------------------
Init ==
  /\ trace \in {number \in DOMAIN Traces: Traces[number].name \in Names \/ Names = {}}
  /\ line = 1
  /\ verdict = "open"
  /\ Begins(Traces[trace].before, Holder)

Follow ==
  /\ verdict = "open"
  /\ line <= Len(Lines)
  /\ Step(ToCome)
  /\ line' = line + 1
  /\ UNCHANGED <<trace, verdict>>

\* What TLC prints about a trace; always true.
Prints(word, found) == PrintT(ToString(<<word, trace, line, found>>))

Accept ==
  /\ verdict = "open"
  /\ line > Len(Lines)
  /\ verdict' = IF Lines = <<>> THEN "empty" ELSE "accepted"
  /\ Prints(verdict', {})
  /\ UNCHANGED <<trace, line, vars>>

Refuse ==
  /\ verdict = "open"
  /\ line <= Len(Lines)
  /\ ~ENABLED Step(ToCome)
  /\ verdict' = "refused"
  /\ Prints("refused", BrokenBy(ToCome))
  /\ Prints("allowed", Allowed(ToCome.process))
  /\ UNCHANGED <<trace, line, vars>>

Next == Follow \/ Accept \/ Refuse

Spec == Init /\ [][Next]_<<vars, trace, line, verdict>>

-----------------------------------------------------------------------------
\* What processes that keep the protocol have done is explained to the end.
SoundTracesAreAccepted == verdict \in {"refused", "empty"} => Traces[trace].breaks # ""

\* A trace that breaks a rule comes to an end before its last line.
BrokenTracesAreRefused == verdict = "accepted" => Traces[trace].breaks = ""

\* It is refused for the rule that it breaks, and not for another.
EachRuleGuards ==
  (verdict = "refused" /\ Traces[trace].breaks # "") => Traces[trace].breaks \in BrokenBy(ToCome)
===============================================================================
