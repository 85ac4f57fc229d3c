/** Refusals of the routes: those that every route has, and its own. */
import { Refusal } from "@bursar/engine-core"
import type { Route } from "../Route.ts"

/** Refusals of every route, and those of every route that needs a caller. */
const always = [
  "invalid-request",
  "not-found",
  "uri-too-long",
  "headers-too-large",
  "internal"
] as const satisfies ReadonlyArray<Refusal.Slug>
const signedIn = [
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
const withBody = [
  "body-too-large",
  "unsupported-media-type",
  "request-timeout"
] as const satisfies ReadonlyArray<Refusal.Slug>

/** Slugs by which a call of any route can be refused, whatever it does. */
export type EveryRouteSlug =
  | (typeof always)[number]
  | (typeof signedIn)[number]
  | (typeof withBody)[number]

/** Slugs that do not depend on what a route does. */
export const common: ReadonlySet<string> = new Set([...always, ...signedIn, ...withBody])

/** Slugs of all refusals of a route, in the order of the table of refusals. */
export const of = (route: Route): ReadonlyArray<Refusal.Slug> => {
  const given = new Set<string>([
    ...always,
    ...(route.admits.by === "anyone" ? [] : signedIn),
    ...(route.bodyMax === 0 ? [] : withBody),
    ...route.refuses
  ])
  return slugs.filter((slug) => given.has(slug))
}

const isSlug = (text: string): text is Refusal.Slug => text in Refusal.refusals
const slugs = Object.keys(Refusal.refusals).filter(isSlug)
