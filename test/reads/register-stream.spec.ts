/** A register of very many lines: every line is whole, and its cost is that of its chunks. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset, type Party } from "@bursar/engine-core/kernel"
import { Effect, Stream } from "effect"
import { describe, expect, it } from "@effect/vitest"
import { type Admission, admissions } from "#core/admissions/Admission.ts"
import { holderParties } from "#core/holders/holder/Holder.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { supplies } from "#core/instruments/register/Supply.ts"
import type { Collection } from "#core/kernel/Collection.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { register } from "#core/overviews/register/RegisterQueries.ts"
import { restrictions } from "#core/restraints/restriction/Restriction.ts"
import * as Csv from "#core/reads/Csv.ts"
import * as Redemptions from "../machines/redemptions.ts"
import * as Subscriptions from "../machines/subscriptions.ts"
import * as Story from "../operations/story.ts"
import * as Venue from "../operations/venue.ts"

const { id } = Subscriptions
const since = Instant.of("2026-02-03T23:59:59Z")
const act = { cause: { by: "run", runId: "seed" } as const, now: since }
const asset = (cast: Story.Cast) => ({
  registrar: cast.registrar.party,
  instrumentId: Story.instrumentId
})

/** One party in this many is no holder. */
const strangerOneIn = 7
const digits = (nth: number) => String(nth).padStart(5, "0")
const holderId = (nth: number) => id<"HolderId">(`h-${digits(nth)}`)
const isHolder = (nth: number) => nth % strangerOneIn !== 0
// Hints of a ledger's parties may begin as a formula does.
const partyOf = (nth: number) => Subscriptions.party(`-${digits(nth)}`)
const unitsOf = (nth: number) => Decimal.fromAtoms(10_000_000_001n + BigInt(nth))

const all = <R, F>(collection: Collection<R, F>, records: ReadonlyArray<NoInfer<R>>) =>
  Effect.flatMap(Records, ({ open, transact }) =>
    transact(Effect.forEach(records, (one) => open(collection, one, act), { discard: true }))
  )
const many = <A>(count: number, make: (nth: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, nth) => make(nth))

const admission = (cast: Story.Cast, nth: number, change: Partial<Admission>): Admission => ({
  admissionId: `adm-${digits(nth)}`,
  holderId: holderId(nth),
  ...asset(cast),
  party: partyOf(nth),
  state: "admitted",
  offeredAt: since,
  offset: Offset.of(nth + 1),
  expiresAt: null,
  admittedAt: since,
  validFrom: null,
  validUntil: null,
  offerCid: null,
  credentialCid: "ab".repeat(34),
  endedAt: null,
  endedBy: null,
  recoveredBy: null,
  ...change
})

interface Seed {
  readonly lines: number
  /** Holders that are restricted, and that redeem by so many orders each, from the first. */
  readonly restricted: number
  readonly ordering: number
  readonly orders: number
}

/** A register whose every fifth holder is admitted, the first of them after an earlier admission. */
const seeded = Effect.fnUntraced(function* ({ lines, restricted, ordering, orders }: Seed) {
  const cast = yield* Story.cast
  yield* Story.recorded(cast)
  yield* all(
    registerEntries,
    many(lines, (nth) => ({
      ...asset(cast),
      party: partyOf(nth),
      units: unitsOf(nth),
      locked: nth === 1 ? Decimal.fromAtoms(7n) : Decimal.zero,
      since,
      emptySince: null
    }))
  )
  const holders = many(lines, (nth) => nth).filter(isHolder)
  yield* all(
    holderParties,
    holders.map((nth) => ({ party: partyOf(nth), holderId: holderId(nth) }))
  )
  yield* all(admissions, [
    admission(cast, 5, {
      admissionId: "adm-before",
      offset: Offset.of(1),
      state: "revoked",
      endedAt: since,
      endedBy: "venue"
    }),
    ...holders.filter((nth) => nth % 5 === 0).map((nth) => admission(cast, nth, {}))
  ])
  yield* all(
    restrictions,
    holders.slice(0, restricted).map((nth) => ({
      restrictionId: id<"RestrictionId">(`r-${digits(nth)}`),
      holderId: holderId(nth),
      party: partyOf(nth),
      instrumentId: nth % 2 === 0 ? null : Story.instrumentId,
      mode: "freeze" as const,
      reason: "pledge" as const,
      order: null,
      state: "active" as const,
      by: "rita",
      from: since,
      autoReleaseAt: null,
      liftedBy: null,
      liftReason: null,
      endedAt: null,
      supersedes: null,
      operationId: "op-1"
    }))
  )
  const orderers = holders.slice(0, ordering)
  yield* all(
    redemptions,
    orderers.flatMap((nth) =>
      many(orders, (order) =>
        Redemptions.claimed({
          ...asset(cast),
          redemptionId: id(`red-${digits(nth)}-${order}`),
          holderId: holderId(nth),
          units: Decimal.fromInteger(nth + 1)
        })
      )
    )
  )
  yield* all(supplies, [
    {
      ...asset(cast),
      units: Decimal.sum(many(lines, unitsOf)),
      holders: lines,
      seq: lines
    }
  ])
  return cast
})

type Line = { readonly [K in keyof (typeof register.row)["Type"]]: unknown }

/** A line computed by this test alone, from the seed's figures. */
const expected = (nth: number, { restricted, ordering, orders, lines }: Seed): Line => {
  // Holders before it.
  const place = nth - Math.ceil(nth / strangerOneIn)
  const total = BigInt(lines) * 10_000_000_001n + (BigInt(lines) * BigInt(lines - 1)) / 2n
  return {
    holderId: isHolder(nth) ? holderId(nth) : null,
    party: partyOf(nth),
    units: unitsOf(nth),
    locked: nth === 1 ? Decimal.fromAtoms(7n) : Decimal.zero,
    pendingIn: Decimal.zero,
    pendingOut:
      isHolder(nth) && place < ordering ? Decimal.fromInteger(orders * (nth + 1)) : Decimal.zero,
    share: Decimal.fromAtoms((Decimal.atoms(unitsOf(nth)) * 10n ** 10n) / total),
    admissionState: isHolder(nth) && nth % 5 === 0 ? "admitted" : null,
    restricted: isHolder(nth) && place < restricted,
    since: "2026-02-03"
  }
}

/** Records that count their look-ups, by collection. */
const counting = (records: Records["Service"]) => {
  const lookups = new Map<string, number>()
  const count = ({ name }: { readonly name: string }) =>
    lookups.set(name, (lookups.get(name) ?? 0) + 1)
  const counted: Records["Service"] = {
    ...records,
    find: (collection, ...args) => (count(collection), records.find(collection, ...args)),
    get: (collection, ...args) => (count(collection), records.get(collection, ...args)),
    many: (collection, ...args) => (count(collection), records.many(collection, ...args)),
    list: (collection, query) => (count(collection), records.list(collection, query)),
    countBy: (collection, ...args) => (count(collection), records.countBy(collection, ...args)),
    stream: (collection, query) =>
      Stream.suspend(() => (count(collection), records.stream(collection, query)))
  }
  return { lookups, records: counted }
}

/** The register's parts, made on records that count. */
const parts = Effect.fnUntraced(function* (role: "auditor" | "app" = "auditor") {
  const { lookups, records } = counting(yield* Records)
  const now = yield* Instant.now
  const answer = yield* register
    .run(
      { instrumentId: Story.instrumentId },
      {
        caller: Venue.auditor,
        role,
        sight: "all",
        venue: "venue::1220aa" as Party.Party,
        pin: {
          offset: Offset.zero,
          ledgerTime: null,
          select: { by: "latest" },
          judgedAt: now
        },
        now
      }
    )
    .pipe(Effect.provideService(Records, records))
  return { ...answer, rows: answer.rows ?? Stream.empty, lookups }
})

const chunks = (lines: number) => Math.ceil(lines / 500)

describe("a register of 10,000 lines", () => {
  // Register with more orders and restrictions than one look-up holds, so that each chunk needs its
  // own.
  const seed: Seed = { lines: 10_000, restricted: 1_200, ordering: 11, orders: 100 }

  it.effect("has each once, in the order of the parties, as the records of its holder say", () =>
    Effect.gen(function* () {
      yield* seeded(seed)
      const { lookups, record, rows } = yield* parts()
      const before = new Map(lookups)
      const lines = yield* Stream.runCollect(rows)
      expect(lines.length).toBe(seed.lines)
      for (const [nth, line] of lines.entries()) expect(line).toEqual(expected(nth, seed))
      const totalUnits = Decimal.sum(lines.map(({ units }) => units))
      expect(record.head).toEqual({
        totalUnits,
        supplyOnLedger: totalUnits,
        difference: Decimal.zero,
        holders: seed.lines
      })
      expect(Math.max(...before.values())).toBe(1)
      expect(register.isSmall?.(record)).toBe(false)
      for (const [name, times] of before) lookups.set(name, (lookups.get(name) ?? 0) - times)
      // One look-up a kind and chunk, and one of a kind to see how many there are.
      expect(Object.fromEntries(lookups)).toEqual({
        instrument: 0,
        supply: 0,
        "register-entry": 1,
        "holder-party": chunks(seed.lines),
        admission: chunks(seed.lines),
        subscription: 1,
        // The orders of the first chunk are more than a page has.
        redemption: 1 + chunks(seed.lines) + 1,
        restriction: 1 + chunks(seed.lines)
      })
      // A caller that leaves after a line is read no further than the chunks that were under way.
      const left = yield* parts()
      yield* Stream.runDrain(Stream.take(left.rows, 1))
      expect(left.lookups.get("holder-party")).toBeLessThanOrEqual(4)
    }).pipe(Venue.engine())
  )
})

describe("a register", () => {
  it.effect("of few orders and restrictions says the same, and holds them", () =>
    Effect.gen(function* () {
      const seed: Seed = { lines: 1_203, restricted: 20, ordering: 10, orders: 1 }
      yield* seeded(seed)
      const { lookups, rows } = yield* parts()
      const lines = yield* Stream.runCollect(rows)
      for (const [nth, line] of lines.entries()) expect(line).toEqual(expected(nth, seed))
      expect([lookups.get("redemption"), lookups.get("restriction")]).toEqual([1, 1])
      // An app is shown no restriction, and none is looked up for it.
      const app = yield* parts("app")
      expect(yield* Stream.runCollect(app.rows)).toEqual(
        lines.map((line) => ({ ...line, restricted: null }))
      )
      expect(app.lookups.get("restriction")).toBeUndefined()
      // The register as a table: the same lines, with no party's hint that a spreadsheet would run.
      const table = Csv.body(register.csv!, lines).split("\r\n")
      expect(table.length).toBe(seed.lines + 1)
      expect(table[1]).toBe(
        `"h-00001","'${partyOf(1)}",1.0000000002,0.0000000007,0.0000000000,2.0000000000,0.0008312551,,true,"2026-02-03"`
      )
    }).pipe(Venue.engine())
  )

  it.effect("of an instrument without holders has a head of zeros and no line", () =>
    Effect.gen(function* () {
      const cast = yield* Story.cast
      yield* Story.recorded(cast)
      const { value } = yield* Venue.register({ instrumentId: Story.instrumentId })
      const zero = Decimal.zero
      expect(register.isSmall?.(value)).toBe(true)
      expect(value).toEqual({
        instrumentId: Story.instrumentId,
        head: { totalUnits: zero, supplyOnLedger: zero, difference: zero, holders: 0 },
        lines: []
      })
    }).pipe(Venue.engine())
  )
})
