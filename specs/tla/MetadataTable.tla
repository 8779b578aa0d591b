---------------------------- MODULE MetadataTable ----------------------------
(***************************************************************************)
(* The metadata table and its indexes, beside running writers. Versions 8  *)
(* and 9.                                                                  *)
(*                                                                         *)
(* The metadata table lists the files of another table, and indexes what   *)
(* is in them. Every action commits to it under its own instant before it  *)
(* completes, both under the lock; readers take from it what has completed *)
(* on the data timeline. An index is planned up to an instant, announced   *)
(* to the writers, built, switched on for the readers, and completed       *)
(* (RFC-45). A process may crash anywhere; what a failed write has left is *)
(* rolled back, in the metadata table too, and a failed indexing is done   *)
(* again.                                                                  *)
(*                                                                         *)
(* Each action is one durable effect; looking belongs to the effect that   *)
(* follows from it. Writers change rows of different days: conflicts are   *)
(* described in OptimisticWriters.                                         *)
(*                                                                         *)
(* Clauses: MT-003, MT-004, MT-005, MT-006, MT-007, MT-009, IG-002, IG-003,*)
(* IG-004, IG-005, RB-001, RB-002, RB-003, RB-006, RB-009, RB-010, RB-011, *)
(* LK-001, LK-002, LK-003, LK-004, CP-002, MK-001, MK-005, OW-001, TL-003, *)
(* TM-005.                                                                 *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, MetadataSteps

-----------------------------------------------------------------------------
TypeOK ==
  /\ clock \in Nat /\ crashes \in 0..MaxCrashes
  /\ lock \in Processes \union {"nobody"}
  /\ \A file \in timeline:
       /\ file.state \in {"REQUESTED", "INFLIGHT", "COMPLETED"}
       /\ file.action \in {"commit", "indexing", "rollback"}
       /\ file.completed # 0 <=> file.state = "COMPLETED"
       /\ file.target # 0 <=> file.action = "rollback"
  /\ building \subseteq {Index} /\ built \subseteq {"files", Index}
  /\ \A p \in Processes: found[p] \subseteq {"REQUESTED", "INFLIGHT"}
  /\ \A p \in Processes: instant[p] \in 0..clock

\* MT-005: the files of every completed write are listed.
WhatCountsIsListed == FilesBy(Completed) \subseteq Listed

\* MT-005, MT-006: and no other.
NothingElseIsListed == Listed \subseteq FilesBy(Completed)

\* MT-003: every completed write and rollback is a deltacommit of the metadata table.
EveryActionIsRecorded ==
  \A action \in Completed \ InstantsOf("indexing"): \E entry \in metadata: entry.instant = action

\* RB-011, MT-006: what the metadata table holds is on the timeline: of what is not, nobody could
\* show whether it has been archived or rolled back.
WhatIsRecordedIsKnown ==
  \A entry \in metadata \union indexed: entry.instant # 0 => FilesOf(timeline, entry.instant) # {}

\* IG-004, MT-005: an index that readers use is as the files are.
IndexInUseIsWhole == Index \in built => HeldByIndex = FilesBy(Completed)

\* MT-007: what readers use is there.
IndexInUseIsThere == Index \in built => indexed # {}

\* IG-003: from when it is built an index keeps up with the writers, used or not.
IndexIsKeptUp == indexed # {} => HeldByIndex = FilesBy(Completed)

\* IG-002: no write is pending before the last one that an indexing holds.
NoGapIsCovered ==
  \A cover \in covered: \A write \in PendingOf("commit"): write > cover.upto

\* IG-004: a completed indexing holds what it says.
WhatIsCoveredIsHeld ==
  \A cover \in covered: cover.state = "COMPLETED" =>
    FilesBy({write \in Completed: write <= cover.upto}) \subseteq HeldByIndex

\* IG-003, IG-005: a partition comes to the readers from among those that are announced.
BuiltAfterBuilding == [][(Index \in built' \ built) => Index \in building]_vars

\* MT-006: who commits to the metadata table leaves nothing there of others that have not completed.
\* @type: (Set($entry), Set($entry)) => Bool;
AddsToCompleted(before, after) ==
  after \subseteq before \/ \A entry \in before \intersect after: entry.instant \in Completed \union {0}

UncommittedIsRolledBack == [][AddsToCompleted(metadata, metadata') /\ AddsToCompleted(indexed, indexed')]_vars

\* CP-002: an indexing that was planned completes.
PlannedIndexingCompletes == PendingOf("indexing") # {} ~> PendingOf("indexing") = {}

\* What is left of a write that did not complete: on the timeline, in storage, in the metadata table.
IsLeft(write) ==
  write # 0 /\ write \notin Completed /\
    \/ FilesOf(timeline, write) # {}
    \/ FilesBy({write}) # {}
    \/ \E entry \in metadata \union indexed: entry.instant = write

\* RB-001, RB-011: what a failed write left goes.
FailedWritesGo == \A p \in Writers: step[p] = "crashed" ~> ~IsLeft(instant[p])

-----------------------------------------------------------------------------
\* What can happen: a must-fail configuration shows it for each of these.
NobodyDiesBetween ==
  \A p \in Writers: step[p] = "crashed" => \A entry \in metadata: entry.instant \in Completed \union {0}

NoIndexSurvivesACrash ==
  crashes > 0 /\ Index \in built => \E p \in Writers: step[p] = "crashed"

NoWriteIsLogged == \A entry \in indexed: entry.instant = 0
==============================================================================
