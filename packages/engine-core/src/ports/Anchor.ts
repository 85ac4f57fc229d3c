/** Checkpoint of the audit log as data: what an anchor outside the engine stores. */
import { Schema } from "effect"
import * as Integer from "../kernel/Integer.ts"

/** A checkpoint as it is kept outside the engine; enough to check it and the log up to it. */
export const Anchor = Schema.Struct({
  tenantId: Schema.String,
  /** Records that it covers, which is the number of the latest. */
  size: Integer.schema,
  /** The hash of the latest record that it covers. */
  head: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/)),
  /** Ed25519, base64. */
  signature: Schema.String,
  keyId: Schema.String
}).annotate({ identifier: "Anchor", description: "The audit log's size and head, signed." })
export type Anchor = typeof Anchor.Type
