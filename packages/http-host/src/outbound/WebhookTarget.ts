/** Resolution of a webhook's URL: judges its form, then every address of its name (SSRF guard). */
import { Data, Effect } from "effect"
import { Resolver } from "node:dns/promises"
import { isIP } from "node:net"
import * as Addresses from "./Addresses.ts"

export interface Rules {
  readonly ports: ReadonlyArray<number>
  /** Networks of the deployment's own that webhooks may go to, though they are not public. */
  readonly allowAddresses: ReadonlyArray<Addresses.Network>
  /** Whether addresses may be plain http. */
  readonly http: "allowed" | "refused"
}

export interface Address {
  readonly address: string
  readonly family: 4 | 6
}

/** Every A and AAAA record of a name; fails where any of them cannot be asked for. */
export type Resolve = (name: string) => Promise<ReadonlyArray<Address>>

export interface Target {
  readonly url: URL
  /** The name to verify. */
  readonly name: string
  /** Each of them was judged; a socket opens to no other. */
  readonly addresses: ReadonlyArray<Address>
}

/** Why nothing is posted to an address. */
export class NoTarget extends Data.TaggedError("NoTarget")<{
  readonly failure: "dns" | "address-refused"
  /** One sentence for whoever registers it. */
  readonly said: string
}> {}

const refuse = (said: string) => Effect.fail(new NoTarget({ failure: "address-refused", said }))

const urlMax = 2_048
const scheme = /^https?:\/\//i
const authority = /^https?:\/\/([^/?#\\]*)/i
/** Printable, and no backslash: some readers of addresses take it for a slash, others do not. */
const plain = /^[\x21-\x5B\x5D-\x7E]+$/
const label = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/
const nameMax = 253

/** A host's spelling without its port; a URL reads many spellings as one, and hides what was written. */
const hostOf = (text: string): string => {
  const whole = authority.exec(text)?.[1] ?? ""
  return whole.startsWith("[") ? whole.replace(/\]:[0-9]*$/, "]") : whole.replace(/:[0-9]*$/, "")
}

const isName = (host: string): boolean =>
  host.length <= nameMax && host.split(".").every((part) => label.test(part))

const isLocal = (host: string): boolean => /(^|\.)localhost$/i.test(host)

const portOf = (url: URL): number =>
  url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)

/** Checks of the URL's text, before any name is resolved. */
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

/** A host that is an address in whatever spelling, also in those that only a URL reads as one. */
const isAddress = (url: URL, host: string): boolean =>
  [host, url.hostname].some((one) => isIP(one.replace(/^\[|\]$/g, "")) !== 0)

/** Addresses of `localhost`, for which no name server is asked (RFC 6761 section 6.3). */
const thisMachine: ReadonlyArray<Address> = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 }
]

/** Where a webhook's address leads, or why it is not posted to; names are asked for every time. */
export const locate = (
  text: string,
  of: { readonly rules: Rules; readonly resolve: Resolve }
): Effect.Effect<Target, NoTarget> =>
  Effect.gen(function* () {
    const url = yield* formOf(text, of.rules)
    const allowed = Addresses.within(of.rules.allowAddresses)
    const host = hostOf(text)
    // Also where addresses are allowed: those are what a name may lead to.
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
      try: () => of.resolve(url.hostname),
      catch: () => new NoTarget({ failure: "dns", said: "Its host's name cannot be resolved." })
    })
    if (addresses.length === 0) {
      return yield* new NoTarget({ failure: "dns", said: "Its host's name has no address." })
    }
    if (!addresses.every(({ address }) => Addresses.isPublic(address) || allowed(address))) {
      return yield* refuse("Its host has an address that is not public.")
    }
    return { url, name: url.hostname, addresses }
  })

/** Two tries of two seconds each: a name that is not answered by then is not posted to. */
const asking = { timeout: 2_000, tries: 2 }

/** A name without records of one family has some of the other, or none at all. */
const isNone = (cause: unknown): boolean =>
  cause instanceof Error &&
  "code" in cause &&
  (cause.code === "ENODATA" || cause.code === "ENOTFOUND")

/** Asks the name servers of the system, never a file of it, and off the threads that files need. */
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
