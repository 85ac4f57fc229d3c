/** Signs a request as its sender would, by the contract's text alone. */
import { createHash, createHmac, randomBytes } from "node:crypto"

/** The test secret of the contract's vectors: 00 11 22 … ff, twice. */
export const secret = Buffer.from("00112233445566778899aabbccddeeff".repeat(2), "hex")

export interface Signing {
  readonly method: string
  /** Path and query as they go over the wire. */
  readonly target: string
  readonly body?: string | Uint8Array
  readonly keyId?: string
  readonly secret?: Uint8Array
  /** Seconds since 1970; now unless given. */
  readonly timestamp?: number | string
  readonly nonce?: string
}

export const freshNonce = () => randomBytes(16).toString("base64url")

export const textOf = (
  request: Required<Pick<Signing, "method" | "target" | "body" | "nonce">> & {
    readonly timestamp: string
  }
) =>
  [
    request.method,
    request.target,
    request.timestamp,
    request.nonce,
    createHash("sha256").update(request.body).digest("hex")
  ].join("\n")

/** The four headers. */
export const sign = (signing: Signing): Readonly<Record<string, string>> => {
  const timestamp = String(signing.timestamp ?? Math.floor(Date.now() / 1000))
  const nonce = signing.nonce ?? freshNonce()
  const text = textOf({ ...signing, body: signing.body ?? "", timestamp, nonce })
  return {
    "x-signature-key": signing.keyId ?? "k-1",
    "x-signature-timestamp": timestamp,
    "x-signature-nonce": nonce,
    "x-signature": createHmac("sha256", signing.secret ?? secret)
      .update(text)
      .digest("base64")
  }
}
