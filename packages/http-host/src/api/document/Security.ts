/** Security schemes of the document: bearer token, and request signature for service clients. */
import { toleranceSeconds } from "../ClockTolerance.ts"
import type { OpenAPIV3_1 } from "openapi-types"
import type { Admits } from "../Served.ts"

const signatureHeader = (name: string, description: string): OpenAPIV3_1.SecuritySchemeObject => ({
  type: "apiKey",
  in: "header",
  name,
  description
})

export const schemes: Readonly<Record<string, OpenAPIV3_1.SecuritySchemeObject>> = {
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: `A JWT of the deployment's identity provider; its roles claim names the roles. It is taken up to ${toleranceSeconds} seconds after it expired and before it begins, for clocks differ.`
  },
  signatureKey: signatureHeader("X-Signature-Key", "The id of the key the request is signed with."),
  signatureTimestamp: signatureHeader(
    "X-Signature-Timestamp",
    "Seconds since the epoch, within the signing window of the engine's clock."
  ),
  signatureNonce: signatureHeader(
    "X-Signature-Nonce",
    "At least 16 random bytes in base64url, never used again within twice the window."
  ),
  signature: signatureHeader(
    "X-Signature",
    "Base64 HMAC-SHA256 over method, path and query, timestamp, nonce and the body's SHA-256."
  )
}

const bearer = { bearer: [] }
const signed = {
  ...bearer,
  signatureKey: [],
  signatureTimestamp: [],
  signatureNonce: [],
  signature: []
}

/**
 * Security of every non-public route: a bearer, and a signature for subjects with a signing key.
 */
export const everywhere: Array<OpenAPIV3_1.SecurityRequirementObject> = [bearer, signed]

/** Security of a route where it is not that of the document. */
export const of = (admits: Admits) => (admits.by === "anyone" ? [] : undefined)
