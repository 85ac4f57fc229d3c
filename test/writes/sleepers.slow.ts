/** A paused worker that sends when it wakes: no operation that ended failed has a commit, none has two. */
import { Engine, Records } from "@bursar/engine-core"
import { Ledger } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import * as Passing from "../engine/passing.ts"
import * as Sleeper from "../engine/sleeper.ts"
import { ports } from "../engine/world.ts"
import { isLong } from "../long-run.ts"

const operator = Calls.person("olga", "operator")
const declared = { operations: Notes.operations, fromLedger: Notes.fromLedger }

const retryAfter = Duration.seconds(2)
const answerOf = (code: string, category: number) => ({
  code,
  category,
  cause: "no",
  context: {},
  resources: []
})

/** How the ledger answers the steps of the workers that are awake. */
const answers = {
  refuses: () => new Ledger.Refused(answerOf("DAML_FAILURE", 9)),
  "finds a contract used up": () => new Ledger.Refused(answerOf("CONTRACT_NOT_FOUND", 11)),
  "is busy": () => new Ledger.Busy({ ...answerOf("BUSY", 2), retryAfter }),
  "is not reached": () => new Ledger.Unreachable({ detail: "away", retryAfter }),
  "does not let the engine act": () => new Ledger.NotAuthorized({ http: 403, detail: "right" }),
  "does not answer": (submission: Ledger.Submission) =>
    new Ledger.OutcomeUnknown({ commandId: submission.commandId, why: "cut", retryAfter })
} as const
type Answer = keyof typeof answers
const answerNames = Object.keys(answers) as ReadonlyArray<Answer>

const isMarker = ({ commands: [command] }: Ledger.Submission) =>
  command._tag === "CreateAndExercise" && command.template.entity === "SpentCommand"

/**
 * Plays one write of one step whose first worker sleeps at a call of its run, while the ledger answers
 * the other workers so; the sleeper wakes once the write has ended, or after an hour. Returns how it
 * ended, how often it committed, and whether anybody slept.
 */
const play = (options: { readonly answer: Answer; readonly sleep: Sleeper.Sleep }) => {
  let isSlow = false
  const withAnswer = (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
    ...port,
    submit: (submission) =>
      isSlow && !isMarker(submission)
        ? Effect.fail(answers[options.answer](submission))
        : port.submit(submission)
  })
  return Effect.gen(function* () {
    const { party } = yield* Notes.outsider("registrar")
    let isCounting = false
    const sleeper = Sleeper.make({
      ...declared,
      sleep: options.sleep,
      isCounting: () => isCounting
    })
    const first = yield* Layer.build(sleeper.engine)
    const awake = yield* Layer.build(
      Layer.fresh(Engine.layerOf(declared)).pipe(
        Layer.provide(Layer.effect(Ledger.Ledger, Effect.map(Ledger.Ledger, withAnswer)))
      )
    )
    yield* Effect.provide(Passing.working, first)
    yield* Passing.seconds(2)
    isCounting = true
    const id = String(
      Calls.field(
        yield* Calls.submit(Notes.propose, operator, {
          params: { noteId: "a" },
          body: `{"registrar":"${party}"}`,
          key: "k"
        }).pipe(Effect.provide(awake)),
        "operationId"
      )
    )
    const find = Effect.flatMap(Records, (records) => records.get(operations, id)).pipe(
      Effect.provide(awake)
    )
    const isFinal = Effect.map(find, ({ finishedAt }) => finishedAt !== null)
    yield* Passing.until(
      Effect.map(isFinal, (is) => is || sleeper.isAsleep()),
      30
    )
    const slept = sleeper.isAsleep() && !(yield* isFinal)
    isSlow = true
    yield* Effect.provide(Passing.working, awake)
    yield* Passing.until(isFinal, 3_600)
    yield* sleeper.wake
    yield* Passing.seconds(10)
    isSlow = false
    yield* Passing.until(isFinal, 600)
    yield* Passing.seconds(10)
    const { problem, state } = yield* find
    const commits = (yield* Notes.commits).get(id) ?? 0
    return { state, problem: problem?.type ?? null, commits, slept, calls: sleeper.calls() }
  }).pipe(Effect.provide(ports()), Effect.scoped)
}

/** Plays every call of a run until one more has no call left to sleep at. */
const everyCall = (answer: Answer, side: Sleeper.Sleep["side"]) =>
  Effect.gen(function* () {
    let sleeps = 0
    for (let at = 1; at < 60; at++) {
      const played = yield* play({ answer, sleep: { at, side } })
      const what = `asleep ${side} call ${at}: ${JSON.stringify(played)}`
      assert.include(["succeeded", "failed"], played.state, what)
      assert.strictEqual(played.commits, played.state === "succeeded" ? 1 : 0, what)
      if (!played.slept) break
      sleeps += 1
    }
    assert.isAbove(sleeps, 5)
  })

describe("a write whose first worker sleeps at any of its calls, while the ledger", () => {
  for (const answer of answerNames) {
    const sides = isLong ? (["before", "after"] as const) : (["before"] as const)
    for (const side of sides) {
      it.effect(
        `${answer}: never has failed with a commit (${side} the call)`,
        () => everyCall(answer, side),
        120_000
      )
    }
  }
})
