/** The one ledger that several hosts share: it lives in the test's own process and answers their questions. */
import type { ChildProcess } from "node:child_process"
import { Ledger } from "@bursar/engine-core/ports"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Cause, Effect, Fiber, Layer, ManagedRuntime, Stream } from "effect"
import { type Answer, decode, encode, type Question } from "./wire.ts"

type Port = Ledger.Ledger["Service"]

export interface There {
  /** Answers this process for as long as it lives. */
  readonly serve: (child: ChildProcess) => void
  readonly ask: <A>(question: Effect.Effect<A, unknown, Ledger.Ledger>) => Promise<A>
  readonly stop: () => Promise<void>
}

const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { admin } = yield* SimulatedLedger.Participant
    const { token } = yield* admin.addParty({ hint: "venue", kind: "local" })
    return SimulatedLedger.Venue.layer({ token })
  })
).pipe(
  Layer.provide(SimulatedLedger.layerMemory({ ledgerId: "venue-1", participantId: "bursar-sim" }))
)

/**
 * Carries a submission of a host out, or not: `submit` commits it. A host that is killed before the
 * answer is sent never reads it.
 */
export type Submitting = (submission: {
  readonly child: ChildProcess
  readonly submission: Ledger.Submission
  readonly submit: Effect.Effect<Ledger.Receipt, Ledger.SubmitError>
}) => Effect.Effect<Ledger.Receipt, Ledger.SubmitError>

export const start = (submitting?: Submitting): There =>
  over(ManagedRuntime.make(layer), submitting)

/** The ledger of a runtime that the test has beside it. */
export const over = (
  runtime: Pick<
    ManagedRuntime.ManagedRuntime<Ledger.Ledger, unknown>,
    "dispose" | "runFork" | "runPromise"
  >,
  submitting: Submitting = ({ submit }) => submit
): There => {
  const ask: There["ask"] = (question) => runtime.runPromise(question)
  return {
    ask,
    stop: () => runtime.dispose(),
    serve: (child) => {
      const running = new Map<number, Fiber.Fiber<unknown, unknown>>()
      const tell = (answer: Answer): void => {
        if (child.connected) child.send(answer, () => {})
      }
      const answers = (question: Question): Stream.Stream<unknown, unknown, Ledger.Ledger> =>
        Stream.unwrap(
          Effect.map(Ledger.Ledger, (port) => {
            const submit: Port["submit"] = (submission) =>
              submitting({ child, submission, submit: port.submit(submission) })
            return answerOf({ ...port, submit }, question)
          })
        )
      child.on("message", (message: unknown) => {
        if (!isQuestion(message)) return
        const { ledger, call } = message
        if (call === "stop") {
          const fiber = running.get(ledger)
          if (fiber !== undefined) runtime.runFork(Fiber.interrupt(fiber))
          return
        }
        const answered = Stream.runForEach(answers(message), (element) =>
          Effect.sync(() => tell({ ledger, kind: "element", value: encode(element) }))
        ).pipe(
          Effect.matchCause({
            onSuccess: () => tell({ ledger, kind: "end", value: null }),
            onFailure: (cause) => {
              const failed = cause.reasons.find(Cause.isFailReason)
              if (failed !== undefined) {
                tell({ ledger, kind: "failure", value: encode(failed.error) })
              } else if (Cause.hasDies(cause)) {
                tell({ ledger, kind: "defect", value: Cause.pretty(cause) })
              }
            }
          })
        )
        const fiber = runtime.runFork(answered)
        running.set(ledger, fiber)
        fiber.addObserver(() => running.delete(ledger))
      })
      // Submissions sent before the host died have arrived: only its open streams end with it.
      child.once("exit", () => {
        for (const [, fiber] of running) runtime.runFork(Fiber.interrupt(fiber))
      })
    }
  }
}

const answerOf = (port: Port, { call, given }: Question): Stream.Stream<unknown, unknown> => {
  const input = decode(given)
  switch (call) {
    case "venue":
      return Stream.make(port.venue)
    case "submit":
      // Once received it commits, also where the host that sent it dies.
      return Stream.fromEffect(Effect.uninterruptible(port.submit(input as Ledger.Submission)))
    case "outcome":
      return Stream.fromEffect(port.outcome(input as Ledger.OutcomeQuery))
    case "updates":
      return port.updates(input as Ledger.UpdatesQuery)
    case "acs":
      return port.acs(input as Ledger.ActiveQuery)
    case "packages":
      return Stream.fromEffect(port.packages(input as ReadonlyArray<string>))
    case "ledgerEnd":
    case "horizon":
    case "describe":
      return Stream.fromEffect<unknown, unknown, never>(port[call])
    case "stop":
      return Stream.empty
  }
}

const isQuestion = (message: unknown): message is Question =>
  typeof message === "object" && message !== null && "ledger" in message && "call" in message
