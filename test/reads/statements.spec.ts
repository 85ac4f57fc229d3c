/** Calls of a page to the store: one for each kind of data, however many records the page shows. */
import { type Read, Queries, Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Documents, FactLog, Feed, ProjectionLog } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as Memory from "@bursar/storage-adapters/memory"
import { Context, Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { admissions } from "#core/admissions/Admission.ts"
import { InstrumentId } from "#core/instruments/instrument/Instrument.ts"
import * as CalendarQueries from "#core/distributions/period/CalendarQueries.ts"
import * as InstrumentQueries from "#core/overviews/instrument/InstrumentQueries.ts"
import * as MovementQueries from "#core/overviews/register/MovementQueries.ts"
import * as PriceQueries from "#core/instruments/price/PriceQueries.ts"
import * as PolicyQueries from "#core/instruments/policy/PolicyQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Powers from "../operations/powers.ts"
import * as Restricting from "../operations/restricting.ts"

const storeCalls: Array<string> = []

/** The service, with each of its calls recorded. */
const noted = <S extends object>(name: string, service: S): S =>
  new Proxy(service, {
    get: (context, key, self) => {
      const member: unknown = Reflect.get(context, key, self)
      const call = `${name}.${String(key)}`
      // A wait, which asks the store for nothing.
      if (call === "feed.answersSettled") return member
      if (typeof member === "function") {
        return (...given: ReadonlyArray<unknown>) => {
          const query = given[0] as { readonly collection?: unknown } | undefined
          storeCalls.push(`${call} ${query?.collection ?? ""}`.trim())
          return Reflect.apply(member, context, given)
        }
      }
      return Effect.isEffect(member)
        ? Effect.andThen(
            Effect.sync(() => storeCalls.push(call)),
            member
          )
        : member
    }
  })

const storage: Layer.Layer<Memory.Storage> = Layer.effectContext(
  Effect.map(Layer.build(Memory.layer), (context) =>
    context.pipe(
      Context.add(Documents, noted("documents", Context.get(context, Documents))),
      Context.add(FactLog, noted("facts", Context.get(context, FactLog))),
      Context.add(Feed, noted("feed", Context.get(context, Feed))),
      Context.add(ProjectionLog, noted("projection", Context.get(context, ProjectionLog)))
    )
  )
)

const caller = Calls.person("olga", "operator")

/** Calls of one page to the store, after the point of the read was looked up before. */
const costOf = <R, F, P, V>(list: Read.List<R, F, P, V>, params: P) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const page = queries.page(list, { caller, params, point: {}, page: { limit: 50 } })
    yield* page
    storeCalls.length = 0
    const { value } = yield* page
    return { count: value.length, statements: storeCalls.toSorted() }
  })

const instrumentId = InstrumentId.make("fund-a")

/** A unit of the instrument moves, and a price of it is published: something to show. */
const happened = (stage: Fund.Parties) =>
  Effect.gen(function* () {
    yield* Fund.publishes(stage, "1.01", "2026-07-31T12:00:00Z")
    yield* stage.registrar.act(
      Templates.create(Templates.Holding, {
        registrar: stage.registrar.party,
        owner: stage.registrar.party,
        provider: stage.venue,
        instrument: stage.asset,
        amount: Decimal.of("5"),
        restricted: false,
        lock: null,
        label: "",
        meta: {}
      })
    )
  })

describe("a page asks the store for", () => {
  const params = { instrumentId }
  it.each([
    [
      "instruments",
      Effect.suspend(() => costOf(InstrumentQueries.list, {})),
      [
        "documents.get supply",
        "documents.list admission-consent",
        "documents.list approval",
        "documents.list hold",
        "documents.list instrument",
        "documents.list issuer-powers-agreement",
        "documents.list primary-market",
        "feed.answer"
      ]
    ],
    [
      "movements",
      Effect.suspend(() => costOf(MovementQueries.ofInstrument, params)),
      ["documents.get instrument", "documents.list movement", "feed.answer"]
    ],
    [
      "prices",
      Effect.suspend(() => costOf(PriceQueries.list, params)),
      [
        "documents.countBy policy-version",
        "documents.get instrument",
        "documents.list price-point",
        "feed.answer"
      ]
    ],
    [
      "policy versions",
      Effect.suspend(() => costOf(PolicyQueries.list, params)),
      ["documents.get instrument", "documents.list policy-version", "feed.answer"]
    ]
  ])("%s: each thing once, and nothing that it does not show", (_, cost, expected) =>
    Calls.runCase(
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* happened(stage)
        const { count, statements } = yield* cost
        expect(count).toBeGreaterThan(0)
        expect(statements).toEqual(expected)
      }).pipe(Effect.provide(world({ storage })))
    )
  )
})

describe("a page that is kept", () => {
  it("asks the store for the head alone, and not for the record that its path names", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* happened(yield* Fund.opened())
        const queries = yield* Queries
        const page = queries.pagePrinted(MovementQueries.ofInstrument, {
          caller,
          params: { instrumentId },
          point: {},
          page: { limit: 50 },
          target: "/v1/instruments/fund-a/movements?limit=50",
          print: (values) =>
            Effect.succeed({
              bytes: new TextEncoder().encode(String(values.length)),
              records: values.length
            })
        })
        const { printed } = yield* page
        storeCalls.length = 0
        expect((yield* page).printed).toEqual(printed)
        expect(storeCalls).toEqual(["feed.answer"])
      }).pipe(Effect.provide(world({ storage })))
    ))
})

describe("a page of the distribution calendar", () => {
  it("asks for the facts of the instruments of its rows and the row after, and of no other", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const distribution = {
          schedule: "monthly",
          withholding: 0,
          payoutDecimals: 2,
          payout: "units"
        } as const
        const { oracle, registrar } = yield* Fund.opened({ distribution })
        const parties = { registrar: registrar.party, oracle: oracle.party }
        for (const [id, terms] of [
          ["fund-b", { distribution }],
          ["fund-c", { distribution }],
          ["fund-d", {}]
        ] as const) {
          const body = { ...bodyOf(), ...terms, ...parties, instrumentId: id }
          yield* Calls.write("instrument.record", {}, body)
        }
        const queries = yield* Queries
        const factsOf = (limit: number) =>
          Effect.gen(function* () {
            storeCalls.length = 0
            const point = {}
            const page = { limit }
            const asking = { caller, params: {}, point, page }
            const { value } = yield* queries.page(CalendarQueries.list, asking)
            const points = storeCalls.filter((statement) => statement.endsWith(" price-point"))
            return [value.map((row) => row.instrumentId), points.length]
          })
        // The row after a page says whether another page follows.
        expect(yield* factsOf(1)).toEqual([["fund-a"], 2])
        expect(yield* factsOf(3)).toEqual([["fund-a", "fund-b", "fund-c"], 3])
      }).pipe(Effect.provide(world({ storage })))
    ))
})

/** A holder is admitted; returns its withdrawal, which the projection does not read yet. */
const admits = (stage: Fund.Parties, holderId: string) =>
  Effect.gen(function* () {
    const who = yield* Fund.outsider(holderId)
    yield* Cycles.joinsAs(stage, holderId, who)
    const { cid } = yield* Powers.saying(Templates.Credential, { holder: who.party })
    return who.submit(Templates.exercise(Templates.Credential, cid, "Renounce", {}))
  })

describe("a change of what lines wait for asks the store for lines", () => {
  const isOfLines = (statement: string) => statement.endsWith(" distribution-line")

  it("once for each transaction of the projection while none is owed, however many changes it has", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const stage = yield* Fund.opened({ holderCap: 100 })
        const withdrawals = yield* Effect.forEach(["h1", "h2", "h3", "h4"], (holderId) =>
          admits(stage, holderId)
        )
        storeCalls.length = 0
        for (const withdraws of withdrawals) yield* withdraws
        yield* Calls.catchUp
        expect(storeCalls.filter(isOfLines)).toEqual(["documents.list distribution-line"])
        const records = yield* Records
        const ended = yield* records.list(admissions, { where: { state: ["revoked"] }, limit: 9 })
        expect(ended).toHaveLength(withdrawals.length)
      }).pipe(Effect.provide(world({ storage })))
    ))

  it("once for a write of one holder, after the lock of restrictions", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* Cycles.joins(stage, "h1")
        storeCalls.length = 0
        yield* Restricting.restricts("h1", "r1")
        expect(storeCalls.filter(isOfLines)).toEqual(["documents.stream distribution-line"])
      }).pipe(Effect.provide(world({ storage })))
    ))
})
