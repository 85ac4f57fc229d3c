/** The request that a write shows: the body as it was sent, beside the ids of its path, and nothing that the engine added. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Twins from "./twins.ts"

interface Written {
  readonly operationId: string | null
  readonly actionKey: string | null
  readonly resource: { readonly id: string }
  readonly request: Readonly<Record<string, unknown>>
}

describe("the request of a write", () => {
  // Seen red with the stored request, which has defaults, nulls and the ids that the engine made.
  it("never has a member that its caller did not send, in an operation, an action or what it became", () =>
    Twins.within((twin) =>
      Effect.gen(function* () {
        yield* Cycles.opened(["h1"])
        const as = yield* Twins.token("operator")
        const post = (path: string, body: object | string, key: string) =>
          Effect.map(Twins.call(twin, { as, path, body: body as object, key }), ({ text }) => ({
            text,
            written: JSON.parse(text) as Written
          }))
        const claim = { instrumentId: "fund-a", holderId: "h1", amount: 100.5 }
        const claimed = yield* post("/v1/subscriptions", claim, "claim")
        expect(claimed.written.request).toEqual(claim)
        expect(claimed.written.resource.id).toMatch(/^subscription_|^sub/u)
        yield* Calls.settle
        const read = yield* Twins.call(twin, {
          as,
          path: `/v1/operations/${claimed.written.operationId}`
        })
        expect((JSON.parse(read.text) as { readonly value: Written }).value.request).toEqual(claim)

        const paused = yield* post(
          "/v1/instruments/fund-a:pause",
          { reason: "an inquiry" },
          "pause"
        )
        expect(paused.written.request).toEqual({ instrumentId: "fund-a", reason: "an inquiry" })
        yield* Calls.settle
        const holdId = paused.written.resource.id
        const body = { reason: "it is over" }
        const action = yield* post(`/v1/holds/${holdId}:release`, body, "release")
        const { actionKey, request } = action.written
        expect(request).toEqual({ holdId, ...body })
        for (const sub of ["ada", "abel"]) {
          yield* Calls.approve(String(actionKey), Calls.person(sub, "approver"))
        }
        yield* Calls.settle
        const listed = yield* Twins.call(twin, { as, path: "/v1/operations?kind=hold.release" })
        const [became] = (JSON.parse(listed.text) as { readonly value: ReadonlyArray<Written> })
          .value
        expect(became?.request).toEqual({ holdId, ...body })
      })
    ))
})
