/** A page's program: it calls the venue with declarations of its own, and knows no catalogue. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Client from "@bursar/http-host/client"
import { Effect, Schema, Stream } from "effect"

const Note = Schema.Struct({
  holderId: Schema.String,
  text: Schema.String,
  amount: Decimal.schema,
  owner: Schema.NullOr(Schema.String)
})

const register = {
  kind: "holder.register",
  doc: "Registers a note.",
  route: "POST /v1/holders",
  input: Note,
  result: Note
} as const

const Instrument = Schema.Struct({ instrumentId: Schema.String })
const setPolicy = {
  kind: "policy.set",
  doc: "Sets a policy.",
  route: "POST /v1/instruments/{instrumentId}/policy:set",
  input: Instrument,
  result: Instrument
} as const

const notes = {
  name: "holders.list",
  route: "GET /v1/holders",
  params: Schema.Struct({ text: Schema.optionalKey(Schema.Array(Schema.String)) }),
  item: Note
} as const

/** Writes, waits, approves, reads and follows; what came of it, as texts. */
export const visit = (options: {
  readonly baseUrl: string
  readonly maker: string
  readonly approver: string
}): Promise<Readonly<Record<string, unknown>>> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const as = (authorization: string) =>
        Client.overFetch({ baseUrl: options.baseUrl, authorization: Effect.succeed(authorization) })
      const maker = as(options.maker)
      const note = {
        holderId: "page-1",
        text: "one",
        amount: Decimal.of("9999999999999999999999999999.0000000001"),
        owner: null
      }
      const written = yield* maker.write(register, note)
      const ended = yield* maker.wait(written)
      const made = yield* maker.write(setPolicy, { instrumentId: "page-1" }, { key: null })
      const signed = yield* as(options.approver).approve(made)
      const listed = yield* Stream.runCollect(maker.records(notes, { text: ["one"] }))
      const [page] = yield* Stream.runCollect(Stream.take(maker.events({}), 1))
      const headers = yield* Effect.promise(() =>
        Client.Signature.headersOf(
          { keyId: "page", secret: new Uint8Array(32) },
          { method: "GET", target: "/v1/holders", body: new Uint8Array(), timestamp: 1, nonce: "n" }
        )
      )
      return {
        ended: ended.state,
        signed: [made.state, signed.state],
        amount: listed.map(({ amount }) => Decimal.format(amount)),
        events: (page?.events.length ?? 0) > 0,
        signature: headers["x-signature"]?.length
      }
    })
  )
