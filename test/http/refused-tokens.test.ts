/** Refused tokens: the caller does not read the reason; the log of its request has it. */
import { readFileSync } from "node:fs"
import { generateKeyPair, SignJWT } from "jose"
import { Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { toleranceSeconds } from "#host/api/ClockTolerance.ts"
import { secret, sign } from "./signing.ts"
import {
  audience,
  bearer,
  issuer,
  json,
  open,
  type Problem,
  send,
  token,
  type Venue
} from "./venue.ts"

const signer = "operator-1"
let venue: Venue
beforeAll(async () => {
  const key = { keyId: "k-1", sub: signer, secret: Redacted.make<Uint8Array>(secret) }
  venue = await open({
    signing: { keys: [{ ...key, notBefore: null, notAfter: null }], window: 300_000 }
  })
})
afterAll(() => venue.close())

const now = () => Math.floor(Date.now() / 1000)
/** A minute on either side, so that no test is judged by how fast it ran. */
const beyond = toleranceSeconds + 60

const forged = async () => {
  const { privateKey } = await generateKeyPair("ES256")
  const claims = {
    iss: issuer,
    aud: audience,
    sub: "mallory",
    roles: ["operator"],
    exp: now() + 600
  }
  const kid = JSON.parse(Buffer.from((await token({})).split(".")[0] ?? "", "base64url").toString())
  return new SignJWT(claims).setProtectedHeader(kid).sign(privateKey)
}

const target = "/v1/holders?limit=1"
type Headers = Readonly<Record<string, string>>
const signed = (change: Headers = {}): Headers => ({
  ...sign({ method: "GET", target }),
  ...change
})

const faults: ReadonlyArray<
  readonly [reason: string, as: () => Promise<string | undefined>, headers?: () => Headers]
> = [
  ["missing", async () => undefined],
  ["malformed", async () => "Bearer nothing"],
  ["header", async () => `Bearer ${await token({}, { typ: "id+jwt" })}`],
  ["key", async () => `Bearer ${await token({}, { kid: "another" })}`],
  ["signature", async () => `Bearer ${await forged()}`],
  ["issuer", async () => `Bearer ${await token({ iss: `${issuer}/` })}`],
  ["audience", async () => `Bearer ${await token({ aud: "urn:another" })}`],
  ["expired", async () => `Bearer ${await token({ exp: now() - beyond })}`],
  ["clock", async () => `Bearer ${await token({ nbf: now() + beyond })}`],
  ["claims", async () => `Bearer ${await token({ sub: "\u0001" })}`],
  ["unsigned", () => bearer(["operator"])],
  ["form", () => bearer(["operator"]), () => signed({ "x-signature-nonce": "short" })],
  ["signing-key", () => bearer(["operator"]), () => signed({ "x-signature-key": "k-2" })],
  [
    "window",
    () => bearer(["operator"]),
    () => sign({ method: "GET", target, timestamp: now() - 600 })
  ],
  ["mac", () => bearer(["operator"]), () => sign({ method: "GET", target: "/v1/orders" })]
]

const lineOf = async (requestId: string): Promise<Readonly<Record<string, unknown>>> => {
  const lines = () =>
    venue.logs
      .map((line): Readonly<Record<string, unknown>> => JSON.parse(line))
      .filter((line) => line["requestId"] === requestId && line["msg"] === "answered")
  await expect.poll(() => lines().length).toBe(1)
  return lines()[0] ?? {}
}

describe("a 401", () => {
  it("has its reason in the log of its request alone", async () => {
    for (const [reason, as, headers] of faults) {
      const bearerToken = await as()
      const answer = await send(venue, {
        path: target,
        ...(bearerToken === undefined ? {} : { as: bearerToken }),
        headers: headers?.() ?? {}
      })
      expect([reason, answer.status]).toEqual([reason, 401])
      const requestId = answer.headers.get("x-request-id") ?? ""
      const problem = await json<Problem>(answer)
      expect(await lineOf(requestId)).toMatchObject({ status: 401, reason })
      // No errors, as for every refused token: the exact reason would help a forger.
      expect(problem.errors).toBeNull()
    }
  })

  it("has another reason for a nonce that was used, and none where the caller is taken", async () => {
    const as = await bearer(["operator"])
    const headers = signed()
    const [first, second] = [
      await send(venue, { path: target, as, headers }),
      await send(venue, { path: target, as, headers })
    ]
    expect([first.status, second.status]).toEqual([200, 401])
    expect(await lineOf(second.headers.get("x-request-id") ?? "")).toMatchObject({
      reason: "nonce"
    })
    expect(await lineOf(first.headers.get("x-request-id") ?? "")).not.toHaveProperty("reason")
    await Promise.all([first.arrayBuffer(), second.arrayBuffer()])
  })

  it("is explained reason by reason on the page, with the tolerance that is judged by", () => {
    const page = readFileSync(
      new URL("../../packages/http-host/docs/sign-in.md", import.meta.url),
      "utf8"
    )
    for (const [reason] of faults) expect(page).toContain(`\`${reason}\``)
    expect(page).toContain(`up to ${toleranceSeconds} seconds after it expired`)
  })
})
