/** Derives an endpoint from a read: its route, and the envelope of its answer. */
import type { Read } from "@bursar/engine-core"
import { Instant, Offset, Zone } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import type { Binding } from "./Binding.ts"
import * as Endpoint from "./Endpoint.ts"
import type { Route } from "./Route.ts"

export const fromRead = (
  { name, path }: Pick<Route, "name" | "path">,
  read: Read.Read,
  binding: Binding
): Endpoint.Endpoint =>
  Endpoint.get({ name, path, query: read.params, success: { 200: envelope(read) } }, binding)

type Fields = Readonly<Record<string, Schema.Codec<unknown, unknown>>>

/** Schema of the read envelope around a read's value. */
const envelope = (read: Read.Read): Schema.Codec<unknown, unknown> => {
  const ledgerTime: Fields = read.pinned ? { ledgerTime: Schema.NullOr(Instant.schema) } : {}
  const value: Fields =
    read.shape === "list"
      ? { value: Schema.Array(read.item), next: Schema.NullOr(Schema.String) }
      : { value: read.value }
  const zone: Fields = read.shape === "list" && read.zone !== undefined ? { zone: Zone.schema } : {}
  const fields: Fields = {
    offset: Offset.schema,
    ...ledgerTime,
    now: Instant.schema,
    ...zone,
    ...value
  }
  return Schema.Struct(fields)
}
