/** Slugs of the refusals that every route has, by what it needs; a page in a browser reads their type. */
import type { Refusal } from "@bursar/engine-core"

/** Refusals of every route, and those of every route that needs a caller. */
export const always = [
  "invalid-request",
  "not-found",
  "uri-too-long",
  "headers-too-large",
  "internal"
] as const satisfies ReadonlyArray<Refusal.Slug>
export const signedIn = [
  "unauthenticated",
  "signature-required",
  "signature-invalid",
  "signature-expired",
  "nonce-reused",
  "permission-denied",
  "not-acceptable",
  "rate-limited",
  "identity-provider-unavailable",
  "not-ready",
  "overloaded"
] as const satisfies ReadonlyArray<Refusal.Slug>
export const withBody = [
  "body-too-large",
  "unsupported-media-type",
  "request-timeout"
] as const satisfies ReadonlyArray<Refusal.Slug>

/** Slugs by which a call of any route can be refused, whatever it does. */
export type EveryRouteSlug =
  | (typeof always)[number]
  | (typeof signedIn)[number]
  | (typeof withBody)[number]
