------------------------------- MODULE LsmPast -------------------------------
(***************************************************************************)
(* What has happened before archivers and their readers begin.             *)
(*                                                                         *)
(* Clauses: HS-003, HS-005, HS-009, AR-005, AR-006, AR-007, AR-009.        *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, LsmArchiving

(* What has happened before, as the constant Past names it. *)

\* Completed writes on the active timeline, and in the history.
EarlierWrites ==
  CASE Past = "four writes" -> {1, 3, 5, 7}
    [] Past = "an older history" -> {7, 9, 11}
    [] Past = "pending plans" -> {1, 5, 7, 11, 13, 15}
    [] Past = "an undone write" -> {1, 7, 9, 11}
    [] OTHER -> {1, 3, 5, 7, 9}

ArchivedBefore == IF Past = "an older history" THEN {1, 3, 5} ELSE {}

\* @type: (Int, Str, Int) => Set($file);
FilesOfCompleted(one, action, target) ==
  {File(one, 0, action, "REQUESTED", target), File(one, 0, action, "INFLIGHT", target),
   File(one, one + 1, CompletedType(action), "COMPLETED", target)}

EarlierFiles ==
  UNION {FilesOfCompleted(one, IF one = Clustering THEN "clustering" ELSE "commit", 0): one \in EarlierWrites}
  \union (CASE Past = "pending plans" -> {File(3, 0, "clean", "REQUESTED", 0), File(9, 0, "compaction", "REQUESTED", 0)}
            [] Past = "a savepoint" -> {File(3, 0, "savepoint", "INFLIGHT", 0), File(3, 11, "savepoint", "COMPLETED", 0)}
            [] Past = "an undone write" -> FilesOfCompleted(5, "rollback", 3)
            [] OTHER -> {})

\* Each write wrote both rows; the one that was undone has left a file of another group.
\* @type: (Str, Str, Int, Int) => $data;
EarlierFile(day, key, one, since) ==
  [day |-> day, since |-> since, instant |-> one, kind |-> "base",
   rows |-> {[key |-> key, by |-> one, ts |-> 1]}]

EarlierData ==
  LET since(one) == IF one < Clustering THEN 1 ELSE Larger(Clustering, 1)
      writes == EarlierWrites \union ArchivedBefore
  IN {EarlierFile("d1", "a", one, since(one)): one \in writes}
     \union {EarlierFile("d2", "b", one, since(one)): one \in writes}
     \union (IF Past = "an undone write" THEN {EarlierFile("d1", "c", 3, 3)} ELSE {})

\* @type: Set(Int) => Set($archived);
EarlierRows(writes) == {[requested |-> one, completed |-> one + 1, action |-> "commit"]: one \in writes}

EarlierHistory ==
  IF ArchivedBefore = {} THEN {}
  ELSE {HistoryFile(0, EarlierRows({1})), HistoryFile(0, EarlierRows({3})), HistoryFile(1, EarlierRows({1, 3})),
        HistoryFile(0, EarlierRows({5}))}

\* @type: (Int, Set(<<Int, Set(Int)>>)) => $manifest;
EarlierManifest(number, held) ==
  [version |-> number, files |-> {HistoryFile(one[1], EarlierRows(one[2])).name: one \in held}]

EarlierManifests ==
  IF ArchivedBefore = {} THEN {}
  ELSE {EarlierManifest(2, {<<0, {1}>>, <<0, {3}>>}), EarlierManifest(3, {<<1, {1, 3}>>}),
        EarlierManifest(4, {<<1, {1, 3}>>, <<0, {5}>>})}

\* @type: $follower;
AtRest == [step |-> "idle", version |-> 0, left |-> {}, rows |-> {}, wanted |-> {}, since |-> {}]

Init ==
  /\ clock = Greatest({file.completed: file \in EarlierFiles})
  /\ lock = "nobody"
  /\ crashes = 0
  /\ timeline = EarlierFiles
  /\ files = EarlierData
  /\ markers = IF Past = "an undone write" THEN {[instant |-> 1, day |-> "d1"]} ELSE {}
  /\ history = EarlierHistory
  /\ manifests = EarlierManifests
  /\ version = Greatest({one.version: one \in EarlierManifests})
  /\ step = [p \in Processes |-> "idle"]
  /\ instant = [p \in Processes |-> 0]
  /\ time = [p \in Processes |-> 0]
  /\ seen = [p \in Processes |-> {}]
  /\ left = [p \in Processes |-> {}]
  /\ rows = [p \in Processes |-> {}]
  /\ work = [p \in Processes |-> Nothing]
  /\ followers = [p \in Followers |-> AtRest]

===============================================================================
