/**
 * Readings of movements: records every movement of units, for its instrument and for its parties.
 */
import { Effect, Option, Result, Stream } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Party from "../../kernel/Party.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Reading, Whole } from "../../projection/Reading.ts"
import { Records } from "../../records/Records.ts"
import { Holding as HoldingTemplate } from "../../templates/Registry.ts"
import { decodePayload, key } from "../../templates/Template.ts"
import { assetKeyOf, type Holding, holdings } from "./Holding.ts"
import { movements, partyMovements } from "./Movement.ts"
import * as MovementClaims from "./MovementClaimLookups.ts"
import { type Moved, movementsOf, type Touch } from "./MovementRules.ts"
import { idOf, registerEntries } from "./RegisterEntry.ts"
import { type Supply, supplies } from "./Supply.ts"

type Asset = Pick<Supply, "registrar" | "instrumentId">

/** Read after the update's every node: by then the register's entries stand as it leaves them. */
const holding: Reading = {
  template: HoldingTemplate.typeRef,
  whole: Effect.fn("Holding.whole")(function* (update) {
    const found = yield* touchesOf(update)
    if (found.touches.length === 0) return
    const claims = yield* MovementClaims.of(update)
    const moved = update.from === "snapshot" ? [] : movementsOf({ touches: found.touches, claims })
    for (const [name, asset] of found.assets) {
      yield* told(update, {
        asset,
        moved: moved.filter((one) => one.asset === name),
        touches: found.touches.filter((one) => one.asset === name)
      })
    }
  })
}

export const readings = [holding] as const

/** The holdings that came and went, as `RegisterReadings` counts them; what it never counted is none. */
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
    // What ends in the update that made it is in nobody's active set, and was still in somebody's hands.
    if (!event.inAcs && !passing.has(event.contractId)) continue
    const decoded = decodePayload(HoldingTemplate, event.payload)
    if (Result.isFailure(decoded) || decoded.success.provider !== update.venue) continue
    const { registrar, instrument, owner, amount, lock } = decoded.success
    const asset = { registrar, instrumentId: instrument.id }
    assets.set(assetKeyOf(asset), asset)
    const held = {
      asset: assetKeyOf(asset),
      owner,
      amount,
      lock: lock === null ? ("free" as const) : ("locked" as const)
    }
    came.set(event.contractId, held)
    touches.push({ nodeId: event.nodeId, on: "came", ...held })
  }
  const before = yield* records.many(
    holdings,
    ended.filter((contractId) => !came.has(contractId))
  )
  const known = new Map(before.map((one) => [one.contractId, one]))
  for (const event of mine) {
    if (event._tag === "Created" || !event.consuming) continue
    const one = known.get(event.contractId)
    if (one !== undefined && event.inAcs) assets.set(assetKeyOf(one), one)
    const held = came.get(event.contractId) ?? (event.inAcs ? heldOf(one) : undefined)
    if (held !== undefined) touches.push({ nodeId: event.nodeId, on: "went", ...held })
  }
  return { touches, assets }
})

const heldOf = (one: Holding | undefined): Omit<Touch, "nodeId" | "on"> | undefined =>
  one === undefined
    ? undefined
    : {
        asset: assetKeyOf(one),
        owner: one.owner,
        amount: one.amount,
        lock: one.lock === null ? "free" : "locked"
      }

/** Balances of the touched parties after the whole update. */
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
  readonly moved: ReadonlyArray<Moved>
  readonly touches: ReadonlyArray<Touch>
}

/** Opens the movements of one instrument, on its axis and its parties', and keeps the supply they leave. */
const told = Effect.fnUntraced(function* (update: Whole, of: Share) {
  const records = yield* Records
  const { registrar, instrumentId } = of.asset
  const isSnapshot = update.from === "snapshot"
  if (of.moved.length === 0 && !isSnapshot) return
  const after = yield* balancesAfter(of)
  const balances = isSnapshot ? after : before(after, of.touches)
  const known = Option.getOrUndefined(yield* records.find(supplies, assetKeyOf(of.asset)))
  const opening = known ?? (yield* counted(of.asset, balances))
  let { units: supply, holders, seq } = opening
  for (const { kind, from, to, units, reference } of of.moved) {
    seq += 1
    if (from !== to) {
      if (from !== null && Decimal.isZero(move(balances, from, Decimal.negate(units)))) holders -= 1
      if (to !== null && move(balances, to, units) === units) holders += 1
      if (from === null) supply = Decimal.add(supply, units)
      if (to === null) supply = Decimal.subtract(supply, units)
    }
    const movement = {
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
      ledgerTime: update.ledgerTime
    }
    yield* LedgerRecord.open(
      movements,
      { ...movement, balanceAfter: supply, holdersAfter: holders },
      update
    )
    for (const party of new Set([from, to])) {
      if (party === null) continue
      const balanceAfter = balances.get(party) ?? Decimal.zero
      yield* LedgerRecord.open(partyMovements, { ...movement, party, balanceAfter }, update)
    }
  }
  const fact = { on: "move" as const, units: supply, holders, seq }
  if (known !== undefined) yield* records.record(supplies, known, fact, update.act)
  else
    yield* LedgerRecord.open(
      supplies,
      { registrar, instrumentId, units: supply, holders, seq },
      update
    )
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
 * The supply of an instrument that has none on record: what the register holds. That is nothing,
 * unless the projection began from a snapshot or is older than its movements.
 */
const counted = Effect.fnUntraced(function* (
  asset: Asset,
  touched: ReadonlyMap<Party.Party, Decimal.Decimal>
) {
  const records = yield* Records
  const held = [...touched.values()].filter(Decimal.isPositive)
  // It sees what is committed: none of it is of this transaction, or there would be a supply.
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
