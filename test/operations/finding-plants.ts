/** Kit of findings: plants one of an instrument by its facts, as runs of a check that no release has would. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { Effect, Schema } from "effect"
import { type Fact, type Finding, FindingId, findings, first } from "#core/findings/Finding.ts"

/** A check that no run of this release has, so that none of them judges its findings. */
const otherRelease = "check-of-another-release"

/** Plants a finding, first seen now or at an instant, moved by these facts. */
export const finds = (
  name: string,
  facts: ReadonlyArray<Fact>,
  options: {
    readonly instrumentId?: string
    readonly statementId?: string
    readonly firstSeenAt?: Instant.Instant
  } = {}
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const { firstSeenAt = now, instrumentId = "fund-a", statementId = null } = options
    const act = { cause: { by: "run", runId: "run_1" } as const, now }
    const found = first(
      {
        findingId: Schema.decodeSync(FindingId)(name),
        check: otherRelease,
        instrumentId,
        subject: { resourceKind: "instrument", id: instrumentId },
        holderId: null
      },
      {
        runId: "run_1",
        severity: "warning",
        expected: null,
        actual: null,
        difference: null,
        unit: "units",
        tolerance: Decimal.zero,
        explained: { amount: Decimal.zero, by: [] },
        unexplained: Decimal.zero,
        asOf: { offset: Offset.zero, instant: firstSeenAt },
        comparedAt: null,
        statementId,
        missingDates: [],
        entry: null
      }
    )
    yield* records.transact(
      Effect.gen(function* () {
        let self = yield* records.open(findings, found, act)
        for (const fact of facts) {
          self = yield* records.append<Finding, Fact>(findings, self, fact, act)
        }
      })
    )
  })
