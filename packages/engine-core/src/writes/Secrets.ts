/** Secrets in requests: encrypted where they are stored, shown by digits of their hash. */
import type { SealingKey } from "../engine/Keys.ts"
import * as Base64 from "../kernel/Base64.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { SealedSecrets } from "../records/Act.ts"

/** A request as it is stored, with its encrypted secrets beside it. */
export interface HiddenRequest {
  readonly request: Plain
  /** Null: the request has none. */
  readonly sealed: SealedSecrets | null
}

/**
 * How a secret is shown. `digest`: it is random, of 128 bits or more, so that digits of its SHA-256 show
 * whether it is the one that a reader expects and lead nobody to it. A function masks a secret that is so
 * short or so regular, such as an account number, that any digest of it leads to it by trying all.
 */
type ShownSecret = "digest" | ((secret: string) => string)

/** Secret members of a write's body, by name. */
export interface DeclaredSecrets {
  readonly [member: string]: ShownSecret
}

/** Checks whether any of these secrets could be found from a digest by trying all. */
export const isGuessable = (secrets: DeclaredSecrets | undefined): boolean =>
  Object.values(secrets ?? {}).some((isShownBy) => isShownBy !== "digest")

/**
 * Derives the key under which calls with guessable secrets are hashed from a sealing key.
 */
const callKeyOf = ({ secret }: SealingKey, { hmacSha256 }: Pick<Crypto["Service"], "hmacSha256">) =>
  hmacSha256(secret, "bursar call with a secret")

/** Computes the lower-case hex digest of a text, such as that of a call, under a key of a deployment. */
export const keyedDigest = (
  text: string,
  key: SealingKey,
  crypto: Pick<Crypto["Service"], "hmacSha256" | "sha256">
): string => crypto.sha256(crypto.hmacSha256(callKeyOf(key, crypto), text))

type SealingCrypto = Pick<Crypto["Service"], "seal" | "unseal" | "sha256">

const nonceBytes = 12

/** Number of random bytes that the secrets of a request need. */
export const chanceBytes = (count: number): number => count * nonceBytes

/** Masks a random secret as every reader sees it: its kind, and the first 8 hex digits of its SHA-256. */
export const shown = (secret: string, { sha256 }: Pick<SealingCrypto, "sha256">): string =>
  `${/^[a-z]{1,16}_/.exec(secret)?.[0] ?? ""}…${sha256(secret).slice(0, 8)}`

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { fatal: true })

/** Encrypts a secret into its stored text: the key's id, the nonce and the ciphertext. */
export const seal = (
  secret: string,
  { nonce, keys }: { readonly keys: ReadonlyArray<SealingKey>; readonly nonce: Uint8Array },
  crypto: SealingCrypto
): string => {
  const [key] = keys
  if (key === undefined) {
    throw new Error("a secret is to be kept, and the deployment has no sealing key")
  }
  const sealed = crypto.seal({ key: key.secret, nonce, data: encoder.encode(secret) })
  return [key.keyId, Base64.encode(nonce), Base64.encode(sealed)].join(".")
}

/** Decrypts a secret; dies where the key is missing or the stored text was changed. */
export const unseal = (
  text: string,
  { keys }: { readonly keys: ReadonlyArray<SealingKey> },
  crypto: SealingCrypto
): string => {
  const [keyId, nonceText = "", sealedText = ""] = text.split(".")
  const key = keys.find((candidate) => candidate.keyId === keyId)
  const nonce = Base64.decode(nonceText)
  const sealed = Base64.decode(sealedText)
  if (key === undefined)
    throw new Error(`the deployment has no sealing key ${keyId ?? ""} any more`)
  if (nonce === undefined || nonce.length !== nonceBytes || sealed === undefined) {
    throw new Error("a kept secret is not what was sealed")
  }
  const opened = crypto.unseal({ key: key.secret, nonce, sealed })
  if (opened === undefined) throw new Error("a kept secret is not what was sealed")
  return decoder.decode(opened)
}

type Members = { readonly [member: string]: Plain }

const membersOf = (request: Plain): Members => request as Members

/** Replaces the secrets of a request by their masks; `chance` holds `chanceBytes` random bytes. */
export const hide = (
  request: Plain,
  {
    secrets,
    chance,
    keys
  }: {
    readonly secrets: DeclaredSecrets
    readonly keys: ReadonlyArray<SealingKey>
    readonly chance: Uint8Array
  },
  crypto: SealingCrypto
): HiddenRequest => {
  const members = membersOf(request)
  const texts = Object.entries(secrets).flatMap(([member, isShownBy], index) => {
    const secret = members[member]
    const nonce = chance.slice(index * nonceBytes, (index + 1) * nonceBytes)
    if (typeof secret !== "string") return []
    const masked = isShownBy === "digest" ? shown(secret, crypto) : isShownBy(secret)
    return [{ member, secret, nonce, masked }]
  })
  if (texts.length === 0) return { request, sealed: null }
  return {
    request: {
      ...members,
      ...Object.fromEntries(texts.map(({ masked, member }) => [member, masked]))
    },
    sealed: Object.fromEntries(
      texts.map(({ member, secret, nonce }) => [member, seal(secret, { keys, nonce }, crypto)])
    )
  }
}

/** Restores the request as it was made, to run it. */
export const reveal = (
  { request, sealed }: { readonly request: Plain; readonly sealed?: SealedSecrets | null },
  keyring: { readonly keys: ReadonlyArray<SealingKey> },
  crypto: SealingCrypto
): Plain =>
  sealed === undefined || sealed === null
    ? request
    : {
        ...membersOf(request),
        ...Object.fromEntries(
          Object.entries(sealed).map(([member, text]) => [member, unseal(text, keyring, crypto)])
        )
      }
