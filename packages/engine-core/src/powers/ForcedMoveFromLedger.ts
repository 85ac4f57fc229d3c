/**
 * Facts from the ledger about forced moves: records the moves and recoveries, carries restrictions to successors,
 * and ends holders that are succeeded.
 */
import { Effect, Option, Stream } from "effect"
import { type Holder, holderParties, holders, HolderMachine } from "../holders/holder/Holder.ts"
import { instruments, isRecorded } from "../instruments/instrument/Instrument.ts"
import { holdings } from "../instruments/register/Holding.ts"
import { idOf as lineOf, registerEntries } from "../instruments/register/RegisterEntry.ts"
import * as Decimal from "../kernel/Decimal.ts"
import * as Machine from "../kernel/Machine.ts"
import type * as Party from "../kernel/Party.ts"
import * as LedgerRecord from "../projection/LedgerRecord.ts"
import type { Node } from "../projection/FromLedger.ts"
import * as TypedFromLedger from "../projection/TypedFromLedger.ts"
import * as Unexpected from "../projection/Unexpected.ts"
import { Records, type Stored } from "../records/Records.ts"
import { IssuerPowersAgreement } from "../templates/Powers.ts"
import type { Argument, Outcome, Payload } from "../templates/Template.ts"
import { operations } from "../writes/OperationRecord.ts"
import { carry } from "../restraints/restriction/CarrySteps.ts"
import { forcedActs } from "./ForcedAct.ts"
import { idOf, recoveries, unannounced } from "./Recovery.ts"

interface LedgerMove {
  readonly operationId: string
  readonly argument: Argument<typeof IssuerPowersAgreement, "ForceMove">
  readonly result: Outcome<typeof IssuerPowersAgreement, "ForceMove">
  readonly instrument: Payload<typeof IssuerPowersAgreement>["instrument"]
  readonly from: Stored<Holder>
  readonly to: Stored<Holder>
  /** The holder's units of the instrument after the whole update. */
  readonly unitsLeft: Decimal.Decimal
}

/** Read after every other node of the update, when the register holds the update's result. */
const forced = TypedFromLedger.of(IssuerPowersAgreement, {
  concluded: {
    ForceMove: Effect.fn("IssuerPowersAgreement.ForceMove")(function* (choosing, node) {
      const found = yield* sidesOf(choosing.result)
      if (found === null || node.operationId === null) {
        return yield* Unexpected.keep(node, {
          resourceKind: "issuer-powers-agreement",
          resourceId: choosing.payload.issuerPowersAgreementId,
          on: "force-move",
          detail:
            "The move names a party that is no holder, or no operation of the venue caused it."
        })
      }
      const { instrument } = choosing.payload
      const { argument, result } = choosing
      const unitsLeft = yield* unitsOf(found.from.party, instrument)
      const move = {
        ...found,
        operationId: node.operationId,
        argument,
        result,
        instrument,
        unitsLeft
      }
      yield* recordMove(move, node)
      if (argument.cause.kind === "recovery") yield* recordRecovery(move, node)
    })
  }
})

export const fromLedger = [forced] as const

/**
 * Giver and receiver of a move: owners of the first moved holding and of the one received for it.
 */
const sidesOf = Effect.fnUntraced(function* ({ moved }: LedgerMove["result"]) {
  const records = yield* Records
  const received = moved[0]?.received
  const givenCid = moved[0]?.holdingCid
  if (received === undefined || givenCid === undefined) return null
  const owned = yield* records.many(holdings, [received, givenCid])
  const ownerOf = (cid: string) => owned.find(({ contractId }) => contractId === cid)?.owner
  const from = yield* holderOf(ownerOf(givenCid))
  const to = yield* holderOf(ownerOf(received))
  return from === null || to === null ? null : { from, to }
})

const holderOf = Effect.fnUntraced(function* (party: Party.Party | undefined) {
  if (party === undefined) return null
  const records = yield* Records
  const entry = Option.getOrNull(yield* records.find(holderParties, party))
  return entry === null ? null : Option.getOrNull(yield* records.find(holders, entry.holderId))
})

const unitsOf = Effect.fnUntraced(function* (
  party: Party.Party,
  { admin, id }: LedgerMove["instrument"]
) {
  const records = yield* Records
  const line = lineOf({ registrar: admin, instrumentId: id, party })
  return Option.match(yield* records.find(registerEntries, line), {
    onNone: () => Decimal.zero,
    onSome: ({ units }) => units
  })
})

/** Adds the move to the operation's forced act, which its later steps and its result read. */
const recordMove = Effect.fnUntraced(function* (move: LedgerMove, node: Node) {
  const records = yield* Records
  const { argument, from, instrument, unitsLeft, operationId, result, to } = move
  const { cause } = argument
  const before = yield* records.find(forcedActs, operationId)
  const act = Option.isSome(before)
    ? before.value
    : yield* LedgerRecord.open(
        forcedActs,
        { operationId, cause: cause.kind, orderRef: cause.orderRef, moves: [] },
        node
      )
  yield* records.append(
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
      left: unitsLeft,
      updateId: node.updateId
    },
    node.act
  )
})

/**
 * Records a recovery, and announces it once the holder has no units of the instrument left. Carries
 * restrictions to the successor in the transaction that reads the move, so that no crash leaves the
 * successor without them; with the last instrument the holder is succeeded
 * (docs/domain/powers.md#recovery).
 */
const recordRecovery = Effect.fnUntraced(function* (move: LedgerMove, node: Node) {
  const records = yield* Records
  const { from, instrument, unitsLeft, operationId, result, to } = move
  const { holderId, party } = from
  const instrumentId = instrument.id
  const stored = yield* records.find(recoveries, idOf({ holderId, instrumentId }))
  const before = Option.isSome(stored)
    ? stored.value
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
  const after = yield* records.append(recoveries, before, moved, node.act)
  const isEmptied = Decimal.isZero(unitsLeft)
  if (isEmptied) {
    yield* records.append(recoveries, after, { on: "tell", units: unannounced(after) }, node.act)
  }
  const isLast = isEmptied && (yield* holdsNothing(from))
  yield* carry(
    {
      from,
      to,
      instrumentId,
      holderLeft: isEmptied ? (isLast ? "nothing" : "other-instruments") : "units",
      operationId,
      by: yield* actorOf(operationId)
    },
    node.act
  )
  if (isLast) yield* succeedHolder(holderId, node)
})

const actorOf = Effect.fnUntraced(function* (operationId: string) {
  const records = yield* Records
  const operation = yield* records.find(operations, operationId)
  return Option.match(operation, { onNone: () => "engine", onSome: ({ actor }) => actor })
})

/**
 * Ends the holder as succeeded. One transaction may recover several instruments, and the reading of
 * the first may already find no units left, so a holder that is succeeded is left unchanged.
 */
const succeedHolder = Effect.fnUntraced(function* (holderId: string, node: Node) {
  const records = yield* Records
  const holder = Option.getOrNull(yield* records.find(holders, holderId))
  if (holder === null || !Machine.allows(HolderMachine, holder.state, "succeed")) return
  yield* records.append(holders, holder, { on: "succeed", at: node.effectiveAt }, node.act)
})

/** Largest number of instruments in one query. */
const instrumentsMax = 100

/**
 * Checks whether the holder has no units of any instrument of this venue. Reads the entry of every
 * instrument by id and does not list the party's entries: a list reads committed records only, and
 * misses units that this transaction has added.
 */
const holdsNothing = Effect.fnUntraced(function* ({ party }: Pick<Holder, "party">) {
  const records = yield* Records
  const held = yield* records.stream(instruments, { where: { listed: ["yes"] } }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter((instrument) => isRecorded(instrument)),
    Stream.grouped(instrumentsMax),
    Stream.mapEffect((group) =>
      Effect.map(
        records.many(
          registerEntries,
          group.map(({ instrumentId, registrar }) => lineOf({ instrumentId, registrar, party }))
        ),
        (lines) => lines.some(({ units }) => Decimal.isPositive(units))
      )
    ),
    Stream.filter((isHeld) => isHeld),
    Stream.runHead
  )
  return Option.isNone(held)
})
