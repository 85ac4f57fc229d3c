/** Movements, register and portfolio at every point are what the ledger's own account adds up to. */
import { Decimal, Instant, type Offset, type Party, Zone } from "@bursar/engine-core/kernel"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as LotLookups from "#core/instruments/lot/LotLookups.ts"
import * as SeriesQueries from "#core/overviews/series/SeriesQueries.ts"
import * as MovementQueries from "#core/overviews/register/MovementQueries.ts"
import * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import type { MovementView } from "#core/overviews/register/MovementQueries.ts"
import * as Calls from "../engine/calls.ts"
import { transactions } from "../engine/ledger-toys.ts"
import { world } from "../engine/world.ts"
import * as Reports from "../operations/reports.ts"
import * as Story from "../operations/story.ts"
import * as Venue from "../operations/venue.ts"
import { pinAt } from "../projection/stored-lots.ts"
import { runsOf } from "../long-run.ts"

const runs = runsOf(12)

const who = fc.constantFrom("alice" as const, "bob" as const)
const part = fc.integer({ min: 1, max: 4 })
const which = fc.nat(9)

/** Steps of the parties: each finds its own target, and is left out if there is none. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("receive" as const),
      to: fc.array(who, { minLength: 1, maxLength: 3 }),
      kind: fc.constantFrom("subscription", "mint", "distribution", "anything")
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("offer" as const), who, which, part }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("accept" as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reject" as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("allocate" as const), who, which, part }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("deallocate" as const), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("lock" as const), who, which, part }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("unlock" as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("merge" as const), who }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("request-burn" as const),
      who,
      which,
      part,
      kind: fc.constantFrom("redemption", "anything")
    })
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("burn" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reject-burn" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), hours: fc.nat(30) }) }
)
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

interface Stage {
  /** Up to which offset the parties only came together. */
  readonly staged: number
  readonly cast: Story.Cast
  readonly credentials: { readonly alice: string; readonly bob: string }
}

const holdingsOf = (by: Venue.Outsider, lock: "free" | "own") =>
  Effect.map(by.find(Templates.Holding), (all) =>
    all.filter(
      ({ payload }) =>
        payload.owner === by.party &&
        (lock === "free" ? payload.lock === null : payload.lock?.context === "own")
    )
  )

const partOf = (amount: Decimal.Decimal, quarters: number): Decimal.Decimal =>
  Decimal.fromAtoms((Decimal.atoms(amount) * BigInt(quarters) + 3n) / 4n)

const farDeadline = Instant.of("2030-01-01T00:00:00Z")

const commandsOf = (stage: Stage, one: Step, nth: number) =>
  Effect.gen(function* () {
    const { cast } = stage
    const me = "who" in one ? cast[one.who] : cast.registrar
    const other = "who" in one && one.who === "alice" ? cast.bob : cast.alice
    const from = "which" in one ? yield* holdingsOf(me, "free") : []
    const held = "which" in one ? from[one.which % Math.max(1, from.length)] : undefined
    const amount =
      held === undefined || !("part" in one) ? Decimal.zero : partOf(held.payload.amount, one.part)
    const acting = (...commands: ReadonlyArray<Ledger.Command>) => ({ me, commands })
    const onHolding = (choice: string, argument: Record<string, unknown>) =>
      held === undefined
        ? acting()
        : acting(
            Templates.exercise(
              Templates.Holding,
              held.contractId,
              choice as "Lock",
              argument as never
            )
          )
    const onFirst = <T extends Templates.Template>(template: T, choice: string, argument = {}) =>
      Effect.map(me.find(template), ([first]) =>
        first === undefined
          ? acting()
          : acting(
              Templates.exercise(template, first.contractId, choice as never, argument as never)
            )
      )
    switch (one.do) {
      case "receive":
        return acting(
          ...one.to.map((to, index) =>
            Templates.exercise(Templates.Credential, stage.credentials[to], "Receive", {
              amount: Decimal.of(`${nth + 1}.${index + 1}`),
              reference: { kind: one.kind, id: `r${nth}` },
              configurationCid: null
            })
          )
        )
      case "offer":
        return onHolding("OfferTransfer", {
          receiver: other.party,
          amount,
          executeBefore: farDeadline
        })
      case "accept":
        return yield* Effect.map(mineToTake(me), (found) =>
          found === undefined
            ? acting()
            : acting(
                Templates.exercise(Templates.TransferOffer, found, "Accept", {
                  credentialCid: stage.credentials[one.who]
                })
              )
        )
      case "reject":
        return yield* Effect.map(mineToTake(me), (found) =>
          found === undefined
            ? acting()
            : acting(Templates.exercise(Templates.TransferOffer, found, "Reject", {}))
        )
      case "allocate":
        return onHolding("Allocate", {
          allocationId: `a${nth}`,
          executor: cast.venue,
          receiver: other.party,
          amount,
          settleBefore: farDeadline
        })
      case "deallocate":
        return yield* Effect.map(allocatedBy(me), (found) =>
          found === undefined
            ? acting()
            : acting(Templates.exercise(Templates.Allocation, found, "Allocation_Withdraw", {}))
        )
      case "lock":
        return onHolding("Lock", {
          holders: [me.party],
          observers: [],
          context: "own",
          expiresAt: null,
          amount
        })
      case "unlock": {
        const [locked] = yield* holdingsOf(me, "own")
        return locked === undefined
          ? acting()
          : acting(
              Templates.exercise(Templates.Holding, locked.contractId, "Unlock", {
                releasers: [me.party]
              })
            )
      }
      case "merge": {
        const [first, ...rest] = yield* holdingsOf(me, "free")
        return first === undefined || rest.length === 0
          ? acting()
          : acting(
              Templates.exercise(Templates.Holding, first.contractId, "Merge", {
                holdingCids: rest.map(({ contractId }) => contractId)
              })
            )
      }
      case "request-burn":
        return onHolding("RequestBurn", {
          amount,
          reference: { kind: one.kind, id: `b${nth}` },
          custodian: null,
          executeBefore: farDeadline
        })
      case "burn":
        return yield* onFirst(Templates.BurnRequest, "Accept")
      case "reject-burn":
        return yield* onFirst(Templates.BurnRequest, "Reject")
      case "wait":
        yield* TestClock.adjust(`${one.hours} hours`)
        return acting()
    }
  })

const mineToTake = (me: Venue.Outsider) =>
  Effect.map(
    me.find(Templates.TransferOffer),
    (all) => all.find(({ payload }) => payload.receiver === me.party)?.contractId
  )

const allocatedBy = (me: Venue.Outsider) =>
  Effect.map(
    me.find(Templates.Allocation),
    (all) => all.find(({ payload }) => payload.sender === me.party)?.contractId
  )

/** Units of a party, computed by this test alone. */
interface Book {
  units: bigint
  locked: bigint
}
type Books = ReadonlyMap<string, Readonly<Book>>

/** The books after each update that the venue saw. */
const naive = (venue: Party.Party, all: ReadonlyArray<Ledger.Transaction>) => {
  const books = new Map<string, Book>()
  const alive = new Map<string, { owner: string; amount: bigint; locked: boolean }>()
  const after = new Map<number, Books>()
  const turn = (contractId: string, sign: 1n | -1n) => {
    const one = alive.get(contractId)
    if (one === undefined) return
    const book = books.get(one.owner) ?? { units: 0n, locked: 0n }
    book.units += sign * one.amount
    if (one.locked) book.locked += sign * one.amount
    books.set(one.owner, book)
    if (sign === -1n) alive.delete(contractId)
  }
  for (const update of all) {
    for (const event of update.events) {
      if (event.template.entity !== "Holding") continue
      if (event._tag === "Created") {
        if (event.payload["provider"] !== venue) continue
        alive.set(event.contractId, {
          owner: String(event.payload["owner"]),
          amount: BigInt(String(event.payload["amount"]).replace(".", "")),
          locked: event.payload["lock"] !== null
        })
        turn(event.contractId, 1n)
      } else if (event.consuming) turn(event.contractId, -1n)
    }
    after.set(
      update.offset,
      new Map([...books].flatMap(([o, b]) => (b.units === 0n ? [] : [[o, { ...b }] as const])))
    )
  }
  return after
}

type View = typeof MovementView.Type
const plain = (books: Books) => Object.fromEntries([...books].toSorted())

/** The books that an instrument's movements up to an offset come to, and that each left what it says. */
const folded = (all: ReadonlyArray<View>) => {
  const books = new Map<string, Book>()
  const bookOf = (party: string) => {
    const book = books.get(party) ?? { units: 0n, locked: 0n }
    books.set(party, book)
    return book
  }
  let supply = 0n
  for (const [index, one] of all.entries()) {
    const units = Decimal.atoms(one.units)
    expect(one.seq, "movements are numbered without a gap").toBe(index + 1)
    if (one.kind === "lock") bookOf(one.to ?? "").locked += units
    if (one.kind === "unlock") bookOf(one.to ?? "").locked -= units
    if (one.to !== null) bookOf(one.to).units += units
    if (one.from !== null) bookOf(one.from).units -= units
    if (one.from === null) supply += units
    if (one.to === null) supply -= units
    expect(Decimal.atoms(one.balanceAfter), `supply after ${one.kind}`).toBe(supply)
    for (const [party, { units: left, locked }] of books) {
      expect(left >= 0n && locked >= 0n && locked <= left, `${party} after ${one.kind}`).toBe(true)
    }
  }
  return new Map([...books].filter(([, { units }]) => units !== 0n))
}

const check = Effect.fnUntraced(function* ({ cast, staged }: Stage) {
  const expected = [...naive(cast.venue, yield* transactions)].filter(([at]) => at >= staged)
  const id = { instrumentId: Story.instrumentId }
  const asset = { registrar: cast.registrar.party, ...id }
  const all = (yield* Venue.list(MovementQueries.ofInstrument, id)).value
  let last: Books = new Map()
  for (const [offset, books] of expected) {
    const point = { at: offset as Offset.Offset }
    last = books
    const { value: register } = yield* Venue.register(id, { point })
    const lines = register.lines.map(({ party, units, locked }) => [
      party,
      { units: Decimal.atoms(units), locked: Decimal.atoms(locked) }
    ])
    expect(Object.fromEntries(lines.toSorted()), `register at ${offset}`).toEqual(plain(books))
    expect(register.head.holders).toBe(books.size)
    expect(Decimal.atoms(register.head.difference)).toBe(0n)
    const moved = (yield* Venue.list(MovementQueries.ofInstrument, id, { point })).value
    expect(moved).toEqual(all.filter((one) => one.offset <= offset))
    expect(plain(folded(moved)), `movements at ${offset}`).toEqual(plain(books))
    const held = [...books].map(([party, { units }]) => [party, units, units])
    const positions = yield* Stream.runCollect(LotLookups.positionsOf(asset, pinAt(offset)))
    expect(
      positions.map(({ party, units, remaining }) => [
        party,
        Decimal.atoms(units),
        Decimal.atoms(remaining)
      ]),
      `units of lots at ${offset}`
    ).toEqual(held.toSorted())
    const supply = [...books.values()].reduce((sum, { units }) => sum + units, 0n)
    expect(Decimal.atoms(moved.at(-1)?.balanceAfter ?? Decimal.zero)).toBe(supply)
  }
  for (const name of ["alice", "bob"] as const) {
    const { party } = cast[name]
    const holderId = Story.holderIdOf(name)
    const mine = (yield* Venue.list(MovementQueries.ofHolder, { holderId })).value
    const concerned = all.filter(({ from, to }) => from === party || to === party)
    expect(mine.map(({ seq }) => seq)).toEqual(concerned.map(({ seq }) => seq))
    let balance = 0n
    for (const one of mine) {
      if (one.to === party) balance += Decimal.atoms(one.units)
      if (one.from === party) balance -= Decimal.atoms(one.units)
      expect(Decimal.atoms(one.balanceAfter), `${name} after ${one.kind}`).toBe(balance)
    }
    expect(balance).toBe(last.get(party)?.units ?? 0n)
    for (const [offset, books] of expected) {
      const point = { at: offset as Offset.Offset }
      const { value: rows } = yield* Venue.read(PortfolioQueries.portfolio, { holderId }, { point })
      const book = books.get(party)
      expect(
        rows.map(({ units, locked }) => ({
          units: Decimal.atoms(units),
          locked: Decimal.atoms(locked)
        })),
        `portfolio of ${name} at ${offset}`
      ).toEqual(book === undefined ? [] : [book])
    }
  }
  yield* seriesAgree(expected, all)
  yield* Reports.keepLaws("Asia/Kolkata")
  const some = expected.filter((_, nth) => nth % 4 === 0)
  const offsets = some.map(([offset]) => offset as Offset.Offset)
  yield* Reports.keepFinal("America/Sao_Paulo", offsets)
  return all
})

/** Steps of a series end where the books stood at their end, by the latest ledger time so far. */
const seriesAgree = Effect.fnUntraced(function* (
  expected: ReadonlyArray<readonly [offset: number, books: Books]>,
  all: ReadonlyArray<View>
) {
  let time = 0n
  const times = new Map<number, bigint>()
  for (const { offset, effectiveAt } of yield* transactions) {
    time = effectiveAt > time ? effectiveAt : time
    times.set(offset, time)
  }
  const now = yield* Instant.now
  const ask = (metric: "supply" | "holders" | "subscriptions" | "redemptions") =>
    Effect.map(
      Venue.read(SeriesQueries.get, {
        instrumentId: Story.instrumentId,
        metric,
        interval: "day",
        zone: Zone.of("Asia/Kolkata")
      }),
      ({ value }) => value.points
    )
  const [supply, holders] = [yield* ask("supply"), yield* ask("holders")]
  expect(supply.length > 0).toBe(all.length > 0)
  for (const [index, { start, end, open, close, min, max }] of supply.entries()) {
    const inside = expected.filter(([offset]) => (times.get(offset) ?? 0n) < end)
    const books = inside.at(-1)?.[1] ?? new Map()
    const sum = (some: Books) => [...some.values()].reduce((all, { units }) => all + units, 0n)
    expect(close === null ? null : Decimal.atoms(close), `supply at ${end}`).toBe(sum(books))
    expect(holders[index]?.close).toBe(Decimal.fromInteger(books.size))
    const before = inside.filter(([offset]) => (times.get(offset) ?? 0n) < start)
    const within = [...before.slice(-1), ...inside.slice(before.length)].map(([, one]) => sum(one))
    const figures = before.length === 0 ? [0n, ...within] : within
    expect(open).toBe(figures[0])
    expect(min).toBe(figures.reduce((a, b) => (b < a ? b : a)))
    expect(max).toBe(figures.reduce((a, b) => (b > a ? b : a)))
    expect(end <= now || index === supply.length - 1, "only the last step is not over").toBe(true)
  }
  for (const [metric, kind] of [
    ["subscriptions", "subscription"],
    ["redemptions", "redemption"]
  ] as const) {
    const points = yield* ask(metric)
    expect(Decimal.sum(points.map(({ sum }) => sum ?? Decimal.zero))).toBe(
      Decimal.sum(all.filter((one) => one.kind === kind).map(({ units }) => units))
    )
  }
})

const staged = Effect.gen(function* () {
  const cast = yield* Story.cast
  yield* Venue.act(cast.registrar, Story.configuration(cast.registrar, cast))
  yield* Story.recorded(cast)
  yield* Story.consented(cast)
  yield* Story.registered(cast.alice, "alice", cast)
  yield* Story.registered(cast.bob, "bob", cast)
  const credentials = {
    alice: yield* Story.admitted(cast.alice, "alice"),
    bob: yield* Story.admitted(cast.bob, "bob")
  }
  return { cast, credentials, staged: yield* Venue.offsetNow } satisfies Stage
})

/** A history in which each kind of movement happens at least once. */
const everyKind: Array<Step> = [
  { do: "receive", to: ["alice", "bob"], kind: "subscription" },
  { do: "receive", to: ["alice"], kind: "mint" },
  { do: "receive", to: ["bob", "bob"], kind: "distribution" },
  { do: "offer", who: "alice", which: 0, part: 4 },
  { do: "accept", who: "bob" },
  { do: "lock", who: "bob", which: 0, part: 2 },
  { do: "merge", who: "bob" },
  { do: "unlock", who: "bob" },
  { do: "request-burn", who: "bob", which: 0, part: 1, kind: "redemption" },
  { do: "burn" },
  { do: "request-burn", who: "alice", which: 0, part: 4, kind: "anything" },
  { do: "burn" }
]

const skew = { minMillis: -20_000, maxMillis: 20_000 }

describe("the register over random histories", () => {
  it("movements, register and portfolio at every offset are what the ledger adds up to", async () => {
    const kinds = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 45, size: "max" }), (steps) => {
        const faults = SimulatedLedger.Faults.make()
        return Calls.runCase(
          Effect.gen(function* () {
            const stage = yield* staged
            faults.replace({ skew })
            for (const [nth, one] of steps.entries()) {
              const { me, commands } = yield* commandsOf(stage, one, nth)
              if (commands.length > 0) yield* Venue.actUnseen(me, ...commands)
              if (nth % 3 === 0) yield* Venue.settle
            }
            yield* Venue.settle
            for (const { kind } of yield* check(stage)) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
          }).pipe(Effect.provide(world({ faults })))
        )
      }),
      { numRuns: runs, examples: [[everyKind]] }
    )
    const reached = [...kinds.keys()].toSorted()
    expect(reached).toEqual([
      "burn",
      "distribution",
      "lock",
      "mint",
      "redemption",
      "subscription",
      "transfer",
      "unlock"
    ])
  })
})
