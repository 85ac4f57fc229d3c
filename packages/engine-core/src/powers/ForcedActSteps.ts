/** Steps that forced transfers and recoveries share: gates, figures, ledger commands, result. */
import { Effect, Option, Schema } from "effect"
import { Settings } from "../engine/Settings.ts"
import { HolderMachine, type Holder, holders } from "../holders/holder/Holder.ts"
import * as Decimal from "../kernel/Decimal.ts"
import { type Admission, pairOf } from "../admissions/Admission.ts"
import { onLedger } from "../admissions/AdmissionLookups.ts"
import { ending } from "../admissions/AdmissionEnding.ts"
import { inOrder, judge, type Judgement } from "../kernel/Gates.ts"
import * as Machine from "../kernel/Machine.ts"
import { Crypto } from "../ports/Crypto.ts"
import type { Command } from "../ports/Ledger.ts"
import type { OperationAct } from "../records/Act.ts"
import { Records } from "../records/Records.ts"
import { IssuerPowersAgreement } from "../templates/Powers.ts"
import { exercise } from "../templates/Template.ts"
import type { IssuerPower } from "../vocabulary/sets.ts"
import type { DerivedFigures, Figure } from "../writes/Figures.ts"
import type { CitedOrder } from "../restraints/CitedOrder.ts"
import { ForcedAct, forcedActs } from "./ForcedAct.ts"
import { against, ofAct, ofRest } from "./ForcedMoveGates.ts"
import { type MoveRequest, heldBy, type LoadedMove, loadMoves } from "./ForcedMoveLookups.ts"
import { fitting, movesMax, type Portion, releasedOf } from "./ForcedMoveRules.ts"
import * as LineVoidGates from "./LineVoidGates.ts"
import type { VoidableLine } from "./VoidableLines.ts"
import { OrderLeft, ordersOf } from "./OrdersLeftLookups.ts"
import { idOf, recoveries, unannounced } from "./Recovery.ts"
import { figureNamesOf, signedMovesOf } from "./SignedMoveLookups.ts"

/** Request of a forced act, by one holder or one instrument. */
export interface ForcedActRequest {
  readonly power: IssuerPower
  readonly moves: ReadonlyArray<MoveRequest>
  /** False: the order voids lines alone, and no units move. */
  readonly isMoving: boolean
  /** Null: an act that voids no lines. */
  readonly voids: VoidRequest | null
  readonly order: CitedOrder | null
}

/** Distribution lines that the order voids, of one holder. */
interface VoidRequest {
  readonly holderId: string
  readonly orderRef: string
  readonly lines: ReadonlyArray<{ readonly lineId: string; readonly line: VoidableLine | null }>
}

/** Result of a forced act: moves, released locks, orders that stay open, holders succeeded. */
export const ForcedActView = Schema.Struct({
  ...ForcedAct.fields,
  openOrders: Schema.Array(OrderLeft),
  succeeded: Schema.Array(Schema.String),
  /** Distribution lines that the order voided; absent where none was named. */
  voids: Schema.optionalKey(Schema.Array(Schema.String))
}).annotate({
  identifier: "ForcedAct",
  description: "What a forced transfer or a recovery has moved, and what it left behind."
})
export type ForcedActView = typeof ForcedActView.Type

/**
 * Refuses `state-conflict` where the holder's state allows no recovery. A succeeded holder may be
 * recovered again: units that reached it later, such as by a late mint, go to its successor too.
 */
const judgeRecoverable = (from: Holder) =>
  from.state === "succeeded"
    ? Effect.void
    : Effect.asVoid(Effect.fromResult(Machine.admit(HolderMachine, from, "succeed")))

/** Loads the moves that the act has not made yet. */
const movesLeft = (
  { moves, power }: ForcedActRequest,
  { now, operationId }: OperationAct,
  step = 1
) =>
  Effect.tap(
    loadMoves(moves.slice(0, movesMax), { power, operationId, isBegun: step > 1, now }),
    (all) =>
      power === "force-transfer"
        ? Effect.void
        : Effect.forEach(all, ({ from }) => judgeRecoverable(from), { discard: true })
  )

/** Checks of the act in its step `step`; an act without moves is judged by its lines alone. */
const rowsOf = (
  { isMoving, moves, voids }: ForcedActRequest,
  remainingMoves: ReadonlyArray<LoadedMove>,
  step: number
): ReadonlyArray<Judgement> => {
  // A later step of lines alone has some left, unless another order voided them meanwhile.
  const hasRest = isMoving || voids?.lines.some(({ line }) => line?.isSuspended === true) === true
  return inOrder([
    ...(isMoving && step === 1
      ? ofAct({ askedMoves: moves.length, movesLeft: remainingMoves.length })
      : []),
    ...(voids === null || voids.lines.length === 0
      ? []
      : [LineVoidGates.against({ ...voids, isBegun: step > 1 && hasRest })]),
    ...against(remainingMoves)
  ])
}

/** All conditions of the act, those that are met included. */
const gatesOf = (asking: ForcedActRequest, act: OperationAct) =>
  Effect.map(movesLeft(asking, act), (remainingMoves) => rowsOf(asking, remainingMoves, 1))

/**
 * Largest length in characters of a figure shown to approvers; a longer one is replaced by its
 * SHA-256.
 */
const shownMax = 200

/**
 * Figures that approvers sign: givers, receivers, units and instruments; the locks to be released
 * and their units; the restrictions to be carried; the orders that stay open; the lines to be
 * voided and the net of each; the digest of the cited order. The tolerance is zero: where any figure changes, all sign again.
 */
const figuresOf = Effect.fn("forced-act.figures")(function* (
  asking: ForcedActRequest,
  act: OperationAct
) {
  const left = yield* movesLeft(asking, act)
  const { sha256 } = yield* Crypto
  const orders = yield* ordersOf([...new Set(left.map(({ from }) => from.holderId))])
  const listed = (ids: ReadonlyArray<string>): string => {
    const text = [...new Set(ids)].toSorted().join(" ")
    return text.length <= shownMax ? text : sha256(text)
  }
  const ofMoves = left.flatMap((move): ReadonlyArray<readonly [string, Figure]> => {
    const names = figureNamesOf({ ...move.from, instrumentId: move.instrumentId })
    const released = releasedOf(move.picked, move.positions)
    return [
      [names.receiver, move.to?.holderId ?? ""],
      [names.units, unitsOf(move.picked.portions)],
      [names.releasedUnits, unitsOf(released)],
      [names.locks, listed(released.map(({ contractId, holdingCid }) => contractId ?? holdingCid))]
    ]
  })
  const lines = asking.voids?.lines ?? []
  const ofLines = lines.map(({ line, lineId }): readonly [string, Figure] => [
    `${lineId} net`,
    line?.net ?? Decimal.zero
  ])
  const carried = left.flatMap((move) => move.carried.map(({ restrictionId }) => restrictionId))
  return {
    figures: {
      ...Object.fromEntries([...ofMoves, ...ofLines]),
      ...(lines.length === 0 ? {} : { voids: Decimal.fromInteger(lines.length) }),
      moves: Decimal.fromInteger(left.length),
      carried: listed(carried),
      openOrders: listed(orders.map(({ orderId }) => orderId)),
      ...(asking.order === null ? {} : { order: asking.order.documentHash })
    },
    tolerance: Decimal.zero
  } satisfies DerivedFigures
})

const unitsOf = (all: ReadonlyArray<{ readonly amount: Decimal.Decimal }>): Decimal.Decimal =>
  Decimal.sum(all.map(({ amount }) => amount))

/**
 * Plans one step: as many lines to void, and then as many moves, as one transaction may have input
 * contracts. Further steps void and move the rest of what was signed; each is judged again by every gate.
 */
const planOf = Effect.fn("forced-act.plan")(function* (
  request: ForcedActRequest,
  act: OperationAct,
  step: number
) {
  const asking =
    step === 1 || !request.isMoving
      ? request
      : { ...request, moves: yield* signedMovesOf(act.operationId) }
  const signed = yield* movesLeft(asking, act, step)
  const left = step === 1 ? signed : signed.filter(({ positions }) => positions.length > 0)
  const sendable = left.length + linesLeft(asking).length
  const further = step === 1 ? [] : [ofRest({ signed, sendable })]
  yield* Effect.fromResult(judge(inOrder([...further, ...rowsOf(asking, left, step)])))
  const { inputsMax } = yield* Settings
  const givers = [...new Set(left.map(({ from }) => from.holderId))]
  const admitted = asking.power === "recover" ? yield* onLedger(givers) : []
  const voiding = voidingOf(asking)
  const voided = voiding.slice(0, inputsMax)
  const { isAll, moves } = fitting(
    left.map((move) => ({ ...move, portions: move.picked.portions })),
    inputsMax - admitted.length - voided.length
  )
  const [first, ...rest] = [...voided, ...moves.map((move) => commandOf(asking, move))]
  if (first === undefined) throw new Error("no forced move fits one ledger transaction")
  const ended = (yield* endedWith(moves, admitted)).map(ending)
  // Signed units that are missing end the act refused, by the step after all others have moved.
  const isShort = signed.some(({ picked }) => Decimal.isPositive(picked.short))
  const last = isAll && voided.length === voiding.length && !isShort
  return { commands: [first, ...rest, ...ended] as const, last }
})

/** The named lines, without those that earlier steps have voided. */
const linesLeft = ({ voids }: ForcedActRequest): ReadonlyArray<VoidableLine> =>
  (voids?.lines ?? []).flatMap(({ line }) => (line === null || line.isVoid ? [] : [line]))

/** Commands that void the named lines that are left. */
const voidingOf = (request: ForcedActRequest): ReadonlyArray<Command> => {
  const { voids } = request
  return voids === null
    ? []
    : linesLeft(request).map((line) => line.voiding({ orderRef: voids.orderRef }))
}

/**
 * Admissions that end in the transaction of a recovery: those to instruments of which the holder has
 * no units left, and with the last instrument all admissions of the holder. Every act that gives
 * units to a holder uses its credential: one that was judged before the recovery and is submitted
 * after it finds the credential archived, and is judged again. Units of an act that was committed
 * before are recovered by the next recovery.
 */
const endedWith = Effect.fnUntraced(function* (
  moves: ReadonlyArray<LoadedMove & { readonly portions: ReadonlyArray<Portion> }>,
  admitted: ReadonlyArray<Admission>
) {
  if (admitted.length === 0) return []
  const whole = moves.filter(({ portions, positions }) =>
    Decimal.equals(unitsOf(portions), unitsOf(positions))
  )
  const emptied = new Set(whole.map(({ from, instrumentId }) => pairOf({ ...from, instrumentId })))
  const withoutUnits = new Set<string>()
  for (const from of new Map(whole.map((move) => [move.from.holderId, move.from])).values()) {
    const held = yield* heldBy(from)
    if (held.every((instrumentId) => emptied.has(pairOf({ ...from, instrumentId })))) {
      withoutUnits.add(from.holderId)
    }
  }
  return admitted.filter(
    (admission) => withoutUnits.has(admission.holderId) || emptied.has(pairOf(admission))
  )
})

const commandOf = (
  { order, power }: ForcedActRequest,
  move: LoadedMove & { readonly portions: ReadonlyArray<Portion> }
) =>
  exercise(
    IssuerPowersAgreement,
    move.agreement?.agreementCid ?? missing("agreement"),
    "ForceMove",
    {
      consentCid:
        move.consents.find(({ powers }) => powers.includes(power))?.cid ?? missing("consent"),
      holdingCids: move.portions.map(({ holdingCid }) => holdingCid),
      amounts: move.portions.map(({ amount }) => amount),
      receiverCredentialCid: move.admission?.credentialCid ?? missing("credential"),
      cause: {
        kind: power === "recover" ? "recovery" : "forced",
        orderRef: order?.documentHash ?? null,
        successor: power === "recover" ? (move.to?.party ?? missing("successor")) : null
      },
      releases: move.portions.flatMap(({ holdingCid, lock }) =>
        lock === null ? [] : [{ holdingCid, ...lock }]
      )
    }
  )

const missing = (what: string): never => {
  throw new Error(`a judged forced move has no ${what}`)
}

/** Order and lines of a body that may void lines; `lineIds` null: it names none. */
interface CitedLines {
  readonly orderRef: string
  readonly lineIds: ReadonlyArray<string> | null
}

/**
 * Result of the act from its record, or from its body where it moved nothing; announces units of a
 * recovery that are not announced yet.
 */
const finishOf = Effect.fn("forced-act.finish")(function* (
  act: OperationAct,
  cited: CitedLines | null
) {
  const records = yield* Records
  const voids = cited?.lineIds ?? null
  const found =
    Option.getOrNull(yield* records.find(forcedActs, act.operationId)) ??
    (cited === null || voids === null ? null : movedNothing(act, cited))
  if (found === null) return yield* Effect.die(new Error("a finished forced act has no record"))
  const { cause, moves, operationId, orderRef } = found
  if (cause === "recovery")
    yield* Effect.forEach(moves, (move) => announceRest(move, act), { discard: true })
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
      .toSorted(),
    ...(voids === null ? {} : { voids })
  } satisfies ForcedActView
})

const movedNothing = (
  { operationId }: OperationAct,
  { orderRef }: Pick<CitedLines, "orderRef">
): ForcedAct => ({ operationId, cause: "forced", orderRef, moves: [] })

/**
 * Announces the moved units of a recovery that left units behind, which reached the holder during
 * its last step: the reading of a move announces only a holder without units.
 */
const announceRest = Effect.fnUntraced(function* (
  { from: { holderId }, instrumentId }: ForcedActView["moves"][number],
  act: OperationAct
) {
  const records = yield* Records
  const found = Option.getOrNull(yield* records.find(recoveries, idOf({ holderId, instrumentId })))
  if (found === null) return
  const units = unannounced(found)
  if (Decimal.isPositive(units))
    yield* records.append(recoveries, found, { on: "tell", units }, act)
})

/** Gates, figures, plan and finish of a forced act's operation, from the moves and lines its body names. */
export const actingOn = <B, E>(
  askingOf: (body: B) => Effect.Effect<ForcedActRequest, E, Records>,
  citedOf: (body: B) => CitedLines | null = () => null
) => ({
  gates: (body: B, act: OperationAct) =>
    Effect.flatMap(askingOf(body), (asking) => gatesOf(asking, act)),
  figures: (body: B, act: OperationAct) =>
    Effect.flatMap(askingOf(body), (asking) => figuresOf(asking, act)),
  plan: (body: B, act: OperationAct, step: number) =>
    Effect.flatMap(askingOf(body), (asking) => planOf(asking, act, step)),
  finish: (body: B, act: OperationAct) => finishOf(act, citedOf(body))
})

/** Resource of a forced act of one holder. */
export const ofOneHolder = {
  kind: "holder",
  id: ({ holderId }: { readonly holderId: string }) => holderId,
  href: ({ holderId }: { readonly holderId: string }) => `/v1/holders/${holderId}`,
  holderId: ({ holderId }: { readonly holderId: string }) => holderId
} as const

/** Resource of a forced act of one instrument. */
export const ofOneInstrument = {
  kind: "instrument",
  id: ({ instrumentId }: { readonly instrumentId: string }) => instrumentId,
  href: ({ instrumentId }: { readonly instrumentId: string }) => `/v1/instruments/${instrumentId}`,
  instrumentId: ({ instrumentId }: { readonly instrumentId: string }) => instrumentId
} as const
