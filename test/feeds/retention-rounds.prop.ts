/**
 * Rounds of a retention run: a place that fails is set aside and repeated, and every other one is done
 * in the first round, in order.
 */
import { Duration, Instant } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Retention from "#core/engine/Retention.ts"
import { seed } from "../seeds.ts"

/** A step: the number of its batches, and how often each fails before it is done. */
const step = fc.array(fc.nat(4), { minLength: 1, maxLength: 3 })

const began = Instant.of("2026-01-05T00:00:00Z")
const minute = 60_000
const day = 24 * 60 * minute

/** Places of a step's batches; a step that may pass over a failed one names the next. */
const afterOf = (batches: ReadonlyArray<number>, index: number): string | null =>
  index < batches.length ? String(index) : null

describe("a retention run", () => {
  it("does each batch once, and only those again that failed, ever more rarely", () =>
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 5 }),
        fc.boolean(),
        (failures, mayPass) => {
          const left = failures.map((batches) => [...batches])
          const steps = left.length
          const done: Array<string> = []
          const inFirstRound = new Set<string>()
          const delays: Array<number> = []
          let run = Retention.runOf("", began)
          let millis = 0
          for (;;) {
            run = Retention.runOf(Retention.stateOf(run), began)
            const batches = left[run.step]
            if (batches === undefined) {
              const now = Instant.add(began, Duration.millis(millis))
              const next = Retention.nextRound(run, { now, steps })
              if (next === null) break
              delays.push(next.delay)
              millis += next.delay
              run = next.run
              continue
            }
            const index = Number(run.after ?? "0")
            const place = `${run.step}/${index}`
            if ((batches[index] ?? 0) > 0) {
              batches[index] = (batches[index] ?? 0) - 1
              const past = mayPass ? afterOf(batches, index + 1) : null
              run = Retention.setAside(run, { steps, past })
              continue
            }
            if (delays.length === 0) inFirstRound.add(place)
            if (!done.includes(place)) done.push(place)
            run = Retention.advance(
              run,
              { counts: { [place]: 1 }, after: afterOf(batches, index + 1) },
              { steps }
            )
          }
          const all = failures.flatMap((batches, at) => batches.map((_, index) => `${at}/${index}`))
          expect(done.toSorted()).toEqual(all.toSorted())
          expect(Object.keys(run.counts).toSorted()).toEqual(all.toSorted())
          // Done in the first round: all that do not fail, but those behind one that may not be passed.
          const free = failures.flatMap((batches, at) =>
            batches.flatMap((fails, index) => {
              const isBehind = !mayPass && batches.slice(0, index).some((before) => before > 0)
              return fails > 0 || isBehind ? [] : [`${at}/${index}`]
            })
          )
          expect([...inFirstRound].toSorted()).toEqual(free.toSorted())
          expect(delays).toEqual(delays.toSorted((a, b) => a - b))
          expect(delays.every((delay) => delay >= minute && delay <= 60 * minute)).toBe(true)
          expect(millis).toBeLessThan(day)
        }
      ),
      { seed, numRuns: 100 }
    ))
})
