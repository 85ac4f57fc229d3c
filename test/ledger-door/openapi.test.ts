/** The door's requests and answers against the published descriptions of the ledger API, closed. */
import { existsSync, readFileSync } from "node:fs"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Prepared, SigningKey } from "#adapters/ledger/wallets/index.ts"
import type * as Sim from "#adapters/ledger/simulated/SimulatedLedger.ts"
import * as Closed from "./closed.ts"
import { dig, open, type Opened, socket } from "./opened.ts"
import * as Wire from "./wire.ts"

const file = (line: string): URL =>
  new URL(`../../../shared/data/canton/openapi-release-line-${line}.yaml`, import.meta.url)

/** Paths of the description that take a body here; all others are not offered, or are only read. */
const older = [
  "/v2/commands/async/submit",
  "/v2/commands/completions",
  "/v2/commands/submit-and-wait",
  "/v2/commands/submit-and-wait-for-transaction",
  "/v2/contracts/contract-by-id",
  "/v2/events/events-by-contract-id",
  "/v2/interactive-submission/execute",
  "/v2/interactive-submission/executeAndWait",
  "/v2/interactive-submission/executeAndWaitForTransaction",
  "/v2/interactive-submission/preferred-packages",
  "/v2/interactive-submission/prepare",
  "/v2/package-vetting/list",
  "/v2/state/active-contracts",
  "/v2/updates",
  "/v2/updates/update-by-id",
  "/v2/updates/update-by-offset"
]
const takingBodies = {
  "3.4": older,
  "3.5": [...older, "/v2/state/active-contracts-page", "/v2/updates/get-updates-page"]
}

describe.each(["3.4", "3.5"] as const)("the description of %s", (line) => {
  const present = existsSync(file(line))

  describe.skipIf(!present)("shared/data/canton is there", () => {
    const key = SigningKey.generate()
    let description: Closed.Description
    let door: Opened
    let venue: Sim.PartyAdded
    let holder: Sim.PartyAdded

    beforeAll(async () => {
      description = Closed.read(readFileSync(file(line), "utf8"))
      door = await open({ profile: line })
      venue = await door.add("venue")
      holder = await door.add("holder", key.publicKey)
    })
    afterAll(() => door.close())

    /** Sends a request, and judges both request and answer. */
    const judged = async (
      path: string,
      options: { readonly token?: string; readonly template?: string; readonly body?: unknown },
      status = 200
    ): Promise<unknown> => {
      const call = {
        method: options.body === undefined ? ("get" as const) : ("post" as const),
        path: options.template ?? path.split("?")[0] ?? path
      }
      if (options.body !== undefined) {
        expect(Closed.judge(description, Closed.request(description, call), options.body)).toEqual(
          []
        )
      }
      const answer = await door.ask(options.token ?? venue.token, path, options.body)
      expect(answer.status, answer.text).toBe(status)
      const schema = Closed.answer(description, { ...call, status })
      expect(Closed.judge(description, schema, answer.json), answer.text).toEqual([])
      return answer.json
    }

    it("the judge itself says no: an open answer would pass as anything", () => {
      const call = { method: "post", path: "/v2/updates", status: 200 } as const
      const schema = Closed.answer(description, call)
      expect(Closed.judge(description, schema, [{ update: { Unknown: {} } }])).not.toEqual([])
      expect(Closed.judge(description, schema, [{ updateId: "1220" }])).not.toEqual([])
      expect(Closed.judge(description, schema, [])).toEqual([])
    })

    it("commands, and every shape in which what they did is shown", async () => {
      const commands = {
        commandId: "c1",
        actAs: [venue.party],
        workflowId: "w1",
        deduplicationPeriod: { DeduplicationDuration: { value: { seconds: 60, nanos: 0 } } },
        commands: [Wire.createPoint(venue.party), Wire.createHolding(venue.party)]
      }
      const done = await judged("/v2/commands/submit-and-wait-for-transaction", {
        body: { commands }
      })
      const cid = String(dig(done, "transaction", "events", 0, "CreatedEvent", "contractId"))
      await judged("/v2/commands/submit-and-wait", {
        body: { ...commands, commandId: "c2", commands: [Wire.correct(cid)] }
      })
      await judged("/v2/commands/async/submit", { body: { ...commands, commandId: "c3" } })
      await judged("/v2/commands/submit-and-wait", { body: { ...commands, commandId: "c2" } }, 409)
      const offset = Number(dig(await judged("/v2/state/ledger-end", {}), "offset"))
      const iface = {
        InterfaceFilter: {
          value: { interfaceId: Wire.holdingInterface, includeInterfaceView: true }
        }
      }
      const wildcard = { WildcardFilter: { value: { includeCreatedEventBlob: true } } }
      for (const updateFormat of [
        Wire.effects(venue.party, wildcard, iface),
        Wire.deltas(venue.party)
      ]) {
        const list = await judged("/v2/updates", {
          body: { beginExclusive: 0, endInclusive: offset, updateFormat }
        })
        expect(Array.isArray(list) ? list.length : 0).toBeGreaterThan(2)
        const updateId = String(dig(done, "transaction", "updateId"))
        await judged("/v2/updates/update-by-id", { body: { updateId, updateFormat } })
        await judged("/v2/updates/update-by-offset", {
          body: { offset: Number(dig(done, "transaction", "offset")), updateFormat }
        })
      }
      await judged("/v2/commands/completions", {
        body: { parties: [venue.party], beginExclusive: 0 }
      })
      await judged("/v2/state/active-contracts", {
        body: { activeAtOffset: offset, eventFormat: Wire.eventFormat(venue.party, iface) }
      })
      const contract = { contractId: cid, eventFormat: Wire.eventFormat(venue.party) }
      await judged("/v2/events/events-by-contract-id", { body: contract })
      await judged("/v2/contracts/contract-by-id", { body: { contractId: cid } })
    })

    it.skipIf(line === "3.4")("pages", async () => {
      await judged("/v2/updates/get-updates-page", {
        body: { updateFormat: Wire.effects(venue.party), maxPageSize: 1 }
      })
      await judged("/v2/state/active-contracts-page", {
        body: { eventFormat: Wire.eventFormat(venue.party), maxPageSize: 1 }
      })
    })

    it("interactive submission", async () => {
      const prepared = await judged("/v2/interactive-submission/prepare", {
        token: holder.token,
        body: { commandId: "i1", actAs: [holder.party], commands: [Wire.createPoint(holder.party)] }
      })
      const preparedTransaction = String(dig(prepared, "preparedTransaction"))
      const hash = Prepared.hash(Buffer.from(preparedTransaction, "base64"))
      const signature = {
        format: "SIGNATURE_FORMAT_CONCAT",
        signature: Buffer.from(key.sign(hash)).toString("base64"),
        signedBy: key.fingerprint,
        signingAlgorithmSpec: "SIGNING_ALGORITHM_SPEC_ED25519"
      }
      const body = {
        preparedTransaction,
        hashingSchemeVersion: "HASHING_SCHEME_VERSION_V2",
        submissionId: "s1",
        partySignatures: { signatures: [{ party: holder.party, signatures: [signature] }] }
      }
      const token = holder.token
      await judged("/v2/interactive-submission/executeAndWaitForTransaction", { token, body })
      await judged("/v2/interactive-submission/executeAndWait", { token, body }, 409)
      await judged("/v2/interactive-submission/execute", { token, body })
    })

    it("who is who, and what is in force", async () => {
      await judged("/v2/version", {})
      await judged("/v2/authenticated-user", {})
      await judged("/v2/users/venue/rights", { template: "/v2/users/{user-id}/rights" })
      await judged("/v2/parties", {})
      await judged("/v2/parties/participant-id", {})
      const packages = await judged("/v2/packages", {})
      const id = String(dig(packages, "packageIds", 0))
      await judged(`/v2/packages/${id}/status`, { template: "/v2/packages/{package-id}/status" })
      await judged("/v2/package-vetting/list", { body: {} })
      await judged("/v2/interactive-submission/preferred-packages", {
        body: {
          packageVettingRequirements: [{ parties: [venue.party], packageName: "bursar-admin-v1" }]
        }
      })
      await judged("/v2/state/latest-pruned-offsets", {})
    })

    it("refusals, over HTTP and in a frame", async () => {
      const body = { beginExclusive: 1_000_000, updateFormat: Wire.effects(venue.party) }
      await judged("/v2/updates", { body }, 400)
      await judged("/v2/updates", { token: "blt_wrong", body }, 401)
      await judged("/v2/users/other/rights", { template: "/v2/users/{user-id}/rights" }, 403)
      const opened = await socket(door, venue.token, "/v2/updates", body)
      await opened.closed()
      const error = { $ref: "#/components/schemas/JsCantonError" }
      expect(Closed.judge(description, error, opened.frames[0])).toEqual([])
    })

    it("every described path that the door does not offer is answered so", async () => {
      const offered: Array<string> = []
      for (const path of description.paths.filter((one) => one.startsWith("/v2/"))) {
        const { status } = await door.ask(venue.token, path.replaceAll(/\{[^}]+\}/g, "x"), "[")
        if (status !== 501) offered.push(path)
      }
      expect(offered.toSorted()).toEqual(takingBodies[line].toSorted())
    })
  })
})
