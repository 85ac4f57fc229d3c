/** The venue's own people, and their calls in the form in which a host passes them on. */
import {
  type Caller,
  Catalogue,
  Engine,
  FourEyes,
  Operations,
  Queries,
  WriteAnswer
} from "@bursar/engine-core"
import { PlainJson, PlainSchema } from "@bursar/engine-core/kernel"
import { Data, Effect, Schema, Stream } from "effect"

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
/** Program that hands in what outside parties send; it reads nothing. */
export const felix = person("felix", "feed")

type Kind = Parameters<(typeof Operations.Service)["of"]>[0]
type Params = Readonly<Record<string, string>>

const answerOf = Schema.decodeUnknownSync(WriteAnswer)
const identity = { requestId: "example", traceId: null, keyId: null }

/** Requests a write: its kind, the ids of its path, and its body. */
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

/** Approves an action. */
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

/** Calls a read of the API, answered by the engine without a host. */
export const read = (by: Caller.Caller, route: string, params: Params) =>
  Effect.gen(function* () {
    const found = Catalogue.queries.find((read) => read.route === `GET /v1/${route}`)
    if (found?.shape !== "one") throw new Error(`no read of one value is declared for ${route}`)
    const queries = yield* Queries
    const asked = Schema.decodeUnknownSync(found.params)(params)
    const { value } = yield* queries.one(found, { caller: by, params: asked, point: {} })
    // A read's schema encodes its answer as JSON.
    return Schema.decodeUnknownSync(PlainSchema)(Schema.encodeUnknownSync(found.value)(value))
  })

/** Calls a read whose rows are streamed, such as a register, and collects them: the record, and its rows. */
export const readWhole = (by: Caller.Caller, route: string, params: Params) =>
  Effect.gen(function* () {
    const found = Catalogue.queries.find((read) => read.route === `GET /v1/${route}`)
    if (found?.shape !== "streamed") throw new Error(`no streamed read is declared for ${route}`)
    const queries = yield* Queries
    const asked = Schema.decodeUnknownSync(found.params)(params)
    const { record, rows } = yield* queries.streamed(found, {
      caller: by,
      params: asked,
      point: {}
    })
    const collected = rows === null ? [] : yield* Stream.runCollect(rows)
    const encoded = {
      record: Schema.encodeUnknownSync(found.record)(record),
      [found.rowsIn]: collected.map((row) => Schema.encodeUnknownSync(found.row)(row))
    }
    return Schema.decodeUnknownSync(PlainSchema)(encoded)
  })

/** Calls a list of the API, and returns its first page. */
export const list = (
  by: Caller.Caller,
  route: string,
  params: Readonly<Record<string, string | ReadonlyArray<string>>>
) =>
  Effect.gen(function* () {
    const found = Catalogue.queries.find((read) => read.route === `GET /v1/${route}`)
    if (found?.shape !== "list") throw new Error(`no list is declared for ${route}`)
    const queries = yield* Queries
    const asked = Schema.decodeUnknownSync(found.params)(params)
    const page = { limit: 100 }
    const { value } = yield* queries.page(found, { caller: by, params: asked, point: {}, page })
    const encoded = value.map((item) => Schema.encodeUnknownSync(found.item)(item))
    return Schema.decodeUnknownSync(Schema.Array(PlainSchema))(encoded)
  })

/** Waits for the outcome of a write; fails with the problem of a failed one. */
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
