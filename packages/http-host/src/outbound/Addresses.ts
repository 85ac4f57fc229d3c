/**
 * Predicate of public internet addresses: webhooks are posted to no others, unless a setting allows
 * them.
 */
import { BlockList, isIP } from "node:net"

/** A network in CIDR notation: `10.1.0.0/16`, `fd00::/8`. */
export interface Network {
  readonly address: string
  readonly prefix: number
  readonly family: "ipv4" | "ipv6"
}

/** Parses a network; undefined for other text. A single address is a network of one. */
export const networkOf = (text: string): Network | undefined => {
  const [address = "", length, more] = text.split("/")
  const version = isIP(address)
  if (version === 0 || more !== undefined || address.includes("%")) return undefined
  const longest = version === 4 ? 32 : 128
  const prefix = length === undefined ? longest : /^[0-9]{1,3}$/.test(length) ? Number(length) : -1
  return prefix >= 0 && prefix <= longest
    ? { address, prefix, family: version === 4 ? "ipv4" : "ipv6" }
    : undefined
}

const listOf = (networks: ReadonlyArray<Network>): BlockList => {
  const list = new BlockList()
  for (const { address, prefix, family } of networks) list.addSubnet(address, prefix, family)
  return list
}

const networksOf = (texts: ReadonlyArray<string>): ReadonlyArray<Network> =>
  texts.map((text) => {
    const network = networkOf(text)
    if (network === undefined) throw new Error(`${text} is no network`)
    return network
  })

/**
 * Networks that are not public, by IANA's registries of special-purpose addresses
 * (docs/contract/webhooks.md#addresses).
 */
const blocked = listOf(
  networksOf([
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/128",
    "::1/128",
    "fe80::/10",
    "fc00::/7",
    "ff00::/8",
    "2001:db8::/32",
    "3fff::/20",
    "100::/64",
    "2002::/16",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "2001::/32",
    "5f00::/16"
  ])
)

/** IPv4-mapped IPv6 addresses, which are checked as the IPv4 address they contain. */
const mapped = listOf(networksOf(["::ffff:0:0/96"]))

/** The part of IPv6 that is allocated for global unicast. */
const unicast = listOf(networksOf(["2000::/3"]))

/** Checks whether an address is public; text that is no address is not. */
export const isPublic = (address: string): boolean => {
  const version = isIP(address)
  if (version === 0 || address.includes("%")) return false
  if (version === 4) return !blocked.check(address, "ipv4")
  // `BlockList` checks a mapped address against the IPv4 rules.
  if (blocked.check(address, "ipv6")) return false
  return mapped.check(address, "ipv6") || unicast.check(address, "ipv6")
}

/** Predicate of addresses within any of these networks. */
export const within = (networks: ReadonlyArray<Network>): ((address: string) => boolean) => {
  const list = listOf(networks)
  return (address) => {
    const version = isIP(address)
    return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6")
  }
}
