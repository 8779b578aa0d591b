-------------------------- MODULE InductiveHistory --------------------------
(***************************************************************************)
(* Why a reader of the history finds it whole: an invariant of the version *)
(* file, the manifests and the files that they name which every step of an *)
(* archiver keeps, from whatever state it holds in, reachable or not.      *)
(* Readers follow a version to its manifest and its files; the invariant   *)
(* says that these are there, hold every row that was archived, and none   *)
(* twice. Two writes may leave the timeline, at 1 and at 3: files of level *)
(* 0 and of one above hold one or both, which is enough to merge. Versions *)
(* are at most MaxVersion, and two manifests stay, so that one ends beside *)
(* one that a failed archiver left. The archiver may die anywhere, once; a *)
(* second one is there for the lock alone.                                 *)
(*                                                                         *)
(* Clauses: AR-002, AR-010, AR-011, AR-013, HS-002, HS-003, HS-004,        *)
(* HS-005, HS-009, HS-011.                                                 *)
(***************************************************************************)
EXTENDS LsmTimeline

CONSTANT
  \* The greatest version that an arbitrary state may have.
  \* @type: Int;
  MaxVersion

\* The writes that may leave the timeline, and their rows.
Taken == {1, 3}
AnyRows == EarlierRows(Taken)

\* HS-005: between the times that a name holds are its rows.
\* @type: $name => $archive;
FileNamed(name) ==
  [name |-> name, rows |-> {row \in AnyRows: name.from <= row.requested /\ row.requested <= name.upto}]

\* Files of one write are merged into none.
AnyNames ==
  {name \in [level: {0, 1}, from: Taken, upto: Taken]:
    name.from < name.upto \/ (name.level = 0 /\ name.from = name.upto)}

\* AR-002: no row is in two files.
\* @type: Set($name) => Bool;
AreApart(names) == \A one, other \in names: one = other \/ FileNamed(one).rows \intersect FileNamed(other).rows = {}

\* The types, bounded: the manifests, the version, the files,
AnyTree ==
  /\ \E held \in [1..MaxVersion -> {names \in SUBSET AnyNames: AreApart(names)}]:
       manifests = {[version |-> number, files |-> held[number]]: number \in {one \in 1..MaxVersion: held[one] # {}}}
  /\ version \in 0..MaxVersion
  /\ \E names \in SUBSET AnyNames: history = {FileNamed(name): name \in names}

\* what an archiver is doing and has still to do,
Doing == {"locked", "unmarking", "writing", "written", "listed", "switched", "cleaning", "finished"}
Resting == {"idle", "done", "crashed"}

AnyWork ==
  /\ lock \in Archivers \union {"nobody"}
  /\ step \in [Archivers -> Doing \union Resting]
  /\ \A p \in Archivers: step[p] \in Doing <=> lock = p
  /\ \E unmark \in SUBSET {1}, entering \in SUBSET AnyRows, leaving \in SUBSET Taken, merges \in SUBSET {0, 1},
        ending \in SUBSET (1..MaxVersion):
       LET todo == [unmark |-> unmark, entering |-> entering, leaving |-> leaving, merges |-> merges, ending |-> ending]
       IN
       /\ work = [p \in Archivers |-> IF p = lock THEN todo ELSE Nothing]
       /\ (\A p \in Archivers: step[p] \in Resting \union {"locked"}) => todo = Nothing

\* and the timeline: a write that leaves it does so file by file, the completed one last, once the history holds it.
\* Where nobody decides or deletes there are two: all that can have left has, or nothing.
AnyTimeline ==
  LET part == lock # "nobody" /\ step[lock] \in {"locked", "switched"}
      leaves(gone, first, second) ==
        {file \in EarlierFiles:
          CASE file.requested \in gone -> FALSE
            [] file.state = "REQUESTED" -> file.requested \notin first
            [] file.state = "INFLIGHT" -> file.requested \notin second
            [] OTHER -> TRUE}
  IN \/ /\ part
        /\ \E first \in SUBSET (Taken \intersect Archived): \E second \in SUBSET first: \E gone \in SUBSET second:
             timeline = leaves(gone, first, second)
     \/ ~part /\ \E gone \in {{}, Taken \intersect Archived}: timeline = leaves(gone, {}, {})

AnyRest ==
  /\ clock = 8
  /\ crashes = 0
  /\ files = {}
  /\ markers = {}
  /\ instant = [p \in Archivers |-> 0]
  /\ time = [p \in Archivers |-> 0]
  /\ seen = [p \in Archivers |-> {}]
  /\ left = [p \in Archivers |-> {}]
  /\ rows = [p \in Archivers |-> {}]
  /\ followers = [f \in Followers |-> AtRest]

AnyState == AnyRest /\ AnyTree /\ AnyWork /\ AnyTimeline

-----------------------------------------------------------------------------
\* The manifest that counts once the archiver has swapped the version; the last that it will write.
Top == Greatest({one.version: one \in manifests})
\* @type: Str => Int;
Counting(p) == IF step[p] = "listed" THEN Top ELSE CurrentVersion
\* @type: Str => Int;
Final(p) == Counting(p) + Cardinality(work[p].merges) + (IF work[p].entering = {} THEN 0 ELSE 1)

\* @type: Int => Set($archive);
FilesIn(number) == {one \in history: one.name \in NamesIn(number)}
\* @type: Int => Set(Int);
ArchivedIn(number) == UNION {{row.requested: row \in one.rows}: one \in FilesIn(number)}
\* @type: $work => Set(Int);
Entering(todo) == {row.requested: row \in todo.entering}

\* AR-013: who archives holds the lock, and nobody else does.
LockIsHeld ==
  \A p \in Archivers:
    /\ step[p] \in Doing <=> lock = p
    /\ step[p] \in Resting \union {"locked"} => work[p] = Nothing

\* HS-002, HS-003: at most the manifest after the current one is there besides it and those before.
NumbersFollow ==
  /\ version >= 0 /\ VersionNamesAManifest
  /\ \A one \in manifests: one.files # {} /\ one.version > 0 /\ one.version <= CurrentVersion + 1
  /\ \A one, other \in manifests: one.version = other.version => one = other

\* HS-004, HS-005: files are named by what they hold, and are there as long as a manifest names them.
FilesAreNamed ==
  /\ ManifestsNameFilesThatAreThere
  /\ \A one \in history: one.rows # {} /\ one = HistoryFile(one.name.level, one.rows)
  /\ \A one, other \in history: one.name = other.name => one = other

\* AR-010: what is published next holds all that counts now, and nothing twice.
NextHoldsAll ==
  \A p \in Archivers: step[p] = "listed" =>
    /\ Archived \subseteq ArchivedIn(Top)
    /\ \A one, other \in FilesIn(Top): one = other \/
         {row.requested: row \in one.rows} \intersect {row.requested: row \in other.rows} = {}

\* AR-009, AR-010, HS-009: an archiver does one thing after the other, as it has decided.
WorkIsInTurn ==
  \A p \in Archivers: LET todo == work[p] IN
    /\ step[p] \in {"unmarking", "writing", "switched", "finished"} => Turn(todo) = step[p]
    /\ step[p] = "written" => Turn(todo) = "writing" /\ NewFile(todo) \in history
    /\ step[p] = "listed" => todo.unmark = {} /\ Top > 0 /\ (version # 0 => Top = version + 1)
    /\ step[p] = "cleaning" =>
         /\ todo.unmark = {} /\ todo.entering = {} /\ todo.leaving = {} /\ todo.merges = {}
         /\ todo.ending # {} \/ Unused(manifests, history) # {}
    /\ todo.entering = {} \/ Entering(todo) \intersect ArchivedIn(Counting(p)) = {}
    /\ todo.leaving \subseteq ArchivedIn(Counting(p)) \union Entering(todo)
    /\ \A number \in todo.ending: number < Final(p)
    /\ \A level, above \in todo.merges: \A one \in 0..3: level < one /\ one < above => one \in todo.merges
    /\ todo.merges # {} =>
         \/ LevelOf(todo) = 0 /\ todo.entering # {}
         \/ \E one \in FilesIn(Counting(p)): one.name.level = LevelOf(todo)

\* AR-011: of what is left of an action the completed file is.
CompletedGoLast == \A one \in Taken: FilesOfAction(one) # {} => StateIn(FilesOfAction(one), one) = "COMPLETED"

\* Inductive: it holds at first, and each step keeps it.
HistoryIsWhole ==
  /\ LockIsHeld /\ NumbersFollow /\ FilesAreNamed /\ ArchivedOnce /\ NextHoldsAll /\ WorkIsInTurn
  /\ CompletedGoLast /\ NothingIsLost

\* What is asked of each part is asked as soon as it is there: TLC tries the states one after the other.
InductiveInit ==
  /\ AnyRest /\ AnyTree /\ NumbersFollow /\ FilesAreNamed /\ ArchivedOnce
  /\ AnyWork /\ NextHoldsAll /\ WorkIsInTurn
  /\ AnyTimeline /\ HistoryIsWhole

\* Steps from within the bounds.
Within ==
  /\ crashes = 0
  /\ \A one \in manifests: one.version <= MaxVersion /\ one.files \subseteq AnyNames
  /\ \A one \in history: one.name \in AnyNames
Step == Within /\ Next
\* What Apalache is given where no step is asked of it.
Stays == UNCHANGED vars
InductiveSpec == InductiveInit /\ [][Step]_vars
=============================================================================
