/** Input that a check has and does not compare: run and verdict name it, for each of the checks. */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Crypto } from "@bursar/engine-core/ports"
import { Effect, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import { FindingId, findings, first, type Sighting } from "#core/findings/Finding.ts"
import { idTextOf } from "#core/findings/FindingRules.ts"
import type { NotCompared } from "#core/findings/NotCompared.ts"
import { instrumentVerdicts } from "#core/reconciliation/verdict/InstrumentVerdict.ts"
import { venueNames } from "#core/reconciliation/checks/AllChecks.ts"
import { type CheckName, checkNames } from "#core/vocabulary/ReconciliationChecks.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Accounts from "./accounts.ts"
import * as Brief from "./brief-runs.ts"
import { forge } from "./forging.ts"
import * as Month from "./distributions.ts"
import * as Navs from "./navs.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"
import { reachableWhile } from "./unreachable.ts"

type Given = Effect.Effect<unknown, unknown, never>

/** Input of a check that it cannot compare, and what it is named by; or why all of its input is facts. */
type Row =
  | { readonly given: Given; readonly named: string; readonly why: string | null }
  | { readonly everyInputIsAFact: string }

const businessDate = Date.of("2026-07-30")
const idle = "nothing-to-compare"

/** A month that is executed and sealed, and only the sources of a test. */
const sealed = Effect.gen(function* () {
  const { stage, holders, point } = yield* Month.founded(["h1"])
  const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
  yield* Stating.alone
  yield* Month.opened(stage, point, lines)
})

/** Opens nothing but the fund. */
const opened = Effect.gen(function* () {
  yield* Month.founded(["h1"])
  yield* Stating.alone
})

const states = (
  options: Parameters<typeof Stating.source>[1],
  stated: Partial<Stating.Stated> = {}
) =>
  Effect.gen(function* () {
    const source = yield* Stating.source("source", options)
    yield* Stating.states(source, { businessDate, ...stated })
  })

const before = Instant.of("2020-01-01T00:00:00Z")
const given = (...steps: ReadonlyArray<Effect.Effect<unknown, unknown, unknown>>): Given =>
  Effect.forEach(steps, (step) => step, { discard: true }) as Given

/** Forges the distribution as a snapshot shows it: nobody knows which operation executed it. */
const ofSnapshot = Effect.gen(function* () {
  const records = yield* Records
  const { executedBy } = yield* records.get(distributions, "d-july")
  const fact = { on: "clear", at: yield* Instant.now, runId: "run_1" } as const
  const change = { executedBy: { ...executedBy, operationId: null } }
  yield* forge(distributions, "d-july", { fact, change })
})

const rows: Readonly<Record<CheckName, Row>> = {
  "register-supply": { everyInputIsAFact: "the sums of register and ledger" },
  "movements-balance": { everyInputIsAFact: "each party with an entry or a movement" },
  "register-line": {
    given: given(opened, states({}, { asOf: before })),
    named: "external-source source:2026-07-30 before-horizon needed",
    why: "before-horizon"
  },
  "statement-total": { everyInputIsAFact: "each statement has a number of lines" },
  "lots-holdings": { everyInputIsAFact: "each holder with lots or units" },
  "supply-outstanding": {
    given: given(opened, states({ kind: "nav" })),
    named: "external-source source total-missing",
    why: idle
  },
  "nav-price": {
    given: given(opened, states({ kind: "nav" })),
    named: "external-source source price-missing",
    why: idle
  },
  "nav-movement": {
    given: given(opened, mapped(), Navs.states({ businessDate, official: "1" })),
    named: "external-source nav-1 no-guardrail",
    why: idle
  },
  "nav-usable": { everyInputIsAFact: "a mapped feed has a state" },
  "statement-overdue": { everyInputIsAFact: "each source has dates that are due" },
  "statement-gap": { everyInputIsAFact: "each source with a statement" },
  "cash-settlement": { everyInputIsAFact: "each delivered order" },
  "cash-unmatched": { everyInputIsAFact: "each line that no order took whole" },
  "cash-balance": {
    given: given(opened, states({ kind: "cash", account: "acc-1", balances: "none" })),
    named: "external-source source balances-none",
    why: idle
  },
  "burned-unpaid": { everyInputIsAFact: "each burned order" },
  "claim-aging": { everyInputIsAFact: "each order that waits" },
  "custody-reserve": {
    given: given(opened, states({ kind: "custody", accountIs: null, assets: {} })),
    named: "external-source source no-reserve",
    why: idle
  },
  "reserve-cover": { everyInputIsAFact: "a reserve in force" },
  "reserve-report": { everyInputIsAFact: "reports, but for those of a snapshot, below" },
  "reserve-price-fresh": { everyInputIsAFact: "the assets of a reserve in force" },
  "distribution-recompute": { everyInputIsAFact: "the plan, or that a snapshot lacks it" },
  "distribution-identity": {
    given: given(sealed, ofSnapshot),
    named: "distribution d-july of-snapshot",
    why: idle
  },
  "distribution-unpaid": { everyInputIsAFact: "each payable distribution" },
  "suspended-lines": {
    given: given(
      sealed,
      Accounts.plants({
        ...{ externalAccountId: "acc-1" as never, kind: "cash", currency: "USD" },
        ...{ instrumentId: "fund-a" as never, segregated: true }
      })
    ),
    named: "external-account acc-1 statement-missing",
    why: idle
  },
  "restriction-effect": { everyInputIsAFact: "each holder that was restricted" },
  "admission-effect": { everyInputIsAFact: "each party on the register" },
  "holder-cap": { everyInputIsAFact: "the admissions of the instrument" },
  "projection-drift": { everyInputIsAFact: "contracts, but for an unreachable ledger, below" },
  "orphan-locks": { everyInputIsAFact: "each lock that names a record" },
  "policy-replay": { everyInputIsAFact: "each order, but for those of a brief run, below" }
}

/** Maps the feed of the NAVs. */
function mapped() {
  return Effect.gen(function* () {
    yield* Stating.source("nav-1", { kind: "nav" })
    yield* Calls.write(
      "policy.set",
      { instrumentId: "fund-a" },
      Navs.fed as never,
      Calls.operator,
      "1"
    )
    const { manifest } = yield* (yield* Records).get(instruments, "fund-a")
    expect(manifest?.navFeed?.externalSourceId).toBe("nav-1")
  })
}

const shown = (entry: NotCompared) =>
  [
    entry.subject.resourceKind,
    entry.subject.id,
    entry.why,
    ...(entry.isNeeded ? ["needed"] : [])
  ].join(" ")

/** What the latest run and the verdict of the fund say of a check. */
const named = (check: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const run = (yield* Reconciling.allRuns).at(-1)
    const verdict = yield* records.get(instrumentVerdicts, "fund-a")
    const sortedOf = (all: ReadonlyArray<NotCompared>) =>
      all.filter((entry) => entry.check === check).map(shown)
    return {
      why: run?.checks.find((ran) => ran.check === check)?.why ?? null,
      run: sortedOf(run?.notCompared ?? []),
      count: run?.notComparedCount === run?.notCompared.length,
      verdict: sortedOf(verdict.notCompared)
    }
  })

describe("input that a check does not compare", () => {
  it.each(
    checkNames.flatMap((name) => ("given" in rows[name] ? [[name, rows[name]] as const] : []))
  )("is named by run and verdict: %s", (name, row) =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* row.given
        yield* Reconciling.run('{"scope":{"instrumentIds":["fund-a"]}}')
        expect(yield* named(name)).toEqual({
          ...{ why: row.why, count: true },
          run: [row.named],
          verdict: [row.named]
        })
      }).pipe(Effect.provide(world())) as never
    )
  )

  it("is every check while the ledger is unreachable, and none any more afterwards", () => {
    const ledger = { isUp: true }
    return Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        ledger.isUp = false
        yield* Reconciling.run('{"scope":{"instrumentIds":["fund-a"]}}')
        for (const name of checkNames) {
          expect([name, ...(yield* named(name)).verdict]).toEqual([
            name,
            "instrument fund-a ledger-unreachable needed",
            ...(venueNames.includes(name) ? ["contract * ledger-unreachable needed"] : [])
          ])
        }
        ledger.isUp = true
        yield* Reconciling.run('{"scope":{"instrumentIds":["fund-a"]}}')
        expect((yield* named("projection-drift")).verdict).toEqual([])
      }).pipe(Effect.provide(world({ tamper: reachableWhile(() => ledger.isUp) })))
    )
  })

  it("is the orders that a brief run leaves out", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* Brief.scene
        yield* Brief.whole
        yield* Brief.brief
        expect((yield* named("policy-replay")).run).toEqual(["instrument fund-a compared-before"])
      }).pipe(Effect.provide(world()))
    ))
})

/** Plants an accepted finding of a bank's balance as releases before dated subjects opened it. */
const undated = (statement: { readonly source: string; readonly statementId: string }) =>
  Effect.gen(function* () {
    const records = yield* Records
    const { sha256 } = yield* Crypto
    const now = yield* Instant.now
    const about = {
      ...{ check: "cash-balance", instrumentId: "fund-a", holderId: null },
      subject: { resourceKind: "external-source", id: statement.source }
    } as const
    const findingId = Schema.decodeSync(FindingId)(idTextOf(about, sha256))
    const one = Decimal.one
    const seen: Sighting = {
      ...{ runId: "run_1", severity: "blocking", unit: "USD", tolerance: Decimal.zero },
      ...{ expected: Decimal.zero, actual: one, difference: one, unexplained: one },
      explained: { amount: Decimal.zero, by: [] },
      asOf: { offset: Offset.zero, instant: now },
      ...{ comparedAt: null, statementId: statement.statementId, missingDates: [], entry: null }
    }
    const accepted = {
      ...{ unexplained: one, reason: "known", holdId: "hold-1", operationId: "op-1", at: now }
    }
    const act = { cause: { by: "run", runId: "run_1" } as const, now }
    yield* records.transact(
      Effect.gen(function* () {
        const self = yield* records.open(findings, first({ findingId, ...about }, seen), act)
        yield* records.append(findings, self, { on: "accept", accepted }, act)
      })
    )
  })

describe("a finding that an earlier release opened, without a date in its subject", () => {
  it("keeps its identity and its acceptance while its statement is in force", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        const bank = yield* Stating.source("bank", { kind: "cash", account: "acc-1" })
        const balances = (opening: string, closing: string) => ({
          opening: Decimal.of(opening),
          closing: Decimal.of(closing)
        })
        const statementId = yield* Stating.states(bank, { businessDate, ...balances("0", "1") })
        yield* Stating.states(bank, {
          businessDate: Date.next(businessDate),
          ...balances("1", "1")
        })
        yield* undated({ source: "bank", statementId })
        yield* Reconciling.run()
        const found = Effect.map(Reconciling.found, (all) =>
          all.filter((text) => text.startsWith("cash-balance")).toSorted()
        )
        expect(yield* found).toEqual(["cash-balance bank accepted 1"])
        yield* Stating.states(bank, { businessDate, ...balances("0", "2") })
        yield* Reconciling.run()
        expect(yield* found).toEqual([
          "cash-balance acc-1:2026-07-31 open -1",
          "cash-balance bank cleared 1",
          "cash-balance bank:2026-07-30 open 2"
        ])
      }).pipe(Effect.provide(world()))
    ))
})
