/** Services that a layer keeps for effects that run elsewhere: none of them belongs to a fiber. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, References } from "effect"
import { servicesOf } from "#core/records/Worker.ts"

class Amount extends Context.Service<Amount, { readonly units: number }>()("test/Amount") {}

describe("services that are kept", () => {
  // Switched off to see it red: what `servicesOf` leaves out.
  it.effect("leave a call its own annotations and spans, whichever built the layer", () =>
    Effect.gen(function* () {
      const services = yield* servicesOf<Amount>().pipe(
        Effect.provideService(Amount, { units: 3 }),
        Effect.annotateLogs({ background: "engine" }),
        Effect.annotateSpans({ background: "engine" }),
        Effect.withLogSpan("start")
      )
      const seen = Effect.gen(function* () {
        const { units } = yield* Amount
        return {
          units,
          logs: yield* References.CurrentLogAnnotations,
          spans: yield* References.TracerSpanAnnotations,
          logSpans: (yield* References.CurrentLogSpans).map(([label]) => label)
        }
      })
      const found = yield* seen.pipe(
        Effect.provideContext(services),
        Effect.annotateLogs({ requestId: "req_1" }),
        Effect.annotateSpans({ requestId: "req_1" }),
        Effect.withLogSpan("call")
      )
      assert.deepStrictEqual(found, {
        units: 3,
        logs: { requestId: "req_1" },
        spans: { requestId: "req_1" },
        logSpans: ["call"]
      })
    })
  )
})
