/** Verdicts of instruments as applications find them, also those stored before they were kept apart. */
import { Records } from "@bursar/engine-core"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  type InstrumentVerdict,
  instrumentVerdicts
} from "#core/reconciliation/verdict/InstrumentVerdict.ts"
import * as VerdictQueries from "#core/reconciliation/verdict/VerdictQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Venue from "./venue.ts"

const none = { blocking: 0, warning: 0, info: 0 }

const verdictOf = (
  instrumentId: string,
  verdict: Pick<InstrumentVerdict, "verdict" | "open" | "oldestDays" | "shown">,
  now: Instant.Instant
): InstrumentVerdict => ({
  instrumentId: instrumentId as InstrumentVerdict["instrumentId"],
  runId: "run-1",
  ...verdict,
  pin: { offset: Offset.zero, ledgerTime: null, writtenBy: now, judgedAt: now },
  ...{ isReached: true, isGrounded: true, ran: [], notCompared: [] }
})

const found = (role: "app" | "operator", verdict: ReadonlyArray<InstrumentVerdict["verdict"]>) =>
  Effect.map(
    Venue.list(VerdictQueries.list, { verdict }, { caller: Calls.person("somebody", role) }),
    ({ value }) => value.map(({ instrumentId, open }) => `${instrumentId} ${JSON.stringify(open)}`)
  )

describe("verdicts that are found by the verdict", () => {
  it.effect("are those that an application is shown, whenever they were stored", () =>
    Effect.gen(function* () {
      const records = yield* Records
      const now = yield* Instant.now
      const warned = { ...none, warning: 1 }
      const stored = [
        // Stored before verdicts were kept apart for applications.
        verdictOf("a", { verdict: "clear", open: none, oldestDays: null, shown: null }, now),
        verdictOf(
          "b",
          { verdict: "blocked", open: { ...none, blocking: 1 }, oldestDays: 3, shown: null },
          now
        ),
        verdictOf(
          "c",
          {
            ...{ verdict: "findings", open: warned, oldestDays: 1 },
            shown: { verdict: "clear", open: none, oldestDays: null }
          },
          now
        ),
        // Stored when blocking findings of checks that are not concealed were counted.
        verdictOf(
          "d",
          {
            ...{ verdict: "blocked", open: { ...warned, blocking: 1 }, oldestDays: 2 },
            shown: { verdict: "blocked", open: { ...warned, blocking: 1 }, oldestDays: 2 }
          },
          now
        )
      ]
      const { shownVerdict: _, ...filters } = {
        shownVerdict: null,
        ...instrumentVerdicts.filters
      }
      const before = { ...instrumentVerdicts, filters }
      const act = { cause: { by: "clock" } as const, now }
      yield* records.transact(
        Effect.forEach(stored, (one) => Effect.orDie(records.open(before, one, act)))
      )
      const nothing = JSON.stringify(none)
      assert.deepEqual(yield* found("app", ["incomplete"]), [`a ${nothing}`])
      assert.deepEqual(yield* found("app", ["clear"]), [`c ${nothing}`])
      assert.deepEqual(yield* found("app", ["findings"]), [])
      assert.deepEqual(yield* found("app", ["blocked"]), [
        `b ${nothing}`,
        `d ${JSON.stringify(warned)}`
      ])
      assert.deepEqual(yield* found("operator", ["findings"]), [`c ${JSON.stringify(warned)}`])
    }).pipe(Effect.provide(world()))
  )
})
