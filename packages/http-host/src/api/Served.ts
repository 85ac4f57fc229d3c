/** Declaration of a hand-written route, which no operation and no read declares. */
import type { Intake, Refusal, Vocabulary } from "@bursar/engine-core"
import type { Schema } from "effect"

/** Callers that a route admits, judged on the bearer alone. */
export type Admits =
  | { readonly by: "anyone" }
  | { readonly by: "role"; readonly roles: ReadonlyArray<Vocabulary.Role> }
  /** An approver; a caller who is also an auditor is refused. */
  | { readonly by: "approver" }

export interface ServedRoute {
  readonly name: string
  readonly doc: string
  readonly route: `${"GET" | "POST" | "DELETE"} /v1/${string}`
  readonly admits: Admits
  /** Audit action of a refused call, where the route is a write. */
  readonly action?: Vocabulary.AuditAction
  /** Longest body in bytes; 0: the route takes none. Of a file the deployment's limit is lower. */
  readonly bodyMax: number
  /** Present where the body is a file of one of these media types, which is streamed. */
  readonly file?: { readonly mediaTypes: ReadonlyArray<Intake.MediaType> }
  readonly refuses: ReadonlyArray<Refusal.Slug>
  /** Path and query parameters in one struct of texts. */
  readonly params: Schema.Codec<unknown, unknown>
  readonly body: Schema.Codec<unknown, unknown> | null
  /** Schemas of the answers, by status. */
  readonly success: Readonly<Record<number, Schema.Codec<unknown, unknown>>>
}
