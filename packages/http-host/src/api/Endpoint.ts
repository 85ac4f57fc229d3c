/**
 * The four forms of an endpoint, each one type, so that one interface covers the whole table of
 * routes.
 */
import type { Schema } from "effect"
import { HttpApiEndpoint, type HttpApiGroup, HttpApiSchema } from "effect/http-api"
import type { Binding } from "./Binding.ts"
import { WriteHeaders } from "./Headers.ts"
import * as Verb from "./Verb.ts"

type AnySchema = Schema.Codec<unknown, unknown>

export interface Parts {
  readonly name: string
  readonly path: Verb.Path
  /** Schemas of the answers, by status. */
  readonly success: Readonly<Record<number, AnySchema>>
}

const answers = ({ success }: Parts, { body }: Binding): ReadonlyArray<AnySchema> =>
  Object.entries(success).map(([status, schema]) =>
    body(schema).pipe(HttpApiSchema.status(Number(status)))
  )

export const get = (parts: Parts & { readonly query: AnySchema }, binding: Binding) =>
  HttpApiEndpoint.make("GET")(parts.name, parts.path.pattern, {
    params: Verb.params(parts.path),
    query: binding.query(parts.query),
    success: answers(parts, binding)
  })

export const post = (parts: Parts & { readonly input: AnySchema }, binding: Binding) =>
  HttpApiEndpoint.make("POST")(parts.name, parts.path.pattern, {
    params: Verb.params(parts.path),
    headers: WriteHeaders,
    payload: binding.input(parts.input),
    success: answers(parts, binding)
  })

/** The body is a file, which the library does not read: only the document declares it. */
export const upload = (parts: Parts & { readonly query: AnySchema }, binding: Binding) =>
  HttpApiEndpoint.make("POST")(parts.name, parts.path.pattern, {
    params: Verb.params(parts.path),
    query: binding.query(parts.query),
    headers: WriteHeaders,
    success: answers(parts, binding)
  })

export const remove = (parts: Parts, binding: Binding) =>
  HttpApiEndpoint.make("DELETE")(parts.name, parts.path.pattern, {
    params: Verb.params(parts.path),
    headers: WriteHeaders,
    // A removal that this approval completes answers 204.
    success: [...answers(parts, binding), HttpApiSchema.NoContent]
  })

export type Endpoint =
  | ReturnType<typeof get>
  | ReturnType<typeof post>
  | ReturnType<typeof upload>
  | ReturnType<typeof remove>

export type Group = HttpApiGroup.HttpApiGroup<string, Endpoint>
