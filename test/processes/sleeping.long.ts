/**
 * A host that is stopped (SIGSTOP) between the plan of a write and its submission, beside a second host
 * that the ledger refuses: the write ends failed only once its command id is spent, so that the sleeper
 * commits nothing when it wakes. Takes minutes, since a commit is awaited for two; `npm test` has the
 * same of one process and a test clock, at every call of the write (`test/writes/sleepers.slow.ts`).
 */
import type { ChildProcess } from "node:child_process"
import * as Templates from "@bursar/engine-core/templates"
import { Ledger } from "@bursar/engine-core/ports"
import { Effect, Option, Stream } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { wanted } from "../waiting.ts"
import { call, ended, type Instances, insist, registration, start, textOf } from "./instances.ts"

/** Command ids that the ledger refuses, except from the host that sleeps. */
const refusedIds = new Set<string>()
let sleeping: ChildProcess | undefined
let venue: Instances
let operator = ""

const refusal = new Ledger.Refused({
  code: "DAML_FAILURE",
  cause: "the ledger refuses it for now",
  category: 9,
  context: {},
  resources: []
})

const isMarker = ({ commands: [command] }: Ledger.Submission) =>
  command._tag === "CreateAndExercise" &&
  Templates.same(command.template, Templates.SpentCommand.typeRef)

beforeAll(async () => {
  venue = await start({
    count: 1,
    settings: { BURSAR_OPERATIONS_LEASE: "2" },
    submitting: ({ child, submission, submit }) => {
      sleeping ??= child
      if (child !== sleeping && !isMarker(submission)) {
        refusedIds.add(submission.commandId)
        return Effect.fail(refusal)
      }
      return submit
    }
  })
  operator = await venue.token("olga", ["operator"])
})

afterAll(() => venue?.stop())

/** The transactions of an operation on the ledger: of its step, or of the marker. */
const onLedger = (operationId: string) =>
  venue.ledger.ask(
    Effect.gen(function* () {
      const port = yield* Ledger.Ledger
      const through = yield* port.ledgerEnd
      const filter = { templates: [], interfaces: [] }
      const after = 0 as typeof through
      const all = yield* Stream.runCollect(port.updates({ after, through, filter }))
      return all.flatMap((update) =>
        update._tag === "Transaction" &&
        Option.getOrElse(update.commandId, () => "").startsWith(`${operationId}:`)
          ? [Templates.isSpending(update.events) ? "marker" : "step"]
          : []
      )
    })
  )

describe("a host that is stopped between plan and send, beside another host", () => {
  it("commits nothing when it wakes after the write has ended failed", async () => {
    const [sleeper] = venue.hosts
    if (sleeper === undefined) throw new Error("no host is up")
    // The first submission of all tells the ledger which process is the sleeper's.
    const before = await insist(
      [sleeper],
      registration({ as: operator, holderId: "before", key: "before" })
    )
    const beforeId = textOf(before.body, "operationId")
    expect(await ended([sleeper], { as: operator, operationId: beforeId })).toBe("succeeded")
    sleeper.pauseBeforeSending()
    const firstCall = call(sleeper, registration({ as: operator, holderId: "late", key: "late" }))
    const other = await venue.more()
    const answer =
      (await Promise.race([
        firstCall,
        new Promise<null>((late) => setTimeout(late, 1_500, null))
      ])) ?? (await insist([other], registration({ as: operator, holderId: "late", key: "late" })))
    const operationId = textOf(answer.body, "operationId")
    // The other host takes the write over and is refused; the write stays running meanwhile.
    await wanted(async () => (refusedIds.has(`${operationId}:1`) ? true : undefined))
    let state: string | undefined
    for (let n = 0; n < 100 && state !== "failed"; n++) {
      await new Promise((later) => setTimeout(later, 2_000))
      const { body } = await insist([other], {
        as: operator,
        path: `/v1/operations/${operationId}`
      })
      state = (body as { readonly value: { readonly state: string } }).value.state
    }
    expect(state).toBe("failed")
    expect(await onLedger(operationId)).toEqual(["marker"])
    sleeper.wake()
    await insist([sleeper], { as: operator, path: "/v1/operations?limit=1" })
    // What the sleeper writes next commits, so its late submission has arrived before.
    const after = await insist(
      [sleeper, other],
      registration({ as: operator, holderId: "after", key: "after" })
    )
    await ended([sleeper, other], { as: operator, operationId: textOf(after.body, "operationId") })
    await new Promise((later) => setTimeout(later, 5_000))
    expect(await onLedger(operationId)).toEqual(["marker"])
    expect(await ended([other], { as: operator, operationId })).toBe("failed")
  }, 400_000)
})
