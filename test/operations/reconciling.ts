/** Steps of tests of reconciliation: a run that is called for, planted differences, what was found. */
import { type Caller, Reconciler, Records } from "@bursar/engine-core"
import { Decimal, Instant, type Party, PlainJson, Shape } from "@bursar/engine-core/kernel"
import { RunRequest } from "@bursar/engine-core"
import { Effect, Result } from "effect"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import { findings as collection } from "#core/findings/Finding.ts"
import { idOf, registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { checks } from "#core/reconciliation/checks/AllChecks.ts"
import { runs } from "#core/reconciliation/run/Run.ts"
import { holds } from "#core/restraints/hold/Hold.ts"
import * as Calls from "../engine/calls.ts"

const decoder = Shape.decoder(RunRequest)

/** Number of runs so far to which the test gave no key of its own. */
let keyedRuns = 0

/** A run that is called for: its record as the answer shows it. */
export const run = (
  body = "{}",
  options: { readonly caller?: Caller.Caller; readonly key?: string | null } = {}
) =>
  Effect.gen(function* () {
    const runner = yield* Reconciler
    const parsed = Result.getOrThrow(PlainJson.parse(body))
    const request = yield* Effect.fromResult(decoder.decode(parsed as object, () => "/body"))
    const started = yield* runner.start({
      caller: options.caller ?? Calls.person("rita", "risk"),
      identity: Calls.identity(),
      key: options.key === undefined ? `run-${++keyedRuns}` : options.key,
      request,
      body: parsed
    })
    const value = JSON.parse(PlainJson.stringify(started.value)) as Shown
    const undeclared = value.notCompared.filter(({ check, why }) => !mayBeSaid(check, why))
    if (undeclared.length > 0) throw new Error(`undeclared: ${JSON.stringify(undeclared)}`)
    return { ...started, value }
  })

/** Reasons that any check may say, whatever it declares. */
const anyCheck: ReadonlyArray<string> = ["ledger-unreachable", "internal"]

/** Checks whether the page of the check has the reason, or any check may say it. */
const mayBeSaid = (name: string, why: string): boolean =>
  anyCheck.includes(why) ||
  Object.hasOwn(checks.find((check) => check.name === name)?.cannot ?? {}, why)

interface Shown {
  readonly runId: string
  readonly trigger: string
  readonly verdict: string
  readonly asOf: number
  readonly checks: ReadonlyArray<{
    readonly check: string
    readonly ran: boolean
    readonly why: string | null
    readonly findings: number
  }>
  readonly notCompared: ReadonlyArray<{ readonly check: string; readonly why: string }>
  readonly holdsOpened: ReadonlyArray<string>
  readonly distributionsCleared: ReadonlyArray<string>
}

/** Changes a register's entry behind the projection's back, by units that no holding has. */
export const plant = (
  holding: { readonly registrar: string; readonly instrumentId: string; readonly party: string },
  units: string
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const act = { cause: { by: "run", runId: "fault" } as const, now: yield* Instant.now }
    const by = Decimal.of(units)
    yield* records.transact(
      Effect.gen(function* () {
        const entry = yield* records.get(
          registerEntries,
          idOf(holding as Parameters<typeof idOf>[0])
        )
        const fact = {
          on: Decimal.isNegative(by) ? ("remove" as const) : ("add" as const),
          units: Decimal.abs(by),
          locked: Decimal.zero,
          at: entry.since,
          offset: yield* offset
        }
        yield* records.append(registerEntries, entry, fact, { ...act, offset: fact.offset })
      })
    )
  })

const offset = Effect.flatMap(Calls.catchUp, ({ offset }) => Effect.succeed(offset as never))

/** Every finding, as `check subject state unexplained`. */
export const found = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(collection, { limit: 5_000 })
  return rows.map(
    ({ record: { check, state, subject, unexplained } }) =>
      `${check} ${subject.id} ${state} ${Decimal.formatPlain(unexplained)}`
  )
})

/** Every finding that runs made. */
export const findings = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(collection, { limit: 5_000 })
  return rows.map(({ record }) => record)
})

/** Id of a finding that a run made. */
export const anyFinding = Effect.gen(function* () {
  const records = yield* Records
  const [row] = yield* records.list(collection, { limit: 1 })
  if (row === undefined) throw new Error("no run found anything")
  return row.record.findingId as string
})

export const allRuns = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(runs, { limit: 1_000 })
  return rows.map(({ record }) => record)
})

export const openHolds = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(holds, { where: { state: ["open"] }, limit: 1_000 })
  return rows.map(({ record }) => record)
})

/** Gives the registrar units on the register that no movement and no holding has. */
export const plantMovement = ({
  registrar
}: {
  readonly registrar: { readonly party: Party.Party }
}) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const at = yield* offset
    const act = { cause: { by: "run", runId: "fault" } as const, now, offset: at }
    const entry = {
      registrar: registrar.party,
      instrumentId: "fund-a",
      party: registrar.party,
      units: Decimal.of("7"),
      locked: Decimal.zero,
      since: now,
      emptySince: null
    }
    yield* records.transact(records.open(registerEntries, entry, act))
  })

/** A distribution as it is held, after its hold was released and before a run. */
export const holdAgain = (distributionId: string, holdId: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    yield* records.transact(
      Effect.gen(function* () {
        const self = yield* records.get(distributions, distributionId)
        const act = { cause: { by: "run", runId: "fault" } as const, now }
        yield* records.append(distributions, self, { on: "hold", at: now, holdId }, act)
      })
    )
  })
