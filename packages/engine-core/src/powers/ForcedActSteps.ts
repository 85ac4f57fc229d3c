/** Steps that all forced acts share: judging, figures, ledger commands, result. */
import { Effect, Option, Schema } from "effect"
import { Settings } from "../engine/Settings.ts"
import { HolderMachine } from "../holders/holder/HolderMachine.ts"
import { type Holder, holders } from "../holders/holder/Holder.ts"
import * as Decimal from "../kernel/Decimal.ts"
import { type Admission, pairOf } from "../admissions/Admission.ts"
import { onLedger } from "../admissions/AdmissionLookups.ts"
import { ending } from "../admissions/AdmissionSteps.ts"
import { inOrder, judge, type Objection } from "../kernel/Gates.ts"
import * as Machine from "../kernel/Machine.ts"
import { Crypto } from "../ports/Crypto.ts"
import type { OperationAct } from "../records/Act.ts"
import { Records } from "../records/Records.ts"
import { IssuerPowersAgreement } from "../templates/Powers.ts"
import { exercise } from "../templates/Template.ts"
import type { IssuerPower } from "../vocabulary/sets.ts"
import type { Derived, Figure } from "../writes/Figures.ts"
import type { CitedOrder } from "../restraints/CitedOrder.ts"
import { ForcedAct, forcedActs } from "./ForcedAct.ts"
import { against, ofAct } from "./ForcedMoveGates.ts"
import { type Asked, heldBy, type Standing, standingOf } from "./ForcedMoveLookups.ts"
import { fitting, movesMax, type Portion, releasedOf } from "./ForcedMoveRules.ts"
import { OrderLeft, ordersOf } from "./OrdersLeftLookups.ts"
import { idOf, recoveries, untold } from "./Recovery.ts"

/** A forced act as its route asks for it. */
export interface Asking {
  readonly power: IssuerPower
  readonly moves: ReadonlyArray<Asked>
  readonly order: CitedOrder | null
}

/** What a forced act answers: what moved, which locks ended, which orders stay open, who is succeeded. */
export const ForcedActView = Schema.Struct({
  ...ForcedAct.fields,
  openOrders: Schema.Array(OrderLeft),
  succeeded: Schema.Array(Schema.String)
}).annotate({
  identifier: "ForcedAct",
  description: "What a forced transfer or a recovery has moved, and what it left behind."
})
export type ForcedActView = typeof ForcedActView.Type

/**
 * A holder that is succeeded already has nothing to move but what has come to it since, such as units
 * that a registrar minted late: that goes to its successor too.
 */
const recoverable = (from: Holder) =>
  from.state === "succeeded"
    ? Effect.void
    : Effect.asVoid(Effect.fromResult(Machine.admit(HolderMachine, from, "succeed")))

const standing = ({ moves, power }: Asking, { now, operationId }: OperationAct) =>
  Effect.tap(standingOf(moves.slice(0, movesMax), { power, operationId, now }), (all) =>
    power === "force-transfer"
      ? Effect.void
      : Effect.forEach(all, ({ from }) => recoverable(from), { discard: true })
  )

const rowsOf = ({ moves }: Asking, left: ReadonlyArray<Standing>): ReadonlyArray<Objection> =>
  inOrder([...ofAct({ asked: moves.length, left: left.length }), ...against(left)])

/** Every check of every gate of the act, whether it refuses or not. */
const gatesOf = (asking: Asking, act: OperationAct) =>
  Effect.map(standing(asking, act), (left) => rowsOf(asking, left))

/** Longest figure that is shown to approvers; a longer one is shown by its hash. */
const shownMax = 200

/**
 * What its approver signs: from whom, to whom, how many units of what; which locks will end and how
 * many units they hold, which restrictions will go along, which orders stay open, and the digest of
 * the order. Nothing of it may move before all have signed it again.
 */
const figuresOf = Effect.fn("forced-act.figures")(function* (asking: Asking, act: OperationAct) {
  const left = yield* standing(asking, act)
  const { sha256 } = yield* Crypto
  const orders = yield* ordersOf([...new Set(left.map(({ from }) => from.holderId))])
  const listed = (ids: ReadonlyArray<string>): string => {
    const text = [...new Set(ids)].toSorted().join(" ")
    return text.length <= shownMax ? text : sha256(text)
  }
  const ofMoves = left.flatMap((one): ReadonlyArray<readonly [string, Figure]> => {
    const name = `${one.instrumentId} ${one.from.holderId}`
    const released = releasedOf(one.picked, one.positions)
    return [
      [`${name} to`, one.to?.holderId ?? ""],
      [`${name} units`, Decimal.sum(one.picked.portions.map(({ amount }) => amount))],
      [`${name} released`, Decimal.sum(released.map(({ amount }) => amount))],
      [
        `${name} locks`,
        listed(released.map(({ contractId, holdingCid }) => contractId ?? holdingCid))
      ]
    ]
  })
  const carried = left.flatMap((one) => one.carried.map(({ restrictionId }) => restrictionId))
  return {
    figures: {
      ...Object.fromEntries(ofMoves),
      moves: Decimal.fromInteger(left.length),
      carried: listed(carried),
      openOrders: listed(orders.map(({ orderId }) => orderId)),
      ...(asking.order === null ? {} : { order: asking.order.documentHash })
    },
    tolerance: Decimal.zero
  } satisfies Derived
})

/**
 * As much as one transaction may use contracts, and the rest in further steps: each is judged again by
 * every gate, and goes on where the one before has got to.
 */
const planOf = Effect.fn("forced-act.plan")(function* (asking: Asking, act: OperationAct) {
  const left = yield* standing(asking, act)
  yield* Effect.fromResult(judge(rowsOf(asking, left)))
  const { inputsMax } = yield* Settings
  const givers = [...new Set(left.map(({ from }) => from.holderId))]
  const admitted = asking.power === "recover" ? yield* onLedger(givers) : []
  const { isAll, moves } = fitting(
    left.map((one) => ({ ...one, portions: one.picked.portions })),
    inputsMax - admitted.length
  )
  const [first, ...rest] = moves.map((one) => commandOf(asking, one))
  if (first === undefined) throw new Error("no forced move fits one ledger transaction")
  const ended = (yield* endedWith(moves, admitted)).map(ending)
  return { commands: [first, ...rest, ...ended] as const, last: isAll }
})

/**
 * The admissions that end in the very transaction of a recovery: to each instrument of which nothing
 * is left behind, and with the last of them all that the holder has. Whatever gives units to a holder
 * names its credential, so what was judged before the recovery and comes after it finds that contract
 * gone, and is judged again. What comes before it changes what is left, and is recovered next.
 */
const endedWith = Effect.fnUntraced(function* (
  moves: ReadonlyArray<Standing & { readonly portions: ReadonlyArray<Portion> }>,
  admitted: ReadonlyArray<Admission>
) {
  if (admitted.length === 0) return []
  const whole = moves.filter(({ picked, portions }) => portions.length === picked.portions.length)
  const emptied = new Set(whole.map(({ from, instrumentId }) => pairOf({ ...from, instrumentId })))
  const gone = new Set<string>()
  for (const from of new Map(whole.map((one) => [one.from.holderId, one.from])).values()) {
    const held = yield* heldBy(from)
    if (held.every((instrumentId) => emptied.has(pairOf({ ...from, instrumentId })))) {
      gone.add(from.holderId)
    }
  }
  return admitted.filter((one) => gone.has(one.holderId) || emptied.has(pairOf(one)))
})

const commandOf = (
  { order, power }: Asking,
  one: Standing & { readonly portions: ReadonlyArray<Portion> }
) =>
  exercise(
    IssuerPowersAgreement,
    one.agreement?.agreementCid ?? missing("agreement"),
    "ForceMove",
    {
      consentCid:
        one.consents.find(({ powers }) => powers.includes(power))?.cid ?? missing("consent"),
      holdingCids: one.portions.map(({ holdingCid }) => holdingCid),
      amounts: one.portions.map(({ amount }) => amount),
      receiverCredentialCid: one.admission?.credentialCid ?? missing("credential"),
      cause: {
        kind: power === "recover" ? "recovery" : "forced",
        orderRef: order?.documentHash ?? null,
        successor: power === "recover" ? (one.to?.party ?? missing("successor")) : null
      },
      releases: one.portions.flatMap(({ holdingCid, lock }) =>
        lock === null ? [] : [{ holdingCid, ...lock }]
      )
    }
  )

const missing = (what: string): never => {
  throw new Error(`a forced move that may be made has its ${what}`)
}

/** The act as it was read off the ledger; what of a recovery has not been announced yet is, now. */
const finishOf = Effect.fn("forced-act.finish")(function* (act: OperationAct) {
  const records = yield* Records
  const found = Option.getOrNull(yield* records.find(forcedActs, act.operationId))
  if (found === null) return yield* Effect.die(new Error("the forced moves were not read"))
  const { cause, moves, operationId, orderRef } = found
  if (cause === "recovery")
    yield* Effect.forEach(moves, (move) => toldOf(move, act), { discard: true })
  const givers = [...new Set(moves.map(({ from }) => from.holderId))]
  const after = yield* records.many(holders, givers)
  return {
    operationId,
    cause,
    orderRef,
    moves,
    openOrders: yield* ordersOf(givers),
    succeeded: after
      .filter(({ state }) => state === "succeeded")
      .map(({ holderId }) => holderId as string)
      .toSorted()
  } satisfies ForcedActView
})

/** Units that came while the last step was under way stay behind: what did move is told all the same. */
const toldOf = Effect.fnUntraced(function* (
  { from: { holderId }, instrumentId }: ForcedActView["moves"][number],
  act: OperationAct
) {
  const records = yield* Records
  const found = Option.getOrNull(yield* records.find(recoveries, idOf({ holderId, instrumentId })))
  if (found === null) return
  const units = untold(found)
  if (Decimal.isPositive(units))
    yield* records.record(recoveries, found, { on: "tell", units }, act)
})

/** Builds a forced act's operation from the way its body names the moves. */
export const actingOn = <B, E>(askingOf: (body: B) => Effect.Effect<Asking, E, Records>) => ({
  gates: (body: B, act: OperationAct) =>
    Effect.flatMap(askingOf(body), (asking) => gatesOf(asking, act)),
  figures: (body: B, act: OperationAct) =>
    Effect.flatMap(askingOf(body), (asking) => figuresOf(asking, act)),
  plan: (body: B, act: OperationAct) =>
    Effect.flatMap(askingOf(body), (asking) => planOf(asking, act)),
  finish: (_: B, act: OperationAct) => finishOf(act)
})

/** The holder whose units move. */
export const ofOneHolder = {
  kind: "holder",
  id: ({ holderId }: { readonly holderId: string }) => holderId,
  href: ({ holderId }: { readonly holderId: string }) => `/v1/holders/${holderId}`,
  holderId: ({ holderId }: { readonly holderId: string }) => holderId
} as const

/** The instrument whose units move, of whichever holders. */
export const ofOneInstrument = {
  kind: "instrument",
  id: ({ instrumentId }: { readonly instrumentId: string }) => instrumentId,
  href: ({ instrumentId }: { readonly instrumentId: string }) => `/v1/instruments/${instrumentId}`,
  instrumentId: ({ instrumentId }: { readonly instrumentId: string }) => instrumentId
} as const
