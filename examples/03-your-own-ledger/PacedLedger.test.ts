/**
 * A ledger adapter of your own, under the laws of the port and under the one promise that it adds.
 */
import { Offset } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import {
  LedgerProbes,
  ledgerSuite,
  LedgerUnderTest,
  SimulatedUnderTest
} from "@bursar/storage-adapters/conformance"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { assert, it } from "@effect/vitest"
import { Duration, Effect, Layer, Result, Stream } from "effect"
import * as PacedLedger from "./PacedLedger.ts"

const node = SimulatedLedger.layerMemory({
  ledgerId: "example",
  participantId: "node-1",
  // A few laws need the suite's own templates.
  entities: LedgerProbes.entities
})

// #region under the laws
/** Harness of the suite: your port, and parties with sessions of their own. */
const underTest = (atOnce: number) =>
  Layer.effect(
    LedgerUnderTest,
    Effect.map(LedgerUnderTest, (under) => ({
      ...under,
      venue: PacedLedger.make(under.venue, { atOnce, retryAfter: Duration.millis(100) })
    }))
  ).pipe(Layer.provide(SimulatedUnderTest.layer), Layer.provide(node))

// A limit that the suite never reaches, because the laws must hold at any.
ledgerSuite("a paced ledger", underTest(64), SimulatedUnderTest.supports)
// #endregion

it.effect("takes more submissions at once than it has places, or loses one that it took", () =>
  Effect.gen(function* () {
    const { venue, party } = yield* LedgerUnderTest
    const registrar = yield* party("registrar")
    const proposal = (id: string): Ledger.Submission => ({
      commandId: id,
      dedup: { _tag: "Since", offset: Offset.of(0) },
      commands: [
        Templates.create(Templates.AdmissionConsentProposal, {
          venue: venue.venue,
          admissionConsentId: id,
          registrar: registrar.party,
          fund: registrar.party,
          instrumentId: "elf-usd",
          terms: ""
        })
      ]
    })
    const ids = Array.from({ length: 20 }, (_, i) => `proposal-${i}`)
    const answers = yield* Effect.forEach(ids, (id) => Effect.result(venue.submit(proposal(id))), {
      concurrency: "unbounded"
    })
    const taken = answers.filter(Result.isSuccess)
    assert.isAtMost(taken.length, 19)
    assert.isAtLeast(taken.length, 4)
    assert.deepStrictEqual(
      new Set(answers.filter(Result.isFailure).map(({ failure }) => failure._tag)),
      new Set(["Busy"])
    )
    // A submission that was answered "busy" is repeated under the same command id, and commits
    // once.
    for (const id of ids) yield* venue.submit(proposal(id))
    const at = yield* venue.ledgerEnd
    const filter = { templates: [Templates.AdmissionConsentProposal.typeRef], interfaces: [] }
    const active = yield* Stream.runCollect(venue.acs({ at, filter }))
    assert.strictEqual(active.length, ids.length)
  }).pipe(Effect.provide(underTest(4)))
)
