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
  of: Required<Pick<Signing, "method" | "target" | "body" | "nonce">> & {
    readonly timestamp: string
  }
) =>
  [
    of.method,
    of.target,
    of.timestamp,
    of.nonce,
    createHash("sha256").update(of.body).digest("hex")
  ].join("\n")

/** The four headers. */
export const sign = (of: Signing): Readonly<Record<string, string>> => {
  const timestamp = String(of.timestamp ?? Math.floor(Date.now() / 1000))
  const nonce = of.nonce ?? freshNonce()
  const text = textOf({ ...of, body: of.body ?? "", timestamp, nonce })
  return {
    "x-signature-key": of.keyId ?? "k-1",
    "x-signature-timestamp": timestamp,
    "x-signature-nonce": nonce,
    "x-signature": createHmac("sha256", of.secret ?? secret)
      .update(text)
      .digest("base64")
  }
}
