/** Readings of holdings: adds created units to the register and removes archived ones. */
import { Effect, Option, Result } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, Reading } from "../../projection/Reading.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records } from "../../records/Records.ts"
import { Holding as HoldingTemplate } from "../../templates/Registry.ts"
import type { Active } from "../../ports/Ledger.ts"
import { decodePayload, key, type Payload } from "../../templates/Template.ts"
import { type Holding, holdings } from "./Holding.ts"
import { type Fact, idOf, registerEntries } from "./RegisterEntry.ts"

/**
 * Reads creations and archivals of holdings, whichever choice archives one: its units are then in
 * the contracts that the choice created. A holding created and archived in one transaction is
 * ignored.
 */
const holding: Reading = {
  template: HoldingTemplate.typeRef,
  inGap: [holdings, registerEntries],
  created: Effect.fn("Holding.created")(function* (payload, node, event) {
    if (!event.inAcs) return
    const decoded = decodePayload(HoldingTemplate, payload)
    if (Result.isFailure(decoded)) return yield* unread(node, decoded.failure.message)
    if (decoded.success.provider !== node.venue) return
    const opened = yield* LedgerRecord.open(holdings, shown(decoded.success, node), node)
    yield* updateEntry(opened, node, "add")
  }),
  exercised: Effect.fn("Holding.exercised")(function* (_choice, _payload, node, event) {
    // Only an archival takes the contract out of the active set.
    if (!event.inAcs) return
    const records = yield* Records
    const before = Option.getOrUndefined(yield* records.find(holdings, node.contractId))
    if (before === undefined) return
    yield* updateEntry(before, node, "remove")
    yield* records.record(holdings, before, { on: "end", offset: node.offset }, node.act)
  })
}

export const readings = [holding] as const

/**
 * The record of a contract as the projection opens it; null for a contract that is no holding, of
 * another venue, or whose payload cannot be read.
 */
export const holdingOf = (
  { contractId, payload, template }: Pick<Active, "contractId" | "payload" | "template">,
  venue: Node["venue"]
): Holding | null => {
  if (key(template) !== key(HoldingTemplate.typeRef)) return null
  const decoded = decodePayload(HoldingTemplate, payload)
  return Result.isFailure(decoded) || decoded.success.provider !== venue
    ? null
    : shown(decoded.success, { contractId })
}

const shown = (
  payload: Payload<typeof HoldingTemplate>,
  { contractId }: Pick<Node, "contractId">
): Holding => ({
  contractId,
  registrar: payload.registrar,
  instrumentId: payload.instrument.id,
  owner: payload.owner,
  amount: payload.amount,
  lock:
    payload.lock === null
      ? null
      : {
          holders: payload.lock.holders,
          context: payload.lock.context,
          expiresAt: payload.lock.expiresAt
        },
  endedOffset: null
})

const updateEntry = Effect.fnUntraced(function* (
  { registrar, instrumentId, owner, amount, lock }: Holding,
  node: Node,
  on: Fact["on"]
) {
  const records = yield* Records
  const line = { registrar, instrumentId, party: owner }
  const fact: Fact = {
    on,
    units: amount,
    locked: lock === null ? Decimal.zero : amount,
    at: node.effectiveAt,
    offset: node.offset
  }
  const entry = yield* records.find(registerEntries, idOf(line))
  if (Option.isSome(entry)) {
    yield* records.record(registerEntries, entry.value, fact, node.act)
    return
  }
  yield* LedgerRecord.open(
    registerEntries,
    {
      ...line,
      units: fact.units,
      locked: fact.locked,
      since: node.effectiveAt,
      emptySince: null
    },
    node
  )
})

const unread = (node: Node, why: string) =>
  Unexpected.keep(node, {
    resourceKind: "contract",
    resourceId: node.contractId,
    on: "read",
    detail: `Holding: ${why}`.slice(0, 500)
  })
