/** The record that a write is about, as operations, actions and answers name it. */
import { Schema } from "effect"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"

export const Resource = Schema.Struct({
  kind: ResourceKind.schema,
  id: Schema.String,
  href: Schema.String
}).annotate({ identifier: "Resource", description: "The record a write acts on or makes." })
export type Resource = typeof Resource.Type
