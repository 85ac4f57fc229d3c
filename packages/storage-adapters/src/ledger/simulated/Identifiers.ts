/**
 * Deterministic ids of changes, transactions, contracts, packages and parties: hashes of what they
 * name.
 */
import { sha256 as digestOf } from "@noble/hashes/sha2.js"
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import { Party } from "@bursar/engine-core/kernel"

/** Change that a command makes, by which repeats are recognised. */
export interface Change {
  readonly userId: string
  readonly actAs: ReadonlyArray<string>
  readonly commandId: string
}

const zero = Uint8Array.of(0)

const sha256 = (...parts: ReadonlyArray<string | Uint8Array>): Uint8Array =>
  digestOf(
    concatBytes(...parts.map((part) => (typeof part === "string" ? utf8ToBytes(part) : part)))
  )

const hexOfSha256 = (...parts: ReadonlyArray<string | Uint8Array>): string =>
  bytesToHex(sha256(...parts))

const int32be = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setInt32(0, value)
  return bytes
}

/** Deduplication key of a change: user, acting parties, commandId. */
export const changeId = (change: Change): string =>
  hexOfSha256(
    "bursar-sim-change-v1",
    zero,
    JSON.stringify([change.userId, [...change.actAs].sort(), change.commandId])
  )

/** Seed of a transaction, from which its id and those of its contracts are hashed. */
export const seed = (at: {
  readonly ledgerId: string
  readonly changeId: string
  readonly offset: number
}): Uint8Array =>
  sha256("bursar-sim-tx-v1", zero, at.ledgerId, zero, at.changeId, zero, at.offset.toString())

/** Identifier of an update. */
export const updateId = (seed: Uint8Array): string => `1220${bytesToHex(seed)}`

/** Identifier of a contract that a node of a transaction creates. */
export const contractId = (seed: Uint8Array, nodeId: number): string =>
  `00${hexOfSha256(seed, int32be(nodeId))}`

/** Identifier of a package. */
export const packageId = ({
  name,
  version
}: {
  readonly name: string
  readonly version: string
}): string => hexOfSha256("bursar-sim-package-v1", zero, name, zero, version)

/** The fingerprint of a party's Ed25519 public key, given as its 32 raw bytes. */
export const fingerprint = (publicKey: Uint8Array): string =>
  `1220${hexOfSha256(int32be(12), publicKey)}`

/** Party of a hint and a key. */
export const party = ({
  hint,
  publicKey
}: {
  readonly hint: string
  readonly publicKey: Uint8Array
}): Party.Party => Party.make({ hint, fingerprint: fingerprint(publicKey) })

/** Hash of a user's token, which is all that the ledger keeps of it. */
export const tokenHash = (token: string): string => hexOfSha256(token)

/** Hash that a wallet signs. */
export const preparedHash = (prepared: Uint8Array): Uint8Array =>
  sha256("bursar-sim-prepared-v1", zero, prepared)
