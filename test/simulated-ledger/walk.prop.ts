/** Any sequence of submissions keeps the ledger's two accounts of itself equal, in memory and on a database. */
import { Offset } from "@bursar/engine-core/kernel"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Scene from "#adapters/conformance/LedgerScene.ts"
import * as OnPostgres from "../conformance/simulated-ledger.postgres.ts"
import * as Script from "./script.ts"
import { options } from "./world.ts"

const onPostgres = OnPostgres.open()

const run = <A, E>(
  effect: Effect.Effect<A, E, SimulatedLedger.Participant>,
  layer: Layer.Layer<SimulatedLedger.Participant, unknown>
): Promise<A> =>
  Effect.runPromise(effect.pipe(Effect.provide(layer), Effect.provide(TestClock.layer())))

const memory = SimulatedLedger.layerMemory(options)

describe("a random walk", () => {
  it("never would leave active contracts that are not the fold of the updates", () =>
    fc.assert(
      fc.asyncProperty(Script.steps, (steps) =>
        run(
          Effect.gen(function* () {
            const { players } = yield* Script.play(steps)
            const participant = yield* SimulatedLedger.Participant
            const end = yield* participant.ledgerEnd
            for (const { session } of players) {
              const updates = yield* Script.transactionsOf(session, end)
              for (let at = 0; at <= end; at++) {
                const active = yield* Script.activeOf(session, Offset.of(at))
                expect(active.map(({ contractId }) => contractId).sort()).toEqual(
                  Scene.fold(updates.filter(({ offset }) => offset <= at))
                )
              }
            }
          }),
          memory
        )
      ),
      { numRuns: 40 }
    ))

  it("never would prove nothing, for hardly any step succeeds", async () => {
    const scripts = fc.sample(Script.steps, { numRuns: 40, seed: 7 })
    const tags = new Map<string, number>()
    for (const steps of scripts) {
      const { outcomes } = await run(Script.play(steps), memory)
      for (const outcome of outcomes) {
        const tag = outcome.startsWith("1220") ? (outcome.split(" ")[1] ?? "") : outcome
        tags.set(tag, (tags.get(tag) ?? 0) + 1)
      }
    }
    expect(tags.get("false")).toBeGreaterThan(150)
    expect(tags.get("true")).toBeGreaterThan(10)
    expect(tags.get("Refused")).toBeGreaterThan(100)
  })

  it("L34: is answered alike in memory and on a database", () =>
    fc.assert(
      fc.asyncProperty(Script.steps, async (steps) => {
        const played = Effect.flatMap(Script.play(steps), ({ players, outcomes }) =>
          Effect.map(Script.account(players), (account) => ({ outcomes, account }))
        )
        const inMemory = await run(played, memory)
        const inDatabase = await run(played, onPostgres.freshParticipant)
        expect(inDatabase).toEqual(inMemory)
      }),
      { numRuns: 15 }
    ))

  it("never would be forgotten, in part, by a process that takes the ledger over", () =>
    fc.assert(
      fc.asyncProperty(Script.steps, async (steps) => {
        const before = await run(
          Effect.flatMap(Script.play(steps), ({ players }) =>
            Effect.map(Script.account(players), (account) => ({ players, account }))
          ),
          onPostgres.freshParticipant
        )
        const after = await run(
          Effect.gen(function* () {
            const participant = yield* SimulatedLedger.Participant
            const players = before.players.map(({ party, token }) => ({
              party,
              token,
              session: OnPostgres.session(participant, { party, token })
            }))
            return yield* Script.account(players)
          }),
          onPostgres.participant
        )
        expect(after).toEqual(before.account)
      }),
      { numRuns: 5 }
    ))
})
