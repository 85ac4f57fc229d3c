/** A refused call with an account number: its record in the audit log has no digest that leads to the number. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import * as Idempotency from "#core/writes/Idempotency.ts"
import * as Twins from "./twins.ts"

const path = "/v1/external-accounts"
const number = "CH93 0076 2011 6238 5295 7"
const bodies = {
  "of a kind that there is not": { kind: "none", instrumentId: "fund-a", number },
  "under another name": { kind: "cash", instrumentId: "fund-a", numbr: number }
}

/** The hashes that the log has of the calls with these bodies, which are refused. */
const loggedHashes = (fill: number | null) =>
  Twins.within(
    (twin) =>
      Effect.gen(function* () {
        const operator = yield* Twins.token("operator", "olga")
        for (const body of Object.values(bodies)) {
          const { status } = yield* Twins.call(twin, { path, as: operator, body })
          expect(status).toBe(400)
        }
        const auditor = yield* Twins.token("auditor", "aida")
        const { text } = yield* Twins.call(twin, { path: "/v1/audit-log?order=asc", as: auditor })
        const { value } = JSON.parse(text) as {
          readonly value: ReadonlyArray<{ readonly action: string; readonly bodyHash: unknown }>
        }
        return value.flatMap(({ action, bodyHash }) =>
          action === "external-account.map" ? [bodyHash] : []
        )
      }),
    fill === null ? {} : { sealingKeys: [{ keyId: "k", secret: new Uint8Array(32).fill(fill) }] }
  )

describe("an account number in a call that is refused", () => {
  it("is logged by a hash that differs with the deployment's key, and by none without a key", async () => {
    const [one, other] = [await loggedHashes(1), await loggedHashes(2)]
    for (const [nth, body] of Object.values(bodies).entries()) {
      const text = Idempotency.fingerprintText({ method: "POST", path, query: "", body })
      const plain = createHash("sha256").update(text).digest("hex")
      expect(one[nth]).toMatch(/^[0-9a-f]{64}$/)
      expect([one[nth], other[nth]]).not.toContain(plain)
      expect(one[nth]).not.toBe(other[nth])
    }
    expect(await loggedHashes(null)).toEqual([null, null])
  })
})
