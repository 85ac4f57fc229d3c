/** The look-up of awaiting actions answers what a query by the records' paths answers, at every pin. */
import { type Operation, Records } from "@bursar/engine-core"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import type * as Pin from "#core/kernel/Pin.ts"
import * as AwaitingActionLookups from "#core/reads/AwaitingActionLookups.ts"
import { approvals } from "#core/writes/Approval.ts"
import { awaits } from "#core/writes/WriteAnswer.ts"
import * as Calls from "../engine/calls.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

const runs = runsOf(40)
const olga = Calls.person("olga", "operator")
const ann = Calls.person("ann", "approver")

const writes: ReadonlyArray<Operation.Operation> = [Toys.double, Toys.triple]
const counters = ["c1", "c2", "c3", "c4"]

const step = fc.record({
  does: fc.constantFrom("make", "make", "make", "approve", "reject", "wait"),
  write: fc.nat(1),
  counter: fc.nat(3),
  action: fc.nat(20)
})

/** The query that the look-up replaces: by state and by each path. */
const byPath = Effect.fnUntraced(function* (hrefs: ReadonlyArray<string>, pin: Pin.ResolvedPin) {
  const records = yield* Records
  const rows = yield* records.list(approvals, {
    pin,
    where: { state: ["awaiting"], href: hrefs },
    limit: 1_000
  })
  return new Map(
    [...Map.groupBy(rows, ({ record }) => record.resource.href)].map(([href, group]) => [
      href,
      group.flatMap(({ record }) => awaits(record))
    ])
  )
})

it("finds the same actions, few or many, over random histories and at every instant of them", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25, size: "max" }),
      fc.subarray(counters),
      (steps, counterIds) =>
        Calls.runCase(
          Effect.gen(function* () {
            const made: Array<string> = []
            const instants: Array<Instant.Instant> = []
            for (const { does, write, counter, action } of steps) {
              const key = made[action % Math.max(1, made.length)]
              if (does === "make") {
                const answer = yield* Calls.submit(writes[write]!, olga, {
                  params: { counterId: counters[counter]! },
                  body: `{"by":${made.length + 1}}`
                })
                made.push(String(Calls.field(answer, "actionKey")))
              } else if (does === "wait") yield* TestClock.adjust("40 minutes")
              else if (key !== undefined) {
                yield* Effect.exit((does === "approve" ? Calls.approve : Calls.reject)(key, ann))
              }
              yield* TestClock.adjust(1_000)
              instants.push(yield* Instant.now)
            }
            // All lapse before the last instant, by the clock alone.
            instants.push(Instant.fromNanos((yield* Instant.now) + 7_200_000_000_000n))
            const hrefs = counterIds.map((counterId) => `/v1/counters/${counterId}`)
            for (const instant of instants) {
              const pin: Pin.ResolvedPin = {
                offset: Offset.zero,
                ledgerTime: null,
                select: { by: "instant", instant },
                judgedAt: instant
              }
              const expected = yield* byPath(hrefs, pin)
              for (const few of [0, 2, 200]) {
                const found = yield* AwaitingActionLookups.awaiting({ hrefs, pin, few })
                expect(found).toEqual(expected)
              }
            }
          }).pipe(
            Effect.provide(
              world({ operations: Toys.toys, settings: { approvalExpiry: 3_600_000 } })
            )
          )
        )
    ),
    { numRuns: runs, endOnFailure: true }
  ))
