/**
 * Steps of suspense and cure: judges the due and suspended lines of payees again, in the transaction of
 * whatever changed what their causes are read from (docs/domain/distributions.md#suspense).
 */
import { Effect, Option } from "effect"
import { admissions } from "../../admissions/Admission.ts"
import { type Holder, holderParties, holders } from "../../holders/holder/Holder.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { idOf, recoveries, unannounced } from "../../powers/Recovery.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Act } from "../../records/Act.ts"
import * as Consequence from "../../records/Consequence.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { restrictions } from "../../restraints/restriction/Restriction.ts"
import { inTurn } from "../../restraints/restriction/RestrictionLookups.ts"
import { openOn } from "../../restraints/hold/OpenHoldLookups.ts"
import { distributions, shownDistributions } from "./Distribution.ts"
import { type DistributionLine, distributionLines } from "./DistributionLine.ts"
import type { Fact } from "./DistributionLineMachine.ts"
import { DistributionMachine } from "./DistributionMachine.ts"
import { setTimers } from "./DistributionTimerSteps.ts"
import { type Judged, judgeAll } from "./LineCauseLookups.ts"
import { shownOf } from "./LineCauseRules.ts"
import { owedTo, type Payee } from "./LineLookups.ts"

/** Largest number of successors of one holder; more are a loop, a bug. */
const successorsMax = 100

/**
 * Judges the lines that are owed to these payees again. Only inside `Records.transact`. Two changes at
 * once would each judge without the other, and the later one cure what waits: so judgements wait for
 * each other by the lock of restrictions. The projection alone adds lines and takes that lock then, so
 * that it needs none for a payee without a line.
 */
export const judgeAgain = (
  payees: ReadonlyArray<Payee>,
  act: Act
): Effect.Effect<void, Unavailable, Records> =>
  Effect.gen(function* () {
    if (act.cause.by === "update" && (yield* owedTo(payees)).length === 0) return
    yield* inTurn
    const owed = yield* owedTo(payees)
    if (owed.length === 0) return
    const lines = yield* Effect.forEach(owed, (line) => followed(line, act))
    const judged = yield* judgeAll(lines, act.now)
    const cured = new Set<string>()
    const shownAsCured = new Set<string>()
    for (const [nth, line] of lines.entries()) {
      const after = yield* moved(line, judged[nth]!, act)
      if (isCured(line, after)) cured.add(line.distributionId)
      if (isCured(shownOf(line), shownOf(after))) shownAsCured.add(line.distributionId)
    }
    yield* holdCured(distributions, cured, act)
    yield* holdCured(shownDistributions, shownAsCured, act)
    yield* setTimers(
      lines.map(({ distributionId }) => distributionId),
      act
    )
  })

/** Records that the line is another holder's, where its party has become one or is succeeded. */
const followed = Effect.fnUntraced(function* (line: Stored<DistributionLine>, act: Act) {
  const payee = yield* payeeOf(line)
  if (payee === null || payee.holderId === line.holderId) return line
  const records = yield* Records
  const { holderId, party, custodian } = payee
  const predecessor = line.holderId
  const fact: Fact = { on: "follow", at: act.now, holderId, party, custodian, predecessor }
  return yield* records.record(distributionLines, line, fact, act)
})

/** Finds the last successor of a line's holder for its instrument; null: the party is no holder. */
const payeeOf = Effect.fnUntraced(function* ({ party, instrumentId }: DistributionLine) {
  let holder: Holder | null = yield* holderOf(party)
  for (let passed = 0; holder !== null; passed++) {
    const next: Holder | null = yield* successorOf(holder, instrumentId)
    if (next === null) return holder
    if (passed === successorsMax) throw new Error(`the successors of ${party} do not end`)
    holder = next
  }
  return null
})

const holderOf = Effect.fnUntraced(function* (party: string) {
  const records = yield* Records
  const entry = Option.getOrNull(yield* records.find(holderParties, party))
  return entry === null ? null : Option.getOrNull(yield* records.find(holders, entry.holderId))
})

/**
 * Finds the holder that a holder's lines of an instrument go to: the one that its units of it were
 * recovered to, to the last, and of a holder that is succeeded altogether its successor.
 */
const successorOf = Effect.fnUntraced(function* (
  { holderId, state, successor }: Holder,
  instrumentId: string
) {
  const records = yield* Records
  const recovery = Option.getOrNull(
    yield* records.find(recoveries, idOf({ holderId, instrumentId }))
  )
  if (recovery !== null && Decimal.isZero(unannounced(recovery))) {
    return Option.getOrNull(yield* records.find(holders, recovery.toHolderId))
  }
  return state === "succeeded" && successor !== null ? yield* holderOf(successor.party) : null
})

/** Records what the causes make of a line; returns the line as it is then. */
const moved = Effect.fnUntraced(function* (
  line: Stored<DistributionLine>,
  { causes }: Judged,
  act: Act
) {
  const fact = factOf(line, causes, act)
  if (fact === null) return line
  const records = yield* Records
  return yield* records.record(distributionLines, line, fact, act)
})

type State = Pick<DistributionLine, "state">

const isCured = (before: State, after: State): boolean =>
  before.state !== "due" && after.state === "due"

const factOf = (
  line: DistributionLine,
  causes: Judged["causes"],
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
    yield* records.record(collection, self, fact, act)
  }
})

// ---- consequences of changes that the causes are read from

const doc = "Judges the holder's due and suspended distribution lines again."

const concerning = (payee: Payee) => ({ key: `${payee.holderId} ${payee.party}`, of: payee })

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
