/**
 * Readings of forced moves: records the moves, publishes their events, carries restrictions,
 * succeeds holders.
 */
import { Effect, Option, Stream } from "effect"
import { type Holder, holderParties, holders } from "../holders/holder/Holder.ts"
import { HolderMachine } from "../holders/holder/HolderMachine.ts"
import { instruments, isRecorded } from "../instruments/instrument/Instrument.ts"
import { holdings } from "../instruments/register/Holding.ts"
import { idOf as lineOf, registerEntries } from "../instruments/register/RegisterEntry.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Machine from "../kernel/Machine.ts"
import type * as Party from "../kernel/Party.ts"
import * as LedgerRecord from "../projection/LedgerRecord.ts"
import type { Node } from "../projection/Reading.ts"
import * as TypedReading from "../projection/TypedReading.ts"
import * as Unexpected from "../projection/Unexpected.ts"
import { Records, type Stored } from "../records/Records.ts"
import { IssuerPowersAgreement } from "../templates/Powers.ts"
import type { Argument, Outcome, Payload } from "../templates/Template.ts"
import { operations } from "../writes/OperationRecord.ts"
import { carry } from "../restraints/restriction/CarrySteps.ts"
import { forcedActs } from "./ForcedAct.ts"
import { idOf, recoveries, untold } from "./Recovery.ts"

interface Forced {
  readonly operationId: string
  readonly argument: Argument<typeof IssuerPowersAgreement, "ForceMove">
  readonly result: Outcome<typeof IssuerPowersAgreement, "ForceMove">
  readonly instrument: Payload<typeof IssuerPowersAgreement>["instrument"]
  readonly from: Stored<Holder>
  readonly to: Stored<Holder>
  /** The holder's units of the instrument after the whole update. */
  readonly left: Decimal.Decimal
}

/** After every other node of its update: by then the register stands as the update leaves it. */
const forced = TypedReading.of(IssuerPowersAgreement, {
  concluded: {
    ForceMove: Effect.fn("IssuerPowersAgreement.ForceMove")(function* (choosing, node) {
      const found = yield* sidesOf(choosing.result)
      if (found === null || node.operationId === null) {
        return yield* Unexpected.keep(node, {
          resourceKind: "issuer-powers-agreement",
          resourceId: choosing.payload.issuerPowersAgreementId,
          on: "force-move",
          detail: "It names a holder that is not there, or no operation of the venue asked for it."
        })
      }
      const { instrument } = choosing.payload
      const { argument, result } = choosing
      const left = yield* unitsOf(found.from.party, instrument)
      const move = { ...found, operationId: node.operationId, argument, result, instrument, left }
      yield* noted(move, node)
      if (argument.cause.kind === "recovery") yield* recovered(move, node)
    })
  }
})

export const readings = [forced] as const

/** Whose units moved and to whom: who owned the first holding, and who owns what came of it. */
const sidesOf = Effect.fnUntraced(function* ({ moved }: Forced["result"]) {
  const records = yield* Records
  const received = moved[0]?.received
  const given = moved[0]?.holdingCid
  if (received === undefined || given === undefined) return null
  const owned = yield* records.many(holdings, [received, given])
  const ownerOf = (cid: string) => owned.find(({ contractId }) => contractId === cid)?.owner
  const from = yield* holderOf(ownerOf(given))
  const to = yield* holderOf(ownerOf(received))
  return from === null || to === null ? null : { from, to }
})

const holderOf = Effect.fnUntraced(function* (party: Party.Party | undefined) {
  if (party === undefined) return null
  const records = yield* Records
  const known = Option.getOrNull(yield* records.find(holderParties, party))
  return known === null ? null : Option.getOrNull(yield* records.find(holders, known.holderId))
})

const unitsOf = Effect.fnUntraced(function* (
  party: Party.Party,
  { admin, id }: Forced["instrument"]
) {
  const records = yield* Records
  const line = lineOf({ registrar: admin, instrumentId: id, party })
  return Option.match(yield* records.find(registerEntries, line), {
    onNone: () => Decimal.zero,
    onSome: ({ units }) => units
  })
})

/** Records the operation's moves so far, for its later steps and its result. */
const noted = Effect.fnUntraced(function* (move: Forced, node: Node) {
  const records = yield* Records
  const { argument, from, instrument, left, operationId, result, to } = move
  const { cause } = argument
  const known = yield* records.find(forcedActs, operationId)
  const act = Option.isSome(known)
    ? known.value
    : yield* LedgerRecord.open(
        forcedActs,
        { operationId, cause: cause.kind, orderRef: cause.orderRef, moves: [] },
        node
      )
  yield* records.record(
    forcedActs,
    act,
    {
      on: "move",
      from: { holderId: from.holderId, party: from.party },
      to: { holderId: to.holderId, party: to.party },
      instrumentId: instrument.id,
      units: result.units,
      released: result.released.map(({ amount, contractId, holdingCid, lockedBy }) => ({
        holdingCid,
        lockedBy,
        contractId,
        units: amount
      })),
      left,
      updateId: node.updateId
    },
    node.act
  )
})

/**
 * One event for an instrument, once none of it is left behind. Restrictions go along with the very
 * transaction that reads the move, so that no crash leaves the successor without them; with the
 * last instrument the holder is succeeded (docs/domain/powers.md#recovery).
 */
const recovered = Effect.fnUntraced(function* (move: Forced, node: Node) {
  const records = yield* Records
  const { from, instrument, left, operationId, result, to } = move
  const { holderId, party } = from
  const instrumentId = instrument.id
  const known = yield* records.find(recoveries, idOf({ holderId, instrumentId }))
  const before = Option.isSome(known)
    ? known.value
    : yield* LedgerRecord.open(
        recoveries,
        {
          holderId,
          party,
          toHolderId: to.holderId,
          instrumentId,
          moved: Decimal.zero,
          told: Decimal.zero,
          operationId
        },
        node
      )
  const moved = { on: "move", units: result.units, toHolderId: to.holderId, operationId } as const
  const after = yield* records.record(recoveries, before, moved, node.act)
  const isEmptied = Decimal.isZero(left)
  if (isEmptied) {
    yield* records.record(recoveries, after, { on: "tell", units: untold(after) }, node.act)
  }
  const isLast = isEmptied && (yield* holdsNothing(from))
  yield* carry(
    {
      from,
      to,
      instrumentId,
      left: isEmptied ? (isLast ? "nothing" : "other-instruments") : "units",
      operationId,
      by: yield* actorOf(operationId)
    },
    node.act
  )
  if (isLast) yield* succeeded(holderId, node)
})

const actorOf = Effect.fnUntraced(function* (operationId: string) {
  const records = yield* Records
  const operation = yield* records.find(operations, operationId)
  return Option.match(operation, { onNone: () => "engine", onSome: ({ actor }) => actor })
})

/** Several instruments may move in one transaction: the first that is read finds nothing left. */
const succeeded = Effect.fnUntraced(function* (holderId: string, node: Node) {
  const records = yield* Records
  const holder = Option.getOrNull(yield* records.find(holders, holderId))
  if (holder === null || !Machine.allows(HolderMachine, holder.state, "succeed")) return
  yield* records.record(holders, holder, { on: "succeed", at: node.effectiveAt }, node.act)
})

/** Instruments whose register is looked at in one go. */
const instrumentsMax = 100

/**
 * Whether the holder has nothing left of any instrument of this venue. Asked by the instruments and
 * not by the holder's lines: lists know only what is committed, and what came a moment ago counts.
 */
const holdsNothing = Effect.fnUntraced(function* ({ party }: Pick<Holder, "party">) {
  const records = yield* Records
  const held = yield* records.stream(instruments, { where: { listed: ["yes"] } }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter((one) => isRecorded(one)),
    Stream.grouped(instrumentsMax),
    Stream.mapEffect((some) =>
      Effect.map(
        records.many(
          registerEntries,
          some.map(({ instrumentId, registrar }) => lineOf({ instrumentId, registrar, party }))
        ),
        (lines) => lines.some(({ units }) => Decimal.isPositive(units))
      )
    ),
    Stream.filter((isHeld) => isHeld),
    Stream.runHead
  )
  return Option.isNone(held)
})
