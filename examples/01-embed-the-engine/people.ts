/** The venue's own people, and their calls as a host would pass them on. */
import {
  type Caller,
  Catalogue,
  Engine,
  FourEyes,
  Operations,
  Reads,
  WriteAnswer
} from "@bursar/engine-core"
import { PlainJson, PlainSchema } from "@bursar/engine-core/kernel"
import { Data, Effect, Schema } from "effect"

const person = (sub: string, role: Caller.Caller["roles"][number]): Caller.Caller => ({
  sub,
  name: sub,
  email: null,
  roles: [role],
  holderId: null,
  party: null
})

export const olive = person("olive", "operator")
export const anna = person("anna", "approver")
export const abel = person("abel", "approver")
export const carl = person("carl", "compliance")
export const rita = person("rita", "risk")

type Kind = Parameters<(typeof Operations.Service)["of"]>[0]
type Params = Readonly<Record<string, string>>

const answerOf = Schema.decodeUnknownSync(WriteAnswer)
const identity = { requestId: "example", traceId: null, keyId: null }

/** A write as somebody asks for it: its kind, what its path names, and its body. */
export const write = (
  by: Caller.Caller,
  kind: Kind,
  of: { readonly params?: Params; readonly body: PlainJson.Printable }
) =>
  Effect.gen(function* () {
    const fourEyes = yield* FourEyes
    const operation = (yield* Operations).of(kind)
    const params = of.params ?? {}
    const { value } = yield* fourEyes.submit(operation, {
      caller: by,
      identity,
      key: null,
      path: pathOf(operation.route, params),
      query: "",
      body: PlainJson.parseTrusted(PlainJson.stringify(of.body)),
      params
    })
    return answerOf(value)
  })

/** Signs what awaits an approver. */
export const approve = (by: Caller.Caller, action: WriteAnswer) =>
  Effect.gen(function* () {
    const fourEyes = yield* FourEyes
    const { value } = yield* fourEyes.approve({
      actionKey: action.actionKey ?? "",
      caller: by,
      identity
    })
    return answerOf(value)
  })

const pathOf = (route: string, params: Params): string =>
  route
    .slice(route.indexOf(" ") + 1)
    .replaceAll(/\{([a-zA-Z]+)\}/g, (_, name: string) => params[name] ?? "")

/** One of the reads the API answers; here as the engine answers it. */
export const read = (by: Caller.Caller, route: string, params: Params) =>
  Effect.gen(function* () {
    const found = Catalogue.reads.find((one) => one.route === `GET /v1/${route}`)
    if (found?.shape !== "one") throw new Error(`no read of one value is declared for ${route}`)
    const reads = yield* Reads
    const asked = Schema.decodeUnknownSync(found.params)(params)
    const { value } = yield* reads.one(found, { caller: by, params: asked, point: {} })
    // What a read answers is JSON once its own schema has written it.
    return Schema.decodeUnknownSync(PlainSchema)(Schema.encodeUnknownSync(found.value)(value))
  })

/** Lets the engine come to rest; a write that failed tells its problem. */
export const done = (answer: WriteAnswer) =>
  Effect.gen(function* () {
    yield* (yield* Engine.Engine).settle
    const { operationId } = answer
    const params = { operationId: operationId ?? "" }
    const operation = answerOf(yield* read(olive, "operations/{operationId}", params))
    if (operation.state !== "succeeded") return yield* new NotDone({ operation })
    return operation
  })

export class NotDone extends Data.TaggedError("NotDone")<{ readonly operation: WriteAnswer }> {
  override get message(): string {
    return `${this.operation.kind}: ${this.operation.problem?.detail ?? this.operation.state}`
  }
}
