/** A start on data of an earlier one: which secrets its folder must hold, and which it may make. */
import { DeploymentKeys } from "@bursar/http-host"
import { Effect, Redacted, Result } from "effect"
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as ConfigLoaded from "#host/ConfigLoaded.ts"
import * as ExistingVenue from "#host/ExistingVenue.ts"

const uses = ["webhook", "sealing", "audit", "cursor"] as const
const files = [...uses.map((use) => `keys/${use}.json`), "ledger/venue.token"]

let root = ""
let whole = ""
let keyIds: ConfigLoaded.KeyIds

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "bursar-existing-"))
  whole = join(root, "whole")
  const ids = new Map<string, string>()
  for (const use of uses) {
    const own = DeploymentKeys.own({ use, data: whole, setting: "keys" })
    ids.set(use, (await Effect.runPromise(own)).keyId)
  }
  const idOf = (use: string) => [ids.get(use) ?? ""]
  keyIds = {
    webhook: idOf("webhook"),
    sealing: idOf("sealing"),
    audit: idOf("audit"),
    cursor: ["0"]
  }
  await mkdir(join(whole, "ledger"))
  await writeFile(join(whole, "ledger", "venue.token"), "token\n")
})
afterAll(() => rm(root, { recursive: true, force: true }))

const key = { keyId: "k", seed: new Uint8Array(32), notBefore: null as never, notAfter: null }
const unset = {
  "webhooks.keys": [],
  "webhooks.sealingKeys": [],
  "audit.keys": [],
  "cursor.keys": [],
  "ledger.token": null
}
const lasting = {
  "webhooks.keys": [key],
  "webhooks.sealingKeys": [{ keyId: "k", secret: key.seed }],
  "audit.keys": [key],
  "ledger.token": Redacted.make("token")
}

interface Case {
  /** Files that the folder lacks; null: it has none at all. */
  readonly lacks?: ReadonlyArray<string> | null
  /** Files that it has besides. */
  readonly besides?: ReadonlyArray<string>
  readonly settings?: object
  readonly existing?: Partial<ExistingVenue.EarlierUse>
  /** Files and settings that the refusal names, in this order; none where the start goes on. */
  readonly named: ReadonlyArray<string>
}

let folders = 0
const refusalOf = async ({ lacks = [], besides = [], settings, existing }: Case) => {
  const data = join(root, String(++folders))
  if (lacks !== null) {
    await cp(whole, data, { recursive: true })
    for (const file of lacks) await rm(join(data, file))
  }
  for (const file of besides) await writeFile(join(data, file), "")
  const config = { data, ...unset, ...settings }
  const used = { isUsed: true, keyIds, hasVenueToken: true, ...existing }
  const judged = await Effect.runPromise(Effect.result(ExistingVenue.demandSecrets(config, used)))
  if (Result.isSuccess(judged)) return []
  expect(judged.failure.message).toMatch(/^data \(BURSAR_DATA\): [^\n]*nothing was written$/)
  const [, list = ""] = / does not have: (.*?); restore/.exec(judged.failure.message) ?? []
  const ownId = / with the key (webhook|sealing|audit)-[0-9a-f]{8}$/
  return list.split(", ").map((file) => file.replace(`${data}/`, "").replace(ownId, ""))
}

const settingOf = {
  "keys/webhook.json": "webhooks.keys",
  "keys/sealing.json": "webhooks.sealingKeys",
  "keys/audit.json": "audit.keys",
  "ledger/venue.token": "ledger.token",
  "keys/cursor.json": "cursor.keys"
} as const
const named = Object.entries(settingOf).map(([file, setting]) => `${file} (${setting})`)

const table: Readonly<Record<string, Case>> = {
  "a database that nobody used": {
    lacks: null,
    existing: { isUsed: false, keyIds: null, hasVenueToken: false },
    named: []
  },
  "a used database and the whole folder": { named: [] },
  "a used database and no folder": { lacks: null, named },
  "records of which no start is logged, and no folder": {
    lacks: null,
    existing: { keyIds: null, hasVenueToken: false },
    named: named.slice(0, 3)
  },
  "records of which no start is logged, and the whole folder": {
    existing: { keyIds: null },
    named: []
  },
  "a ledger with the venue's user, of which nothing is recorded": {
    lacks: null,
    existing: { isUsed: false, keyIds: null },
    named: ["ledger/venue.token (ledger.token)"]
  },
  "a token whose own first request was interrupted": {
    lacks: ["ledger/venue.token"],
    besides: ["ledger/venue.token.requested"],
    named: []
  },
  "a start of before that had no such keys": {
    lacks: ["keys/webhook.json", "keys/cursor.json"],
    existing: {
      get keyIds() {
        return { ...keyIds, webhook: [], cursor: [] }
      }
    },
    named: []
  },
  "an ephemeral folder, and settings that name what is lasting": {
    lacks: null,
    settings: lasting,
    named: []
  },
  "settings that name all but the ledger's token": {
    lacks: null,
    settings: { ...lasting, "ledger.token": null },
    named: ["ledger/venue.token (ledger.token)", "keys/cursor.json (cursor.keys)"]
  },
  "a key that the settings named and do not name any more": {
    existing: {
      get keyIds() {
        return { ...keyIds, audit: ["au-2", ...(keyIds.audit ?? [])] }
      }
    },
    named: ["keys/audit.json (audit.keys) with the key au-2"]
  },
  "the keys of another venue": {
    existing: {
      get keyIds() {
        return { ...keyIds, sealing: ["sealing-other"] }
      }
    },
    named: ["keys/sealing.json (webhooks.sealingKeys) with the key sealing-other"]
  }
}

describe("a start on existing data", () => {
  it.each(Object.keys(table))("names what is missing, and nothing else: %s", async (what) => {
    const judged = table[what] ?? expect.unreachable()
    expect(await refusalOf(judged)).toEqual(judged.named)
  })

  it.each(files)("never makes %s anew where that alone is missing", async (file) => {
    const setting = settingOf[file as keyof typeof settingOf]
    expect(await refusalOf({ lacks: [file], named: [] })).toEqual([`${file} (${setting})`])
  })

  it("reads the ids of keys back that the record of a start names", () => {
    const detail = { webhookKeys: "wh-1 wh-2", sealingKeys: "", auditKeys: "au-1" }
    expect(ConfigLoaded.keyIdsOf(JSON.stringify({ seq: 1, detail }))).toEqual({
      webhook: ["wh-1", "wh-2"],
      sealing: [],
      audit: ["au-1"],
      cursor: null
    })
    expect(ConfigLoaded.keyIdsOf(JSON.stringify({ seq: 1, detail: null }))).toBeNull()
  })
})
