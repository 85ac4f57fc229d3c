/** Facts from the ledger about holdings that are locked for a reserve, and of units locked for a redemption from it. */
import { Effect, Option, Result } from "effect"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import type { LfRecord } from "../../ports/Ledger.ts"
import { Records } from "../../records/Records.ts"
import { Holding } from "../../templates/Registry.ts"
import { decodePayload } from "../../templates/Template.ts"
import * as ReserveRedemptionFromLedger from "../reserve-order/ReserveRedemptionFromLedger.ts"
import { reserves } from "./Reserve.ts"
import { reserveHoldings } from "./ReserveHolding.ts"

/** A locked holding whose lock the venue holds, with others or alone; null: any other holding. */
const lockedFor = (payload: LfRecord, node: Node) => {
  // Most holdings are free: theirs are not decoded here.
  if (payload.lock === undefined || payload.lock === null) return null
  const decoded = decodePayload(Holding, payload)
  if (Result.isFailure(decoded)) return null
  const { lock, ...holding } = decoded.success
  return lock === null || !lock.holders.includes(node.venue) ? null : { ...holding, lock }
}

const holding: FromLedger = {
  template: Holding.typeRef,
  looks: ({ lock }, contractId) =>
    typeof lock === "object" &&
    lock !== null &&
    "context" in lock &&
    typeof lock.context === "string"
      ? [
          { collection: reserves, id: lock.context },
          { collection: reserveHoldings, id: contractId }
        ]
      : [],
  created: Effect.fn("Holding.lockedForReserve")(function* (payload, node, event) {
    if (!event.inAcs) return
    const locked = lockedFor(payload, node)
    if (locked === null) return
    const records = yield* Records
    const reserve = Option.getOrNull(yield* records.find(reserves, locked.lock.context))
    if (reserve === null) return
    const { lock, owner, amount, instrument } = locked
    yield* LedgerRecord.open(
      reserveHoldings,
      {
        contractId: node.contractId,
        reserveId: reserve.reserveId,
        asset: instrument,
        owner,
        amount,
        isFirm: lock.holders.length === 1 && lock.expiresAt === null && owner === reserve.holder,
        endedOffset: null
      },
      node
    )
  }),
  exercised: Effect.fn("Holding.unlockedOfReserve")(function* (_choice, payload, node, event) {
    // Only an archival takes the contract out of the active set.
    if (!event.inAcs) return
    const locked = lockedFor(payload, node)
    if (locked === null) return
    const records = yield* Records
    const ended = Option.getOrNull(yield* records.find(reserveHoldings, node.contractId))
    if (ended !== null) {
      yield* records.append(reserveHoldings, ended, { on: "end", offset: node.offset }, node.act)
      return
    }
    yield* ReserveRedemptionFromLedger.unlocked(locked.lock.context, node)
  })
}

export const fromLedger = [holding] as const
