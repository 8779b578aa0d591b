-------------------------- MODULE InductiveTrueTime --------------------------
(***************************************************************************)
(* Why times increase: an invariant of "lock and wait" that every step     *)
(* keeps, from whatever state it holds in, reachable or not.               *)
(*                                                                         *)
(* Clauses: TM-003, TM-004, TM-005, TL-012.                                *)
(***************************************************************************)
EXTENDS TrueTime

\* @type: Set({ process: Str, time: Int, since: Int, until: Int });
AnyAnswer == [process: Processes, time: 0..MaxNow + Wait + MaxSkew, since: 0..MaxNow + Wait, until: 0..MaxNow + Wait]

\* @type: Set({ time: Int, since: Int });
AnyReading == [time: 0..MaxNow + Wait + MaxSkew, since: 0..MaxNow + Wait]

\* A clock is at most as far ahead of real time as the bound says (TM-004).
\* @type: (Int, Int) => Bool;
IsReadingOf(time, moment) == moment <= time /\ time <= moment + MaxSkew

\* An answer was waited out: the lock was held as long as the uncertainty lasts.
\* @type: { process: Str, time: Int, since: Int, until: Int } => Bool;
IsWaitedOut(answer) == IsReadingOf(answer.time, answer.since) /\ answer.since + Wait <= answer.until

\* The types, bounded, so that all their values can be tried.
AnyState ==
  /\ now \in 1..MaxNow + Wait
  /\ skew \in [Processes -> 0..MaxSkew]
  /\ step \in [Processes -> {"idle", "requesting", "waiting"}]
  /\ lock \in Processes \union {"nobody"}
  /\ crashes \in 0..MaxCrashes
  /\ answers \in {<<>>} \union {<<one>>: one \in {answer \in AnyAnswer: IsWaitedOut(answer) /\ answer.until <= now}}
  /\ reading \in {some \in [Processes -> {Nothing} \union {one \in AnyReading: one.since <= now}]:
       \A p \in Processes: step[p] # "waiting" => some[p] = Nothing}

\* TM-005: who waits holds the lock, so one process waits at a time.
WaitingIsLocked == \A p \in Processes: step[p] = "waiting" => lock = p

\* What a waiting process read was its clock, after the last answer had been given.
ReadingsAreLate ==
  \A p \in Processes: IF step[p] # "waiting" THEN reading[p] = Nothing ELSE
    /\ IsReadingOf(reading[p].time, reading[p].since)
    /\ reading[p].since <= now
    /\ \A i \in DOMAIN answers: answers[i].until <= reading[p].since

\* One answer after the other, each waited out.
AnswersFollow ==
  /\ \A i \in DOMAIN answers: IsWaitedOut(answers[i]) /\ answers[i].until <= now
  /\ \A i, j \in DOMAIN answers: i < j => answers[i].until <= answers[j].since

\* Inductive: it holds at first, and each step keeps it.
LockAndWait == WaitingIsLocked /\ ReadingsAreLate /\ AnswersFollow

\* With Wait > MaxSkew it implies what TrueTime promises.
Promises == LockAndWait => (TimesIncrease /\ TimesAreUnique /\ OneAtATime)

InductiveInit == AnyState /\ LockAndWait
InductiveSpec == InductiveInit /\ [][Next]_vars
===============================================================================
