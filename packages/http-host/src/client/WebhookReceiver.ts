/**
 * Verification of webhook deliveries for receivers; it imports nothing of the rest of the client,
 * and needs the platform's Web Crypto alone. Standard Webhooks 1.0.0;
 * docs/contract/webhooks.md#signatures.
 */

/** A delivery as it was received: headers in any case, the body's bytes unchanged. */
export interface Delivery {
  readonly headers:
    | { readonly get: (name: string) => string | null }
    | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly body: Uint8Array | string
}

/** Secrets and public keys of the venue; one matching signature suffices. */
export interface TrustedKeys {
  /** `whsec_` + base64: the secret of the webhook; both secrets while it is being changed. */
  readonly secrets?: ReadonlyArray<string>
  /** `whpk_` + base64: the venue's public keys for webhooks, as its tenant payload lists them. */
  readonly keys?: ReadonlyArray<string>
}

/** Judgement of a delivery: its event, or why it is not to be trusted. */
export type Verdict =
  | {
      readonly genuine: true
      /**
       * Idempotency key, the same for all attempts and replays: a receiver that has handled it
       * drops the delivery.
       */
      readonly id: string
      /** Seconds since the epoch at which this attempt was made. */
      readonly timestamp: number
      /** The event as JSON text; its decimals need a parser that keeps digits. */
      readonly body: string
    }
  | { readonly genuine: false; readonly because: Objection }

/** Reason why a delivery is not to be trusted. */
export type Objection = "malformed" | "too-old" | "too-new" | "not-signed"

/** Largest difference between `webhook-timestamp` and the receiver's clock, in seconds. */
export const tolerance = 300

/**
 * Largest number of signatures that are checked: a venue sends one for each secret, and one of its
 * own key.
 */
const signaturesMax = 16

const timestampForm = /^[0-9]{1,12}$/
const encoder = new TextEncoder()

/**
 * Verifies a delivery. A genuine one has a timestamp within 300 s of `now` (seconds since the
 * epoch) and a signature that matches a secret (`v1`) or a key (`v1a`); the platform compares in
 * constant time. Throws only where a trusted secret or key is malformed.
 */
export const verify = async (
  { body, headers }: Delivery,
  trusted: TrustedKeys,
  now: number = Math.floor(Date.now() / 1000)
): Promise<Verdict> => {
  const verifiers = await verifiersOf(trusted)
  const id = header(headers, "webhook-id")
  const sent = header(headers, "webhook-timestamp")
  const signatures = header(headers, "webhook-signature")
  if (id === undefined || sent === undefined || signatures === undefined) return not("malformed")
  if (id === "" || !timestampForm.test(sent)) return not("malformed")
  const listed = signatures.split(" ").filter((signature) => signature !== "")
  if (listed.length > signaturesMax) return not("malformed")
  const timestamp = Number(sent)
  if (timestamp < now - tolerance) return not("too-old")
  if (timestamp > now + tolerance) return not("too-new")
  const bytes = typeof body === "string" ? encoder.encode(body) : body
  const signed = concat(encoder.encode(`${id}.${sent}.`), bytes)
  let matches = 0
  // Every pair is tried whichever matched before, so that the duration reveals nothing.
  for (const entry of listed) {
    const comma = entry.indexOf(",")
    const signature = bytesOf(entry.slice(comma + 1))
    if (comma < 0 || signature === undefined) continue
    for (const { form, verifies } of verifiers) {
      if (form === entry.slice(0, comma) && (await verifies(signature, signed))) matches++
    }
  }
  if (matches === 0) return not("not-signed")
  return { genuine: true, id, timestamp, body: new TextDecoder().decode(bytes) }
}

const not = (because: Objection): Verdict => ({ genuine: false, because })

interface Verifier {
  readonly form: "v1" | "v1a"
  readonly verifies: (signature: Bytes, signed: Bytes) => Promise<boolean>
}

/** Bytes with a buffer of their own, as Web Crypto requires. */
type Bytes = Uint8Array<ArrayBuffer>

const verifiersOf = ({ keys = [], secrets = [] }: TrustedKeys): Promise<ReadonlyArray<Verifier>> =>
  Promise.all([
    ...secrets.map(async (secret): Promise<Verifier> => {
      const raw = unprefixed("whsec_", secret)
      const algorithm = { name: "HMAC", hash: "SHA-256" }
      const key = await crypto.subtle.importKey("raw", raw, algorithm, false, ["verify"])
      return {
        form: "v1",
        verifies: (signature, signed) => crypto.subtle.verify("HMAC", key, signature, signed)
      }
    }),
    ...keys.map(async (text): Promise<Verifier> => {
      const raw = unprefixed("whpk_", text)
      const key = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"])
      return {
        form: "v1a",
        verifies: (signature, signed) => crypto.subtle.verify("Ed25519", key, signature, signed)
      }
    })
  ])

const unprefixed = (prefix: string, text: string): Bytes => {
  const bytes = text.startsWith(prefix) ? bytesOf(text.slice(prefix.length)) : undefined
  // The error never contains the text, which is a secret.
  if (bytes === undefined) throw new TypeError(`a ${prefix}… with base64 after it is expected`)
  return bytes
}

const bytesOf = (base64: string): Bytes | undefined => {
  try {
    const text = atob(base64)
    return Uint8Array.from(text, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

const concat = (one: Uint8Array, other: Uint8Array): Bytes => {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

/** Returns a header that occurs exactly once; undefined for any other. */
const header = (headers: Delivery["headers"], name: string): string | undefined => {
  if (isHeaders(headers)) return headers.get(name) ?? undefined
  const found = Object.entries(headers).filter(([one]) => one.toLowerCase() === name)
  const [only, second] = found.flatMap(([, value]) => value ?? [])
  return second === undefined ? only : undefined
}

const isHeaders = (
  headers: Delivery["headers"]
): headers is { readonly get: (name: string) => string | null } => typeof headers.get === "function"
