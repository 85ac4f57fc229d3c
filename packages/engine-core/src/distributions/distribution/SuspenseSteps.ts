/**
 * Steps of suspense and cure: judge the due and suspended lines of payees again, in the transaction
 * of the change of a cause (docs/domain/distributions.md#suspense).
 */
import { Effect } from "effect"
import { admissions } from "../../admissions/Admission.ts"
import { holders } from "../../holders/holder/Holder.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { recoveries } from "../../powers/Recovery.ts"
import type { Act } from "../../records/Act.ts"
import * as Consequence from "../../records/Consequence.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { restrictions } from "../../restraints/restriction/Restriction.ts"
import { lockRestrictions } from "../../restraints/restriction/RestrictionLookups.ts"
import { openOn } from "../../restraints/hold/OpenHoldLookups.ts"
import { distributions, shownDistributions, DistributionMachine } from "./Distribution.ts"
import { type DistributionLine, distributionLines, type Fact, shownOf } from "./DistributionLine.ts"
import { setTimers } from "./DistributionTimerSteps.ts"
import { type JudgedLine, judgeAll } from "./LineCauseLookups.ts"
import { isAnyOwed, owedTo, type Payee } from "./LineLookups.ts"
import { payIfSettled } from "./PaymentSteps.ts"
import { payeesOf } from "./SuccessionLookups.ts"

/**
 * Judges the lines that are owed to these payees again. Only inside `Records.transact`. Takes the
 * lock of restrictions, so that judgements run one after another: of two changes at once each would
 * otherwise judge without the other, and the later one could cure a line that has to wait. The
 * projection, which alone adds lines, takes the lock when it adds them, and so needs none for a
 * payee without a line.
 */
export const judgeAgain = (
  payees: ReadonlyArray<Payee>,
  act: Act
): Effect.Effect<void, Unavailable, Records> =>
  Effect.gen(function* () {
    if (act.cause.by === "update" && !(yield* isOwedToAny(payees))) return
    yield* lockRestrictions
    const owed = yield* owedTo(payees)
    if (owed.length === 0) return
    const lines = yield* followed(owed, act)
    const judged = yield* judgeAll(lines, act.now)
    const cured = new Set<string>()
    const shownAsCured = new Set<string>()
    const suspended = new Set<string>()
    const redirected = new Set<string>()
    for (const [nth, line] of lines.entries()) {
      const after = yield* moved(line, judged[nth]!, act)
      if (isCured(line, after)) cured.add(line.distributionId)
      if (isCured(shownOf(line), shownOf(after))) shownAsCured.add(line.distributionId)
      if (isSuspended(line, after) || isSuspended(shownOf(line), shownOf(after))) {
        suspended.add(line.distributionId)
      }
      if (isRedirected(owed[nth]!, after)) redirected.add(line.distributionId)
    }
    yield* holdCured(distributions, cured, act)
    yield* holdCured(shownDistributions, shownAsCured, act)
    // The line that begins to wait may be the last due one, with all others rolled.
    for (const distributionId of suspended) {
      yield* payIfSettled(distributionId, { at: act.now, act })
    }
    yield* setTimers(redirected, act, { isRedirected: true })
    const others = lines.filter(({ distributionId }) => !redirected.has(distributionId))
    yield* setTimers(
      others.map(({ distributionId }) => distributionId),
      act
    )
  })

/** Checks whether the ledger is to be told something else of a line: who is paid, and whether it waits. */
const isRedirected = (before: DistributionLine, after: DistributionLine): boolean =>
  before.party !== after.party ||
  before.custodian !== after.custodian ||
  isCured(before, after) ||
  isSuspended(before, after)

/** Checks whether a line is owed to one of the payees, in a transaction of the projection. */
const isOwedToAny = Effect.fnUntraced(function* (payees: ReadonlyArray<Payee>) {
  return (yield* isAnyOwed) && (yield* owedTo(payees)).length > 0
})

/** Records new holders of lines, where their party has become a holder or is succeeded. */
const followed = Effect.fnUntraced(function* (
  owed: ReadonlyArray<Stored<DistributionLine>>,
  act: Act
) {
  const records = yield* Records
  const payees = yield* payeesOf(owed)
  return yield* Effect.forEach(owed, (line, nth) => {
    const payee = payees[nth] ?? null
    if (payee === null || payee.holderId === line.holderId) return Effect.succeed(line)
    const { holderId, party, custodian } = payee
    const predecessor = line.holderId
    const fact: Fact = { on: "follow", at: act.now, holderId, party, custodian, predecessor }
    return records.append(distributionLines, line, fact, act)
  })
})

/** Records the judgement of a line's causes; returns the line afterwards. */
const moved = Effect.fnUntraced(function* (
  line: Stored<DistributionLine>,
  { causes }: JudgedLine,
  act: Act
) {
  const fact = factOf(line, causes, act)
  if (fact === null) return line
  const records = yield* Records
  return yield* records.append(distributionLines, line, fact, act)
})

type State = Pick<DistributionLine, "state">

const isCured = (before: State, after: State): boolean =>
  before.state !== "due" && after.state === "due"

const isSuspended = (before: State, after: State): boolean =>
  before.state === "due" && after.state === "suspended"

const factOf = (
  line: DistributionLine,
  causes: JudgedLine["causes"],
  { now: at }: Act
): Fact | null => {
  if (line.state === "due") return causes.length === 0 ? null : { on: "suspend", at, causes }
  if (causes.length === 0) return { on: "cure", at }
  const isSame =
    causes.length === line.causes.length && causes.every((cause) => line.causes.includes(cause))
  return isSame ? null : { on: "recause", at, causes }
}

/** Holds the distributions of lines that became due while their instrument is under a hold. */
const holdCured = Effect.fnUntraced(function* (
  collection: typeof distributions,
  distributionIds: ReadonlySet<string>,
  act: Act
) {
  if (distributionIds.size === 0) return
  const records = yield* Records
  const cured = yield* records.many(collection, [...distributionIds])
  const instrumentIds = [...new Set(cured.map(({ instrumentId }) => instrumentId as string))]
  const holds = yield* openOn(instrumentIds)
  for (const self of cured) {
    const hold = holds.find(({ instrumentId }) => instrumentId === self.instrumentId)
    if (hold === undefined || !Machine.allows(DistributionMachine, self.state, "hold")) continue
    const fact = { on: "hold", at: act.now, holdId: hold.holdId } as const
    yield* records.append(collection, self, fact, act)
  }
})

// ---- consequences of changes that the causes are read from

const doc = "Judges the holder's due and suspended distribution lines again."

const concerning = (payee: Payee) => ({ key: `${payee.holderId} ${payee.party}`, subject: payee })

const ofHolder = Consequence.define({
  doc,
  collection: holders,
  concerns: ({ before, after }) => {
    const { holderId, party } = after
    const isSame =
      before !== undefined &&
      before.state === after.state &&
      before.attributes === after.attributes &&
      before.attributesFrom === after.attributesFrom &&
      before.screening?.state === after.screening?.state
    return isSame ? null : concerning({ holderId, party })
  },
  follow: judgeAgain
})

const ofRestriction = Consequence.define({
  doc,
  collection: restrictions,
  concerns: ({ after: { holderId, party } }) => concerning({ holderId, party }),
  follow: judgeAgain
})

const ofAdmission = Consequence.define({
  doc,
  collection: admissions,
  concerns: ({ before, after }) =>
    before?.state === after.state
      ? null
      : concerning({ holderId: after.holderId, party: after.party }),
  follow: judgeAgain
})

const ofRecovery = Consequence.define({
  doc,
  collection: recoveries,
  concerns: ({ after: { holderId, party } }) => concerning({ holderId, party }),
  follow: judgeAgain
})

export const consequences = [ofHolder, ofRestriction, ofAdmission, ofRecovery] as const
