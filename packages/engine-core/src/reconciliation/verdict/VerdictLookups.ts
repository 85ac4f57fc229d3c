/** Loads what the verdict of an instrument would have been at another price or under another policy version. */
import { Effect, Option, Schema, Stream } from "effect"
import { evolve, FindingId, findings, first } from "../../findings/Finding.ts"
import { acceptedFigures } from "../../findings/AcceptedLookups.ts"
import { foundAgain, idTextOf } from "../../findings/FindingRules.ts"
import type { Supposition } from "../../instruments/policy/Counterfactual.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { suppositionsOf } from "../../orders/order/SuppositionLookups.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { ProjectionLog } from "../../ports/storage/ProjectionLog.ts"
import * as PinnedRecords from "../../records/PinnedRecords.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import { allNames, venueNames } from "../checks/AllChecks.ts"
import { compareAt } from "../run/CompareSteps.ts"
import { statementsNamedBy } from "../run/NamedStatementLookups.ts"
import { runs } from "../run/Run.ts"
import { runsUnderWay } from "../run/RunUnderWay.ts"
import * as RunRules from "../run/RunRules.ts"
import { type InstrumentVerdict, instrumentVerdicts } from "./InstrumentVerdict.ts"
import * as Rules from "./VerdictRules.ts"

/** Number of findings whose statements are looked up together. */
const findingsMax = 500

const pinOf = ({ offset, ledgerTime, writtenBy, judgedAt }: InstrumentVerdict["pin"]) =>
  ({
    offset,
    ledgerTime,
    select: { by: "snapshot", instant: writtenBy },
    judgedAt
  }) satisfies Pin.ResolvedPin

/**
 * Compares again what the run of a verdict compared, at the run's own pin and under the supposition,
 * and judges the findings as they were before that run. Writes nothing. Refuses `not-found` where
 * the instrument has no such policy version.
 */
export const supposed = Effect.fnUntraced(function* (
  self: InstrumentVerdict,
  supposition: Supposition
) {
  const now = yield* Records
  const { instrumentId } = self
  const pin = pinOf(self.pin)
  const suppositions = yield* suppositionsOf({ instrumentId, supposition, cutOffAt: null, pin })
  const { horizonOffset } = yield* orUnavailable((yield* ProjectionLog).head)
  // A run past its retention is gone, and nothing says any more that it covered fewer checks.
  const run = Option.getOrNull(yield* now.find(runs, self.runId))
  const underWay = Option.getOrNull(yield* now.find(runsUnderWay, self.runId))
  const scope = {
    instrumentIds: [instrumentId],
    checks: run?.checks.map(({ check }) => check) ?? underWay?.scope.checks ?? null
  }
  const before = PinnedRecords.at(now, pin, suppositions)
  return yield* Effect.gen(function* () {
    const records = yield* Records
    const { sha256 } = yield* Crypto
    const { covered } = yield* compareAt(scope, {
      at: { pin, horizonOffset },
      isReached: self.isReached && pin.offset >= horizonOffset
    })
    // Facts of the venue are not compared again: of their checks the run's own outcome counts.
    const outcomes = covered
      .flatMap((each) => each.outcomes)
      .map((outcome) => ({
        ...outcome,
        ran:
          outcome.ran && (!venueNames.includes(outcome.check) || self.ran.includes(outcome.check))
      }))
    const differences = outcomes.flatMap((outcome) => outcome.differences)
    const ids = new Set(differences.map((difference) => idTextOf(difference, sha256)))
    const knownFindings = new Map<string, typeof findings.record.Type>(
      (yield* records.many(findings, [...ids])).map((finding) => [finding.findingId, finding])
    )
    const accepted = yield* acceptedFigures(knownFindings.values(), pin)
    const asOf = { offset: pin.offset, instant: pin.judgedAt }
    const found = differences.map((difference) => {
      const { check, subject, holderId, ...measured } = difference
      const { instrumentId: on, ...figures } = measured
      const findingId = Schema.decodeSync(FindingId)(idTextOf(difference, sha256))
      const sighting = { ...figures, runId: self.runId, asOf }
      const stored = knownFindings.get(findingId)
      return stored === undefined
        ? first({ findingId, check, instrumentId: on, subject, holderId }, sighting)
        : evolve(stored, foundAgain({ ...stored, ...accepted.get(findingId) }, sighting))
    })
    const tally = yield* records
      .stream(findings, { where: { state: ["open", "accepted"], instrumentId: [instrumentId] } })
      .pipe(
        Stream.map(({ record }) => record),
        Stream.filter(({ findingId }) => !ids.has(findingId)),
        Stream.grouped(findingsMax),
        Stream.mapEffect((some) => statementsNamedBy(some)),
        Stream.flattenIterable,
        Stream.filter(
          ({ finding, statement }) =>
            !(
              self.isGrounded &&
              outcomes.some(
                (outcome) =>
                  outcome.check === finding.check &&
                  RunRules.clears({ asOf, outcome }, finding, statement)
              )
            )
        ),
        Stream.map(({ finding }) => finding),
        Stream.runFold(() => found.reduce(Rules.tallied, Rules.noFindings), Rules.tallied)
      )
    const previous = yield* records.find(instrumentVerdicts, instrumentId)
    return Rules.judge({
      instrumentId,
      runId: self.runId,
      pin: self.pin,
      isReached: self.isReached,
      isGrounded: self.isGrounded,
      tally,
      outcomes,
      ranBefore: Option.match(previous, { onNone: () => [], onSome: ({ ran }) => ran }),
      // Facts of the venue are not compared again: what the run named of them counts.
      notCompared: [
        ...RunRules.notComparedOf(covered.flatMap((each) => each.outcomes)),
        ...self.notCompared.filter((entry) => entry.instrumentId === null)
      ],
      notComparedBefore: Option.match(previous, {
        onNone: () => [],
        onSome: ({ notCompared }) => notCompared
      }),
      checks: yield* allNames
    })
  }).pipe(Effect.provideService(Records, before))
})
