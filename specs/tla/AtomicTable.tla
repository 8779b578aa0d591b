----------------------------- MODULE AtomicTable -----------------------------
(***************************************************************************)
(* What users of a table rely on, stated once. A table is a set of commits *)
(* in the order of their completion. Each commit is there with all of its  *)
(* rows or with none, and the table holds what the commits make, one after *)
(* the other. A reader picks the commits that are there by then, which are *)
(* a prefix in that order, and answers by those alone, whenever it does.   *)
(*                                                                         *)
(* It is implemented by modules with files, locks and instants: their      *)
(* property `IsAtomic` is this module's `Spec`, of what they map to the    *)
(* four variables. Whatever else they do changes none of them.             *)
(*                                                                         *)
(* Clauses: OW-001, OW-010, TL-013, RD-001, RD-002, RD-004, SW-003.        *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, DataFiles

(*
  A commit: the time of its completion and its rows.
  @typeAlias: commit = { at: Int, rows: Set($row) };
*)
AtomicAliases == TRUE

CONSTANTS
  \* @type: Set(Str);
  Readers,
  \* "COMMIT_TIME_ORDERING" or "EVENT_TIME_ORDERING".
  \* @type: Str;
  Mode

VARIABLES
  \* @type: Set($commit);
  commits,
  \* The rows that the table holds.
  \* @type: Set($row);
  content,
  \* What a reader has picked, nothing before; and what it has answered, nothing before.
  \* @type: Str -> Set($commit);
  snapshot,
  \* @type: Str -> Set($row);
  answer

table == <<commits, content, snapshot, answer>>

\* The rows that some commits leave.
\* @type: Set($commit) => Set($row);
Result(some) == Standing(Mode, UNION {{[row |-> row, order |-> one.at]: row \in one.rows}: one \in some})

Init ==
  /\ content = Result(commits)
  /\ snapshot = [r \in Readers |-> {}]
  /\ answer = [r \in Readers |-> {}]

\* OW-001, OW-010: one commit, whole, at the end (TL-013).
Commit ==
  /\ commits \subseteq commits' /\ Cardinality(commits' \ commits) = 1
  /\ \A one \in commits' \ commits, other \in commits: other.at < one.at
  /\ content' = Result(commits')
  /\ UNCHANGED <<snapshot, answer>>

\* RD-001, RD-002: all that is there, and nothing else.
Pick(r) ==
  /\ snapshot[r] = {}
  /\ snapshot' = [snapshot EXCEPT ![r] = commits]
  /\ UNCHANGED <<commits, content, answer>>

\* RD-004: by what was picked.
Answer(r) ==
  /\ answer[r] = {}
  /\ answer' = [answer EXCEPT ![r] = Result(snapshot[r])]
  /\ UNCHANGED <<commits, content, snapshot>>

Next == Commit \/ \E r \in Readers: Pick(r) \/ Answer(r)

Spec == Init /\ [][Next]_table

\* TL-013: nothing comes to stand before what a reader has picked, or between.
SnapshotsArePrefixes ==
  \A r \in Readers: \A one \in snapshot[r], other \in commits: other.at < one.at => other \in snapshot[r]

===============================================================================
