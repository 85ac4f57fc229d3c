/** HMAC signature of a service client's requests. */

/** One entry of the deployment's `signing.keys`. */
export interface SigningKey {
  readonly keyId: string
  /** At least 32 bytes. */
  readonly secret: Uint8Array
}

/** A request as it goes out. */
export interface Signable {
  readonly method: string
  /** The request target's bytes from the first `/`, with the query if there is one. */
  readonly target: string
  /** Bytes of the body, empty for a request without one; or their lower-case hex SHA-256. */
  readonly body: Uint8Array | string
  /** Seconds since the epoch. */
  readonly timestamp: number
  /** 22 to 128 characters of base64url, never used before under the key. */
  readonly nonce: string
}

const encoder = new TextEncoder()

/**
 * The signed text, `METHOD LF target LF timestamp LF nonce LF hex(SHA-256(body))`
 * (docs/contract/signed-requests.md#signed-text).
 */
export const textToSign = async (request: Signable): Promise<string> => {
  const hash = typeof request.body === "string" ? request.body : await sha256(request.body)
  return [
    request.method.toUpperCase(),
    request.target,
    request.timestamp,
    request.nonce,
    hash
  ].join("\n")
}

const sha256 = async (bytes: Uint8Array): Promise<string> => {
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(bytes))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("")
}

/** The four headers of a signed request. */
export const headersOf = async (
  key: SigningKey,
  request: Signable
): Promise<Readonly<Record<string, string>>> => {
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  const secret = new Uint8Array(key.secret)
  const mac = await crypto.subtle.importKey("raw", secret, algorithm, false, ["sign"])
  const text = encoder.encode(await textToSign(request))
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", mac, text))
  return {
    "x-signature-key": key.keyId,
    "x-signature-timestamp": String(request.timestamp),
    "x-signature-nonce": request.nonce,
    "x-signature": base64(signature)
  }
}

/** A nonce of 16 random bytes: 22 characters of base64url. */
export const makeNonce = (): string =>
  base64(crypto.getRandomValues(new Uint8Array(16)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")

const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))
