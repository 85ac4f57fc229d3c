/** Table of the door's endpoints. */
import * as Commanding from "./Commanding.ts"
import type { EndpointContext, Handler, Opener, Profile } from "./EndpointContext.ts"
import * as Identity from "./Identity.ts"
import * as Interactive from "./Interactive.ts"
import type { JsonObject } from "./Json.ts"
import * as Lists from "./Lists.ts"
import * as Lookups from "./Lookups.ts"
import * as Pages from "./Pages.ts"

export type Endpoint =
  | { readonly kind: "open"; readonly answer: (context: EndpointContext) => JsonObject }
  | { readonly kind: "call"; readonly handle: Handler }
  | { readonly kind: "list"; readonly open: Opener }

interface Row {
  readonly method: "GET" | "POST"
  /** `{}` is a variable segment. */
  readonly path: string
  readonly endpoint: Endpoint
  /** Present only in nodes of the later release line. */
  readonly since?: "3.5"
}

const get = (path: string, handle: Handler): Row => ({
  method: "GET",
  path,
  endpoint: { kind: "call", handle }
})
const post = (path: string, handle: Handler): Row => ({
  method: "POST",
  path,
  endpoint: { kind: "call", handle }
})
const list = (path: string, open: Opener): Row => ({
  method: "POST",
  path,
  endpoint: { kind: "list", open }
})
const alive: Endpoint = { kind: "open", answer: () => ({}) }

const rows: ReadonlyArray<Row> = [
  post("/v2/commands/submit-and-wait-for-transaction", Commanding.submitForTransaction),
  post("/v2/commands/submit-and-wait", Commanding.submit),
  post("/v2/commands/async/submit", Commanding.submitAsync),
  list("/v2/commands/completions", Lists.completions),
  list("/v2/updates", Lists.updates),
  { ...post("/v2/updates/get-updates-page", Pages.updates), since: "3.5" },
  post("/v2/updates/update-by-offset", Lookups.updateByOffset),
  post("/v2/updates/update-by-id", Lookups.updateById),
  list("/v2/state/active-contracts", Lists.activeContracts),
  { ...post("/v2/state/active-contracts-page", Pages.activeContracts), since: "3.5" },
  get("/v2/state/ledger-end", Lookups.ledgerEnd),
  get("/v2/state/latest-pruned-offsets", Lookups.latestPrunedOffsets),
  post("/v2/events/events-by-contract-id", Lookups.eventsByContractId),
  post("/v2/contracts/contract-by-id", Lookups.contractById),
  post("/v2/interactive-submission/prepare", Interactive.prepare),
  post("/v2/interactive-submission/execute", Interactive.execute),
  post("/v2/interactive-submission/executeAndWait", Interactive.executeAndWait),
  post(
    "/v2/interactive-submission/executeAndWaitForTransaction",
    Interactive.executeForTransaction
  ),
  post("/v2/interactive-submission/preferred-packages", Identity.preferredPackages),
  get("/v2/authenticated-user", Identity.authenticatedUser),
  get("/v2/users/{}/rights", Identity.rights),
  get("/v2/parties", Identity.parties),
  get("/v2/parties/participant-id", Identity.participantId),
  get("/v2/packages", Identity.packages),
  get("/v2/packages/{}/status", Identity.packageStatus),
  post("/v2/package-vetting/list", Identity.vettedPackages),
  { method: "GET", path: "/v2/version", endpoint: { kind: "open", answer: Identity.version } },
  { method: "GET", path: "/livez", endpoint: alive, since: "3.5" },
  { method: "GET", path: "/readyz", endpoint: alive, since: "3.5" }
]

interface FoundEndpoint {
  readonly endpoint: Endpoint
  /** Value of the variable segment. */
  readonly name: string
}

const split = (path: string): ReadonlyArray<string> => path.split("/").slice(1)

const table = rows.map((row) => ({ ...row, segments: split(row.path) }))

/**
 * Matches a path: returns the segment at `{}`, empty where there is none; null where the path
 * differs.
 */
const matched = (
  pattern: ReadonlyArray<string>,
  pathSegments: ReadonlyArray<string>
): string | null => {
  if (pattern.length !== pathSegments.length) return null
  let name = ""
  for (const [at, segment] of pattern.entries()) {
    const part = pathSegments[at] ?? ""
    if (segment === "{}" && part !== "") name = part
    else if (segment !== part) return null
  }
  return name
}

const unescaped = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

export const find = (ask: {
  readonly method: string
  readonly path: string
  readonly profile: Profile
}): FoundEndpoint | null => {
  const segments = split(ask.path).map(unescaped)
  for (const row of table) {
    if (row.method !== ask.method || (row.since === "3.5" && ask.profile === "3.4")) continue
    const name = matched(row.segments, segments)
    if (name !== null) return { endpoint: row.endpoint, name }
  }
  return null
}
