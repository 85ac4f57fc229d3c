/**
 * Facts from the ledger about movements: records each movement of units, on the axes of instrument and parties.
 */
import { Effect, Option, Result, Stream } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { FromLedger, Start, Whole } from "../../projection/FromLedger.ts"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { Holding as HoldingTemplate } from "../../templates/Registry.ts"
import { key } from "../../templates/Template.ts"
import { assetKeyOf, type Holding, holdings } from "./Holding.ts"
import { type Movement, movements, partyMovements } from "./Movement.ts"
import * as MovementClaims from "./MovementClaimLookups.ts"
import { eachParty, type UnitMovement, movementsOf, type Touch } from "./MovementRules.ts"
import { idOf, type RegisterEntry, registerEntries } from "./RegisterEntry.ts"
import { countedOf } from "./RegisterFromLedger.ts"
import { type Supply, supplies } from "./Supply.ts"

type Asset = Pick<Supply, "registrar" | "instrumentId">

/** The recorded movements of one instrument in an update, and the act they are recorded under. */
export interface RecordedMovements {
  readonly act: Act
  readonly movements: ReadonlyArray<Movement>
  /** The register that a snapshot begins with; no line in any other update. */
  readonly begunMovements: ReadonlyArray<
    Pick<RegisterEntry, "registrar" | "instrumentId" | "party" | "units">
  >
  readonly ledgerTime: Instant.Instant
}

/** Follows the movements that are recorded. */
interface Follows {
  /** The collections that it keeps. */
  readonly keeps: ReadonlyArray<{ readonly name: string }>
  /** Reads the recorded movements of a batch of updates, in their transaction. */
  batch(recorded: ReadonlyArray<RecordedMovements>): Effect.Effect<void, Unavailable, Records>
  start(from: Start): Effect.Effect<void, Unavailable, Records>
}

/**
 * Facts from the ledger about movements, after all nodes of an update, when the register's entries hold the update's
 * result.
 */
export const fromLedger = (follows: Follows): ReadonlyArray<FromLedger> => [
  {
    template: HoldingTemplate.typeRef,
    whole: Effect.fn("Holding.whole")(function* (update) {
      const found = yield* touchesOf(update)
      if (found.touches.length === 0) return []
      const moved =
        update.from === "snapshot"
          ? []
          : movementsOf(
              update.from === "gap"
                ? eachParty(found.touches)
                : { touches: found.touches, claims: yield* MovementClaims.of(update) }
            )
      const recorded: Array<RecordedMovements> = []
      for (const [name, asset] of found.assets) {
        recorded.push(
          yield* recordMovements(update, {
            asset,
            moved: moved.filter((movement) => movement.asset === name),
            touches: found.touches.filter((touch) => touch.asset === name)
          })
        )
      }
      return recorded
    }),
    batch: follows.batch,
    start: follows.start,
    inGap: [supplies, movements, partyMovements, ...follows.keeps]
  }
]

/** Holdings that an update created and archived, those alone that `RegisterFromLedger` counts. */
const touchesOf = Effect.fnUntraced(function* (update: Whole) {
  const records = yield* Records
  const mine = update.events.filter((event) => key(event.template) === key(HoldingTemplate.typeRef))
  const ended = mine.flatMap((event) =>
    event._tag === "Exercised" && event.consuming ? [event.contractId] : []
  )
  const came = new Map<string, Omit<Touch, "nodeId" | "on">>()
  const assets = new Map<string, Asset>()
  const passing = new Set(ended)
  const touches: Array<Touch> = []
  for (const event of mine) {
    if (event._tag === "Exercised") continue
    // A holding created and archived in one update is in no active set, but takes part in its acts.
    if (!event.inAcs && !passing.has(event.contractId)) continue
    const read = countedOf(event.payload, update.venue)
    if (Result.isFailure(read) || read.success === null) continue
    const { registrar, instrument, owner, amount, lock, restricted } = read.success
    const asset = { registrar, instrumentId: instrument.id }
    assets.set(assetKeyOf(asset), asset)
    const held = {
      asset: assetKeyOf(asset),
      owner,
      amount,
      lock: lock === null ? ("free" as const) : ("locked" as const),
      transfer: restricted ? ("restricted" as const) : ("free" as const)
    }
    came.set(event.contractId, held)
    touches.push({ nodeId: event.nodeId, on: "came", ...held })
  }
  const before = yield* records.many(
    holdings,
    ended.filter((contractId) => !came.has(contractId))
  )
  const byId = new Map(before.map((stored) => [stored.contractId, stored]))
  for (const event of mine) {
    if (event._tag === "Created" || !event.consuming) continue
    const archived = byId.get(event.contractId)
    if (archived !== undefined && event.inAcs) assets.set(assetKeyOf(archived), archived)
    const held = came.get(event.contractId) ?? (event.inAcs ? heldOf(archived) : undefined)
    if (held !== undefined) touches.push({ nodeId: event.nodeId, on: "went", ...held })
  }
  return { touches, assets }
})

const heldOf = (holding: Holding | undefined): Omit<Touch, "nodeId" | "on"> | undefined =>
  holding === undefined
    ? undefined
    : {
        asset: assetKeyOf(holding),
        owner: holding.owner,
        amount: holding.amount,
        lock: holding.lock === null ? "free" : "locked",
        // Units that leave a party do not show what their receiver gets: those that come in do.
        transfer: "free"
      }

/** Loads the balances of the touched parties after the whole update. */
const balancesAfter = Effect.fnUntraced(function* ({ asset, touches }: Share) {
  const records = yield* Records
  const parties = new Set(touches.map(({ owner }) => owner))
  const entries = yield* records.many(
    registerEntries,
    [...parties].map((party) => idOf({ ...asset, party }))
  )
  return new Map(entries.map(({ party, units }) => [party, units]))
})

/** One instrument's share of an update. */
interface Share {
  readonly asset: Asset
  readonly moved: ReadonlyArray<UnitMovement>
  readonly touches: ReadonlyArray<Touch>
}

/**
 * Opens one instrument's movements on the axes of instrument and parties, and records its supply.
 */
const recordMovements = Effect.fnUntraced(function* (update: Whole, share: Share) {
  const records = yield* Records
  const { act, ledgerTime } = update
  const { registrar, instrumentId } = share.asset
  const isSnapshot = update.from === "snapshot"
  const recorded: Array<Movement> = []
  if (share.moved.length === 0 && !isSnapshot) {
    return { act, ledgerTime, movements: recorded, begunMovements: [] } satisfies RecordedMovements
  }
  const after = yield* balancesAfter(share)
  const balances = isSnapshot ? after : before(after, share.touches)
  const stored = Option.getOrUndefined(yield* records.find(supplies, assetKeyOf(share.asset)))
  const opening = stored ?? (yield* sumRegister(share.asset, balances))
  let { units: supply, holders, seq } = opening
  for (const { kind, from, to, units, reference, restricted } of share.moved) {
    seq += 1
    if (from !== to) {
      if (from !== null && Decimal.isZero(move(balances, from, Decimal.negate(units)))) holders -= 1
      if (to !== null && move(balances, to, units) === units) holders += 1
      if (from === null) supply = Decimal.add(supply, units)
      if (to === null) supply = Decimal.subtract(supply, units)
    }
    const moved = {
      registrar,
      instrumentId,
      seq,
      at: update.effectiveAt,
      offset: update.offset,
      updateId: update.updateId,
      kind,
      from,
      to,
      units,
      reference,
      ledgerTime,
      restricted
    }
    const movement = { ...moved, balanceAfter: supply, holdersAfter: holders }
    yield* LedgerRecord.open(movements, movement, update)
    recorded.push(movement)
    for (const party of new Set([from, to])) {
      if (party === null) continue
      const balanceAfter = balances.get(party) ?? Decimal.zero
      yield* LedgerRecord.open(partyMovements, { ...moved, party, balanceAfter }, update)
    }
  }
  const fact = { on: "move" as const, units: supply, holders, seq }
  if (stored !== undefined) yield* records.append(supplies, stored, fact, update.act)
  else
    yield* LedgerRecord.open(
      supplies,
      { registrar, instrumentId, units: supply, holders, seq },
      update
    )
  const begunMovements = isSnapshot
    ? [...after].map(([party, units]) => ({ registrar, instrumentId, party, units }))
    : []
  return { act, ledgerTime, movements: recorded, begunMovements } satisfies RecordedMovements
})

const move = (
  balances: Map<Party.Party, Decimal.Decimal>,
  party: Party.Party,
  by: Decimal.Decimal
): Decimal.Decimal => {
  const after = Decimal.add(balances.get(party) ?? Decimal.zero, by)
  balances.set(party, after)
  return after
}

/** Balances of the touched parties before the update. */
const before = (
  after: ReadonlyMap<Party.Party, Decimal.Decimal>,
  touches: ReadonlyArray<Touch>
): Map<Party.Party, Decimal.Decimal> => {
  const balances = new Map(after)
  for (const { on, owner, amount } of touches) {
    move(balances, owner, on === "came" ? Decimal.negate(amount) : amount)
  }
  return balances
}

/**
 * Sums the register of an instrument without a supply record. The sum is zero, unless the
 * projection began from a snapshot or before movements were recorded.
 */
const sumRegister = Effect.fnUntraced(function* (
  asset: Asset,
  touched: ReadonlyMap<Party.Party, Decimal.Decimal>
) {
  const records = yield* Records
  const held = [...touched.values()].filter(Decimal.isPositive)
  // The stream reads committed entries; entries that this transaction changed are among the
  // touched.
  return yield* records.stream(registerEntries, { where: { asset: [assetKeyOf(asset)] } }).pipe(
    Stream.filter(({ record }) => !touched.has(record.party)),
    Stream.runFold(
      (): Supply => ({ ...asset, units: Decimal.sum(held), holders: held.length, seq: 0 }),
      (sum, { record }) => ({
        ...sum,
        units: Decimal.add(sum.units, record.units),
        holders: sum.holders + 1
      })
    )
  )
})
