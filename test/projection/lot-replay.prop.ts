/**
 * Lots of a store that recorded movements before it kept lots: the same, at every offset, as if it
 * had kept them, wherever the replay was stopped on its way.
 */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset, type Party } from "@bursar/engine-core/kernel"
import * as Memory from "@bursar/storage-adapters/memory"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Layer, Logger, Option } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { lotReplays, replayId } from "#core/instruments/lot/LotReplay.ts"
import * as LotReplaySteps from "#core/instruments/lot/LotReplaySteps.ts"
import * as LotRules from "#core/instruments/lot/LotRules.ts"
import { assetKeyOf } from "#core/instruments/register/Holding.ts"
import { movements } from "#core/instruments/register/Movement.ts"
import { idOf, registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { supplies } from "#core/instruments/register/Supply.ts"
import type { Start } from "#core/projection/FromLedger.ts"
import * as RecordsLayer from "#core/records/layer.ts"
import { begin, funds, heldBy, histories, parties, shownLot } from "../rules/lot-histories.ts"
import * as StoredLots from "./stored-lots.ts"
import { runsOf } from "../long-run.ts"

const layer = Layer.mergeAll(RecordsLayer.layer, Logger.layer([])).pipe(
  Layer.provide(NodeCrypto.layerCrypto),
  Layer.provide(Memory.layer)
)

/** Steps that a snapshot has folded already, and those whose movements were recorded after it. */
interface Past {
  readonly before: ReadonlyArray<LotRules.Step>
  readonly after: ReadonlyArray<LotRules.Step>
}

/** Offset of the snapshot; each movement after it is an update of its own. */
const snapshotAt = 3

const actAt = (offset: number) => ({
  cause: {
    by: "update" as const,
    updateId: `u${offset}`,
    offset: Offset.of(offset),
    effectiveAt: begin
  },
  now: begin,
  offset: Offset.of(offset)
})

const entries = funds.flatMap((fund) => parties.map((party) => ({ ...fund, party })))

/** Records a past as a version without lots did: the register, the movements and the supplies. */
const recordWithoutLots = Effect.fnUntraced(function* ({ after, before }: Past) {
  const records = yield* Records
  const write = <A, E>(effect: Effect.Effect<A, E, Records>) => records.transactAlone(effect)
  yield* write(
    Effect.gen(function* () {
      for (const entry of entries) {
        const units = heldBy(before, idOf(entry))
        if (Decimal.isZero(units)) continue
        const line = { ...entry, units, locked: Decimal.zero, since: begin, emptySince: null }
        yield* records.open(registerEntries, line, actAt(snapshotAt))
      }
    })
  )
  const supplyBefore = new Map(
    funds.map((fund) => [fund.instrumentId, Decimal.sum(unitsOf(fund.instrumentId, before))])
  )
  for (const [index, step] of after.entries()) {
    const { from, instrumentId, to, units } = step.movement
    const offset = snapshotAt + 1 + index
    const supply = Decimal.add(
      supplyBefore.get(instrumentId) ?? Decimal.zero,
      from === null ? units : to === null ? Decimal.negate(units) : Decimal.zero
    )
    supplyBefore.set(instrumentId, supply)
    const movement = { ...StoredLots.movementOf(step, offset), balanceAfter: supply }
    // A rebase moves nothing, and so leaves no movement.
    const kind = from === to ? ("lock" as const) : movement.kind
    yield* write(records.open(movements, { ...movement, kind }, actAt(offset)))
    if (from === to) continue
    if (from !== null) yield* write(changeRegister(step, { party: from, on: "remove", offset }))
    if (to !== null) yield* write(changeRegister(step, { party: to, on: "add", offset }))
  }
  yield* write(
    Effect.forEach(funds, (fund) => {
      const seq = after.filter((step) => step.movement.instrumentId === fund.instrumentId).length
      const isTouched = seq > 0 || unitsOf(fund.instrumentId, before).some(Decimal.isPositive)
      const supply = { ...fund, units: Decimal.one, holders: 1, seq }
      return isTouched ? records.open(supplies, supply, actAt(snapshotAt)) : Effect.void
    })
  )
})

const changeRegister = Effect.fnUntraced(function* (
  { movement: { instrumentId, registrar, units } }: LotRules.Step,
  record: { readonly party: Party.Party; readonly on: "add" | "remove"; readonly offset: number }
) {
  const records = yield* Records
  const line = { registrar, instrumentId, party: record.party }
  const act = actAt(record.offset)
  const found = yield* records.find(registerEntries, idOf(line))
  const locked = Decimal.zero
  if (Option.isNone(found)) {
    const entry = { ...line, units, locked, since: begin, emptySince: null }
    yield* records.open(registerEntries, entry, act)
    return
  }
  const fact = { on: record.on, units, locked, at: begin, offset: Offset.of(record.offset) }
  yield* records.append(registerEntries, found.value, fact, act)
})

const unitsOf = (instrumentId: string, steps: ReadonlyArray<LotRules.Step>) =>
  entries
    .filter((entry) => entry.instrumentId === instrumentId)
    .map((entry) => heldBy(steps, idOf(entry)))

const startOf = ({ after }: Past, horizon: number): Start => ({
  offset: Offset.of(snapshotAt + after.length),
  horizonOffset: Offset.of(horizon),
  ledgerTime: begin,
  ledgerTimeAt: () => Effect.succeed(Option.some(begin))
})

/** The movements after a snapshot, numbered from 1 in each instrument. */
const pastOf = (steps: ReadonlyArray<LotRules.Step>, cut: number): Past => {
  const counts = new Map<string, number>()
  return {
    before: steps.slice(0, cut),
    after: steps.slice(cut).map(({ acquisition, movement }) => {
      const seq = (counts.get(movement.instrumentId) ?? 0) + 1
      counts.set(movement.instrumentId, seq)
      return { acquisition, movement: { ...movement, seq } }
    })
  }
}

/**
 * The lots that keeping them would have come to: of an instrument with units in the snapshot from the
 * horizon on, of another one from its first unit.
 */
const expectedAt = (
  { after, before }: Past,
  { horizon, offset }: { readonly horizon: number; readonly offset: number }
): ReadonlyArray<string> =>
  funds
    .flatMap(({ instrumentId }) => {
      const ofFund = (steps: ReadonlyArray<LotRules.Step>) =>
        steps.filter(({ movement }) => movement.instrumentId === instrumentId)
      const isNew = !unitsOf(instrumentId, before).some(Decimal.isPositive)
      const from = isNew ? 0 : horizon - snapshotAt
      const until = ofFund([...before, ...after.slice(0, from)])
      const held = entries
        .filter((entry) => entry.instrumentId === instrumentId)
        .map((entry) => ({ ...entry, units: isNew ? Decimal.zero : heldBy(until, idOf(entry)) }))
      const opening = LotRules.ofSnapshot(held, begin).map((lot) => [idOf(lot), [lot]] as const)
      const steps = ofFund(after.slice(from, offset - snapshotAt))
      return [...LotRules.fold(new Map(opening), steps).values()].flat()
    })
    .map(shownLot)
    .toSorted()

describe("the replay of movements into lots", () => {
  it("never differs from lots that were kept, though it is stopped after any page", async () => {
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.oneof(fc.constant(0), fc.nat(12)),
        fc.integer({ min: 1, max: 5 }),
        fc.nat(8),
        fc.oneof(fc.constant(0), fc.nat(20)),
        (steps, cut, pageMax, stopped, pruned) =>
          Effect.gen(function* () {
            const records = yield* Records
            const past = pastOf(steps, cut)
            yield* recordWithoutLots(past)
            const horizon = snapshotAt + Math.min(pruned, past.after.length)
            const start = startOf(past, horizon)
            const settings = { fold: StoredLots.foldOf(past.after), pageMax }
            const isAny = (yield* records.list(supplies, { limit: 1 })).length > 0
            for (let page = 0; isAny && page < stopped; page += 1) {
              yield* records.transactAlone(LotReplaySteps.replayPage(settings, start))
            }
            yield* LotReplaySteps.replay(settings)(start)
            for (let offset = horizon; offset <= snapshotAt + past.after.length; offset += 1) {
              const lots = yield* StoredLots.storedLots(offset)
              expect(lots.map(shownLot).toSorted()).toEqual(expectedAt(past, { horizon, offset }))
            }
            // A second start finds it done, and so does one of a store without movements.
            yield* LotReplaySteps.replay(settings)(start)
            const replayed = yield* records.find(lotReplays, replayId)
            expect(Option.isSome(replayed) && replayed.value.isDone).toBe(isAny)
          }).pipe(Effect.provide(layer), Effect.runPromise)
      ),
      { numRuns: runsOf(40) }
    )
  })

  it("is not made in a store that has kept lots from its first movement", async () => {
    const [fund] = funds
    const [alice] = parties
    if (fund === undefined || alice === undefined) throw new Error("there is no party")
    const minted: LotRules.Step = {
      acquisition: null,
      movement: {
        ...fund,
        ...{ seq: 1, kind: "mint" },
        from: null,
        to: alice,
        units: Decimal.one,
        ledgerTime: Instant.of("2026-07-01T00:00:00Z"),
        reference: null
      }
    }
    const past = pastOf([minted], 0)
    await Effect.gen(function* () {
      const records = yield* Records
      yield* recordWithoutLots(past)
      const fold = StoredLots.foldOf(past.after)
      yield* StoredLots.foldStored(past.after, { updates: [1], batch: 1 })
      yield* LotReplaySteps.replay({ fold, pageMax: 1 })(startOf(past, snapshotAt))
      expect(Option.isNone(yield* records.find(lotReplays, replayId))).toBe(true)
      expect((yield* StoredLots.storedLots()).length).toBe(1)
      expect(yield* records.list(supplies, { limit: 9 })).toMatchObject([
        { sortKey: assetKeyOf(fund) }
      ])
    }).pipe(Effect.provide(layer), Effect.runPromise)
  })
})
