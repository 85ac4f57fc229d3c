/**
 * Record of a reconciliation run: the checks that ran at one pin, their findings, and the holds and
 * clearings that followed.
 */
import { Effect, Schema } from "effect"
import { NotCompared } from "../../findings/NotCompared.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as sets from "../../vocabulary/sets.ts"
import { about, announcing, isMembers, type ShownPayloads } from "../../records/EventDeclaration.ts"
import { isCountedForAll } from "../../vocabulary/ReconciliationChecks.ts"

/** Events of a run. */
export const runEvents = {
  "reconciliation.run": about(
    "reconciliation-run",
    Schema.Struct({
      trigger: sets.RunTrigger.schema,
      verdict: sets.Verdict.schema,
      findings: Integer.schema,
      /** Verdict and findings as investors and apps read them: without checks that are concealed or block. */
      shown: Schema.NullOr(
        Schema.Struct({ verdict: sets.Verdict.schema, findings: Integer.schema })
      )
    })
  ),
  "reconciliation.finding": about(
    "reconciliation-run",
    Schema.Struct({ counts: Schema.Record(Schema.String, Integer.schema) })
  )
} as const

const makeEvent = announcing(runEvents)

/**
 * Payloads of these events as investors and apps read them: without the findings of checks that
 * are concealed or may block. An event that does not state them apart, and one of such checks alone, is not
 * shown.
 */
export const shownPayloads: ShownPayloads = {
  "reconciliation.run": ({ shown, ...payload }) => {
    if (isMembers(shown)) return { ...payload, ...shown }
    return String(payload["findings"]) === "0" ? payload : null
  },
  "reconciliation.finding": ({ counts }) => {
    const open = Object.entries(isMembers(counts) ? counts : {}).filter(([check]) =>
      isCountedForAll(check)
    )
    return open.length === 0 ? null : { counts: Object.fromEntries(open) }
  }
}

export const RunId = RecordId.make("RunId")
export type RunId = typeof RunId.Type

const { Array: List, NullOr, String: Text, Struct } = Schema

/** Instruments and checks that a run covers; null: all of them. */
export const RunScope = Struct({
  instrumentIds: NullOr(List(InstrumentId)),
  checks: NullOr(List(Text))
})
export type RunScope = typeof RunScope.Type

/** One check of a run, over all instruments that the run covers. */
export const RunCheck = Struct({
  check: Text,
  /** False where the check could not run for one of the instruments. */
  ran: Schema.Boolean,
  /** Reason why it did not run, or `nothing-to-compare`. */
  why: NullOr(Text),
  /** Differences that the check found, accepted ones included. */
  findings: Integer.schema
})
export type RunCheck = typeof RunCheck.Type

/** Verdict as investors and apps read it; null in records that were stored before it was kept. */
export const ShownVerdict = NullOr(sets.Verdict.schema).pipe(
  Schema.withDecodingDefaultTypeKey(Effect.succeed(null))
)

export const Run = Struct({
  runId: RunId,
  trigger: sets.RunTrigger.schema,
  startedAt: Instant.schema,
  finishedAt: Instant.schema,
  /** Offset of the ledger at which the run read everything; of several instruments, that of its beginning. */
  asOf: Offset.schema,
  /**
   * Everything written by this instant was read. Runs that were stored before it was kept have none.
   */
  readBy: NullOr(Instant.schema).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(null))),
  scope: RunScope,
  checks: List(RunCheck),
  /** Input that the checks had and did not compare, the first thousand. */
  notCompared: List(NotCompared).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed([]))),
  /** Number of all of it. */
  notComparedCount: Integer.schema.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(0))),
  verdict: sets.Verdict.schema,
  shownVerdict: ShownVerdict,
  /** Ids of the holds that the run opened; one that it only added findings to is not among them. */
  holdsOpened: List(Text),
  /** Ids of the distributions that became payable by the run. */
  distributionsCleared: List(Text)
})
export type Run = typeof Run.Type

/** Number of differences that a run found. */
const countOf = (checks: Run["checks"]): number =>
  checks.reduce((sum, { findings }) => sum + findings, 0)

/** Value of the filter column `covers` of runs that cover every instrument. */
export const everyInstrument = "*"

/**
 * Value of the filter column `covers`: the instrument, where the run covers one; the run's own id
 * where it covers several, each of which has a `run-instrument` record.
 */
const coversOf = ({ runId, scope: { instrumentIds } }: Run): string => {
  if (instrumentIds === null) return everyInstrument
  const [only, ...others] = instrumentIds
  return only === undefined || others.length > 0 ? runId : only
}

export const runs = Collection.define<Run, never>("reconciliation-run", {
  doc: "A comparison of the engine's records with the ledger, and what it came to.",
  id: (self) => self.runId,
  record: Run,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "engine",
  ids: "made",
  sortKey: (self, createdAt) => `${Instant.sortable(createdAt)} ${self.runId}`,
  filters: {
    trigger: (self) => self.trigger,
    verdict: (self) => self.verdict,
    covers: coversOf
  },
  announce: (self) => announced(self),
  invariants: {
    "it ended after it began": ({ startedAt, finishedAt }) => startedAt <= finishedAt,
    "it covers something": ({ scope }) =>
      scope.instrumentIds?.length !== 0 && scope.checks?.length !== 0,
    "a check that did not run says why": ({ checks }) =>
      checks.every(({ ran, why }) => ran || why !== null)
  }
})

const announced = (self: Run) => {
  const { checks, runId, scope, shownVerdict, trigger, verdict } = self
  const about = {
    resourceKind: "reconciliation-run",
    resourceId: runId,
    instrumentId: scope.instrumentIds?.length === 1 ? (scope.instrumentIds[0] ?? null) : null,
    party: null,
    holderIds: []
  } as const
  const findings = countOf(checks)
  const counts = Object.fromEntries(
    checks.flatMap(({ check, findings }) => (findings === 0 ? [] : [[check, findings]]))
  )
  const shownFindings = countOf(checks.filter(({ check }) => isCountedForAll(check)))
  const shown = shownVerdict === null ? null : { verdict: shownVerdict, findings: shownFindings }
  const ended = makeEvent("reconciliation.run", { trigger, verdict, findings, shown })
  if (findings === 0) return [{ ...ended, ...about }]
  return [
    { ...ended, ...about },
    { ...makeEvent("reconciliation.finding", { counts }), ...about }
  ]
}
