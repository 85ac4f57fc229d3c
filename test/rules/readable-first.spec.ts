/** Facts of a check that are read part by part: a part that cannot be read hides no other one. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { CheckNotRun, NotCompared, readableFirst } from "#core/reconciliation/checks/Check.ts"

const subject = (id: string) => ({ resourceKind: "distribution", id }) as const

/** Facts and names of what was not compared, in their order, and why the check as a whole did not run. */
const read = (...parts: ReadonlyArray<Stream.Stream<string, CheckNotRun>>) =>
  Effect.gen(function* () {
    const found: Array<string> = []
    const end = yield* readableFirst(Stream.fromIterable(parts)).pipe(
      Stream.runForEach((one) =>
        Effect.sync(() => {
          found.push(
            one instanceof NotCompared
              ? `${one.subject.id} ${one.why} ${one.isNeeded ? "needed" : "not needed"}`
              : one
          )
        })
      ),
      Effect.result
    )
    return [found, Result.isFailure(end) && end.failure._tag === "CheckNotRun" && end.failure.why]
  })

/** Some facts, and then a fault. */
const faulty = (
  facts: ReadonlyArray<string>,
  fault: ConstructorParameters<typeof CheckNotRun>[0]
) => Stream.concat(Stream.fromIterable(facts), Stream.fail(new CheckNotRun(fault)))

const d1 = { why: "plan-missing", subject: subject("d1") }
const d2 = { why: "before-horizon", subject: subject("d2") }

describe("parts of a check's facts", () => {
  it.effect.each([
    { parts: "all readable", streams: [Stream.make("a"), Stream.make("b")], found: ["a", "b"] },
    {
      parts: "one that is named",
      streams: [faulty(["a"], d1), Stream.make("b")],
      found: ["a", "b", "d1 plan-missing needed"]
    },
    {
      parts: "two that are named",
      streams: [faulty([], d1), Stream.make("b"), faulty(["c"], d2)],
      found: ["b", "c", "d1 plan-missing needed", "d2 before-horizon needed"]
    }
  ])("$parts: every other fact first, then each by its name", ({ streams, found }) =>
    Effect.map(read(...streams), (outcome) => assert.deepEqual(outcome, [found, false]))
  )

  it.effect(
    "never end a check before its readable facts, where one fault is of the whole check",
    () =>
      Effect.map(
        read(
          faulty([], { why: "ledger-unreachable" }),
          faulty(["a"], d1),
          faulty(["b"], { why: "history-deleted" }),
          Stream.make("c")
        ),
        (outcome) =>
          assert.deepEqual(outcome, [
            ["a", "b", "c", "d1 plan-missing needed"],
            "ledger-unreachable"
          ])
      )
  )
})
