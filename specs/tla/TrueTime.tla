------------------------------ MODULE TrueTime ------------------------------
(***************************************************************************)
(* Instants by processes whose clocks disagree.                            *)
(*                                                                         *)
(* A time is generated in one of two ways.                                 *)
(*   "waiting": a process takes the lock, reads its own clock, waits out   *)
(*              the uncertainty and only then lets go of the lock.         *)
(*   "shared":  one generator answers every process.                       *)
(* Either way the times are unique and increase in the real order of their *)
(* generation, whichever process requested them.                           *)
(*                                                                         *)
(* Clauses: TM-003, TM-004, TM-005, TL-012.                                *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  \* @type: Set(Str);
  Processes,
  \* How times are generated: "waiting" or "shared".
  \* @type: Str;
  Generator,
  \* The rules in force. A must-fail configuration leaves one out.
  \* @type: Set(Str);
  Rules,
  \* The most that two clocks differ at one moment.
  \* @type: Int;
  MaxSkew,
  \* How long a process waits before it lets go of the lock.
  \* @type: Int;
  Wait,
  \* Bounds of the search: ticks while nobody waits, times for each process, crashes.
  \* @type: Int;
  MaxNow,
  \* @type: Int;
  MaxTimes,
  \* @type: Int;
  MaxCrashes

AllRules == {
  "one process at a time",            \* TM-005
  "the lock of a failed process expires",
  "the generator remembers"           \* TM-003, for the shared generator
}

ASSUME Generator \in {"waiting", "shared"}
ASSUME Rules \subseteq AllRules
ASSUME MaxSkew >= 0 /\ Wait >= 0

VARIABLES
  \* Real time. No process can read it.
  \* @type: Int;
  now,
  \* How far each clock is ahead of real time; it may drift either way within the bound.
  \* @type: Str -> Int;
  skew,
  \* "idle", "requesting" or "waiting".
  \* @type: Str -> Str;
  step,
  \* What a waiting process read from its clock, and the real time of the reading.
  \* @type: Str -> { time: Int, since: Int };
  reading,
  \* The process that holds the lock, or "nobody".
  \* @type: Str;
  lock,
  \* Every time that was answered, in the real order of the answers.
  \* @type: Seq({ process: Str, time: Int, since: Int, until: Int });
  answers,
  \* @type: Int;
  crashes

vars == <<now, skew, step, reading, lock, answers, crashes>>

\* @type: { time: Int, since: Int };
Nothing == [time |-> 0, since |-> 0]

LocalClock(p) == now + skew[p]

TimesOf(p) == Cardinality({i \in DOMAIN answers: answers[i].process = p})

Answer(p, time, since) ==
  answers' = Append(answers, [process |-> p, time |-> time, since |-> since, until |-> now])

Largest ==
  IF answers = <<>> THEN 0 ELSE LET last == answers[Len(answers)] IN last.time

-----------------------------------------------------------------------------
Init ==
  /\ now = 1
  /\ skew \in [Processes -> 0..MaxSkew]
  /\ step = [p \in Processes |-> "idle"]
  /\ reading = [p \in Processes |-> Nothing]
  /\ lock = "nobody"
  /\ answers = <<>>
  /\ crashes = 0

StillWaiting == \E p \in Processes: step[p] = "waiting" /\ now < reading[p].since + Wait

\* Real time passes; it always does while somebody waits.
Tick ==
  /\ now < MaxNow \/ StillWaiting
  /\ now' = now + 1
  /\ UNCHANGED <<skew, step, reading, lock, answers, crashes>>

\* A clock is set forward or back, within the bound.
Drift(p) ==
  /\ \E ahead \in 0..MaxSkew \ {skew[p]}: skew' = [skew EXCEPT ![p] = ahead]
  /\ UNCHANGED <<now, step, reading, lock, answers, crashes>>

RequestTime(p) ==
  /\ step[p] = "idle"
  /\ TimesOf(p) < MaxTimes
  /\ step' = [step EXCEPT ![p] = "requesting"]
  /\ UNCHANGED <<now, skew, reading, lock, answers, crashes>>

\* take_lock, then one look at the local clock.
TakeLock(p) ==
  /\ Generator = "waiting"
  /\ step[p] = "requesting"
  /\ lock = "nobody" \/ "one process at a time" \notin Rules
  /\ lock' = p
  /\ reading' = [reading EXCEPT ![p] = [time |-> LocalClock(p), since |-> now]]
  /\ step' = [step EXCEPT ![p] = "waiting"]
  /\ UNCHANGED <<now, skew, answers, crashes>>

\* generate_time and release_lock: the reading is answered once the uncertainty is over.
EndWait(p) ==
  /\ step[p] = "waiting"
  /\ now >= reading[p].since + Wait
  /\ Answer(p, reading[p].time, reading[p].since)
  /\ lock' = IF lock = p THEN "nobody" ELSE lock
  /\ reading' = [reading EXCEPT ![p] = Nothing]
  /\ step' = [step EXCEPT ![p] = "idle"]
  /\ UNCHANGED <<now, skew, crashes>>

\* generate_time by the shared generator, whose clock is as unreliable as any.
QueryGenerator(p) ==
  /\ Generator = "shared"
  /\ step[p] = "requesting"
  /\ LET next == IF "the generator remembers" \in Rules /\ Largest >= LocalClock(p)
                 THEN Largest + 1
                 ELSE LocalClock(p)
     IN Answer(p, next, now)
  /\ step' = [step EXCEPT ![p] = "idle"]
  /\ UNCHANGED <<now, skew, reading, lock, crashes>>

\* A process crashes while it waits. Its reading was never answered.
Crash(p) ==
  /\ crashes < MaxCrashes
  /\ step[p] = "waiting"
  /\ crashes' = crashes + 1
  /\ step' = [step EXCEPT ![p] = "idle"]
  /\ reading' = [reading EXCEPT ![p] = Nothing]
  /\ lock' = IF lock = p /\ "the lock of a failed process expires" \in Rules THEN "nobody" ELSE lock
  /\ UNCHANGED <<now, skew, answers>>

Next ==
  \/ Tick
  \/ \E p \in Processes:
       Drift(p) \/ RequestTime(p) \/ TakeLock(p) \/ EndWait(p) \/ QueryGenerator(p) \/ Crash(p)

Fairness ==
  /\ WF_vars(Tick)
  /\ \A p \in Processes: SF_vars(TakeLock(p)) /\ WF_vars(EndWait(p)) /\ WF_vars(QueryGenerator(p))

Spec == Init /\ [][Next]_vars /\ Fairness

-----------------------------------------------------------------------------
TypeOK ==
  /\ now \in Nat
  /\ skew \in [Processes -> 0..MaxSkew]
  /\ step \in [Processes -> {"idle", "requesting", "waiting"}]
  /\ lock \in Processes \union {"nobody"}
  /\ crashes \in 0..MaxCrashes
  /\ now <= MaxNow + MaxTimes * Cardinality(Processes) * Wait + MaxCrashes * Wait
  /\ \A p \in Processes:
       /\ TimesOf(p) <= MaxTimes
       /\ (reading[p] # Nothing) <=> (step[p] = "waiting")
       /\ lock = p => step[p] = "waiting" \/ "the lock of a failed process expires" \notin Rules

\* TM-003: a time that was requested after another was answered is greater than it.
TimesIncrease ==
  \A i, j \in DOMAIN answers:
    (i < j /\ answers[i].until <= answers[j].since) => answers[i].time < answers[j].time

\* TL-012: no two times are equal, whichever process requested them.
TimesAreUnique ==
  \A i, j \in DOMAIN answers: i # j => answers[i].time # answers[j].time

\* TM-005: one process at a time generates.
OneAtATime ==
  \A p, q \in Processes: (step[p] = "waiting" /\ step[q] = "waiting") => p = q

GoesFrom(p, one, other) == step[p] = one /\ step'[p] = other

\* TM-003, TM-005: a time is requested, then waited for under a lock that was free, then answered; or
\* a shared generator answers at once. Who waits may crash.
LegalStep ==
  /\ now' \in {now, now + 1}
  /\ \A p \in Processes:
       \/ step'[p] = step[p]
       \/ GoesFrom(p, "idle", "requesting") /\ answers' = answers
       \/ GoesFrom(p, "requesting", "waiting") /\ Generator = "waiting" /\ lock = "nobody" /\ lock' = p
       \/ GoesFrom(p, "requesting", "idle") /\ Generator = "shared" /\ Len(answers') = Len(answers) + 1
       \/ /\ GoesFrom(p, "waiting", "idle")
          /\ \/ Len(answers') = Len(answers) + 1 /\ now >= reading[p].since + Wait /\ crashes' = crashes
             \/ answers' = answers /\ crashes' = crashes + 1

LegalSteps == [][LegalStep]_vars


\* What can happen: a must-fail run shows it for each of these.
NoClockIsSetBack == \A p \in Processes: step[p] = "waiting" => reading[p].time <= LocalClock(p)
NobodyCrashes == crashes = 0
NobodyIsAnsweredAgain == \A p \in Processes: TimesOf(p) < 2

\* A process that requests a time gets it, or crashes.
EveryoneIsAnswered ==
  \A p \in Processes: step[p] = "requesting" ~> step[p] = "idle"
=============================================================================
