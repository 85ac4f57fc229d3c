/** Resolution of a webhook's URL: judges its form, then every address of its name (SSRF guard). */
import { Data, Effect } from "effect"
import { Resolver } from "node:dns/promises"
import { isIP } from "node:net"
import * as Addresses from "./Addresses.ts"

export interface Rules {
  readonly ports: ReadonlyArray<number>
  /** Non-public networks of the deployment that webhooks may be posted to. */
  readonly allowAddresses: ReadonlyArray<Addresses.Network>
  /** True: plain http is permitted. */
  readonly http: "allowed" | "refused"
}

export interface Address {
  readonly address: string
  readonly family: 4 | 6
}

/** Returns every A and AAAA record of a name; fails where either query fails. */
export type Resolve = (name: string) => Promise<ReadonlyArray<Address>>

export interface Target {
  readonly url: URL
  /** Name that the receiver's certificate must have. */
  readonly name: string
  /** Addresses that were checked; a socket opens to no other. */
  readonly addresses: ReadonlyArray<Address>
}

/** The URL is refused as a target. */
export class NoTarget extends Data.TaggedError("NoTarget")<{
  readonly failure: "dns" | "address-refused"
  /** Sentence for the person who registers the URL. */
  readonly message: string
}> {}

const refuse = (message: string) =>
  Effect.fail(new NoTarget({ failure: "address-refused", message }))

const urlMax = 2_048
const scheme = /^https?:\/\//i
const authority = /^https?:\/\/([^/?#\\]*)/i
/** Printable and without a backslash, which some URL parsers treat as a slash. */
const plain = /^[\x21-\x5B\x5D-\x7E]+$/
const label = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/
const nameMax = 253

/** The host as it was written, without its port: a URL normalises several spellings to one. */
const hostOf = (text: string): string => {
  const whole = authority.exec(text)?.[1] ?? ""
  return whole.startsWith("[") ? whole.replace(/\]:[0-9]*$/, "]") : whole.replace(/:[0-9]*$/, "")
}

const isName = (host: string): boolean =>
  host.length <= nameMax && host.split(".").every((part) => label.test(part))

const isLocal = (host: string): boolean => /(^|\.)localhost$/i.test(host)

const portOf = (url: URL): number =>
  url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)

/** Checks the URL's text, before the name is resolved. */
const formOf = (text: string, rules: Rules): Effect.Effect<URL, NoTarget> => {
  if (text.length > urlMax || !plain.test(text) || !scheme.test(text) || !URL.canParse(text)) {
    return refuse("It is not an absolute https address.")
  }
  const url = new URL(text)
  if (url.protocol !== "https:" && rules.http === "refused") return refuse("It is not https.")
  if (url.username !== "" || url.password !== "" || authority.exec(text)?.[1]?.includes("@")) {
    return refuse("It names a user.")
  }
  if (text.includes("#")) return refuse("It has a fragment.")
  if (!rules.ports.includes(portOf(url))) {
    return refuse(`Its port is none of ${rules.ports.join(", ")}.`)
  }
  return Effect.succeed(url)
}

/**
 * Checks whether a host is an IP address in any spelling, also those that only a URL parser
 * normalises.
 */
const isAddress = (url: URL, host: string): boolean =>
  [host, url.hostname].some((spelling) => isIP(spelling.replace(/^\[|\]$/g, "")) !== 0)

/** Addresses of `localhost`, for which no name server is asked (RFC 6761 section 6.3). */
const thisMachine: ReadonlyArray<Address> = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 }
]

/**
 * Makes the resolver of webhooks' URLs by these rules: to checked addresses, or it fails with the
 * reason. A name is resolved anew at every attempt.
 */
export const locating = ({
  rules,
  resolve
}: {
  readonly rules: Rules
  readonly resolve: Resolve
}): ((text: string) => Effect.Effect<Target, NoTarget>) => {
  const allowed = Addresses.within(rules.allowAddresses)
  return Effect.fnUntraced(function* (text: string) {
    const url = yield* formOf(text, rules)
    const host = hostOf(text)
    // Also where networks are allowed: a name may resolve into them, but the URL never contains an
    // address.
    if (isAddress(url, host)) return yield* refuse("Its host is an address, not a name.")
    if (!isName(host) || url.hostname !== host.toLowerCase()) {
      return yield* refuse("Its host is not a DNS name.")
    }
    if (isLocal(host)) {
      const addresses = thisMachine.filter(({ address }) => allowed(address))
      return addresses.length === 0
        ? yield* refuse("Its host is this machine.")
        : { url, name: url.hostname, addresses }
    }
    const addresses = yield* Effect.tryPromise({
      try: () => resolve(url.hostname),
      catch: () => new NoTarget({ failure: "dns", message: "Its host's name cannot be resolved." })
    })
    if (addresses.length === 0) {
      return yield* new NoTarget({ failure: "dns", message: "Its host's name has no address." })
    }
    if (!addresses.every(({ address }) => Addresses.isPublic(address) || allowed(address))) {
      return yield* refuse("Its host has an address that is not public.")
    }
    return { url, name: url.hostname, addresses }
  })
}

/** Resolver options: two tries of two seconds each. */
const asking = { timeout: 2_000, tries: 2 }

/** A name without records of one family may have some of the other. */
const isNone = (cause: unknown): boolean =>
  cause instanceof Error &&
  "code" in cause &&
  (cause.code === "ENODATA" || cause.code === "ENOTFOUND")

/**
 * Queries the system's name servers directly: no hosts file, and no use of Node's thread pool,
 * which file access needs.
 */
export const resolveByDns: Resolve = async (name) => {
  const resolver = new Resolver(asking)
  const records = async (family: 4 | 6): Promise<ReadonlyArray<Address>> => {
    try {
      const found = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name))
      return found.map((address) => ({ address, family }))
    } catch (cause) {
      if (isNone(cause)) return []
      throw cause
    }
  }
  const [four, six] = await Promise.all([records(4), records(6)])
  return [...four, ...six]
}
