/** Facts from the ledger about holdings: adds created units to the register and removes archived ones. */
import { Effect, Option, Result } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records } from "../../records/Records.ts"
import { Holding as HoldingTemplate } from "../../templates/Registry.ts"
import type { Active, LfRecord } from "../../ports/Ledger.ts"
import { decodePayload, key, type Payload } from "../../templates/Template.ts"
import { type Holding, holdings } from "./Holding.ts"
import { type Fact, idOf, registerEntries } from "./RegisterEntry.ts"

/**
 * Reads creations and archivals of holdings, whichever choice archives one: its units are then in
 * the contracts that the choice created. A holding created and archived in one transaction is
 * ignored.
 */
const holding: FromLedger = {
  template: HoldingTemplate.typeRef,
  inGap: [holdings, registerEntries],
  created: Effect.fn("Holding.created")(function* (payload, node, event) {
    if (!event.inAcs) return
    const read = countedOf(payload, node.venue)
    if (Result.isFailure(read)) return yield* uncounted(node, read.failure)
    if (read.success === null) return
    const opened = yield* LedgerRecord.open(holdings, shown(read.success, node), node)
    yield* updateEntry(opened, node, "add")
  }),
  exercised: Effect.fn("Holding.exercised")(function* (_choice, _payload, node, event) {
    // Only an archival takes the contract out of the active set.
    if (!event.inAcs) return
    const records = yield* Records
    const before = Option.getOrUndefined(yield* records.find(holdings, node.contractId))
    if (before === undefined) return
    yield* updateEntry(before, node, "remove")
    yield* records.append(holdings, before, { on: "end", offset: node.offset }, node.act)
  })
}

export const fromLedger = [holding] as const

/**
 * Amount from which on the register counts no holding. Any party may create holdings in the venue's
 * name, of assets of its own: so many that their sum had more digits than a decimal would stop the
 * projection, and below this limit 10,000,000,000 contracts do not reach it.
 */
const uncountedFrom = Decimal.of("1000000000000000000")

/**
 * Reads the payload of a holding that the register counts; null: it is another venue's. Fails with
 * the reason why a holding in the venue's name is not counted.
 */
export const countedOf = (
  payload: LfRecord,
  venue: Node["venue"]
): Result.Result<Payload<typeof HoldingTemplate> | null, string> => {
  const decoded = decodePayload(HoldingTemplate, payload)
  if (Result.isFailure(decoded)) return Result.fail(decoded.failure.message)
  const { amount, provider } = decoded.success
  if (provider !== venue) return Result.succeed(null)
  return Decimal.lessThan(amount, uncountedFrom)
    ? Result.succeed(decoded.success)
    : Result.fail("An amount of more than 18 digits before the point is not counted.")
}

/**
 * The record of a contract as the projection opens it; null for a contract that is no holding, of
 * another venue, or not counted.
 */
export const holdingOf = (
  { contractId, payload, template }: Pick<Active, "contractId" | "payload" | "template">,
  venue: Node["venue"]
): Holding | null => {
  if (key(template) !== key(HoldingTemplate.typeRef)) return null
  const read = countedOf(payload, venue)
  return Result.isFailure(read) || read.success === null
    ? null
    : shown(read.success, { contractId })
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
    yield* records.append(registerEntries, entry.value, fact, node.act)
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

const uncounted = (node: Node, why: string) =>
  Unexpected.keep(node, {
    resourceKind: "contract",
    resourceId: node.contractId,
    on: "read",
    detail: `Holding: ${why}`.slice(0, 500)
  })
