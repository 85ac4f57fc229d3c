/** Places that callers keep outlive the host: with default settings, over restarts, at another instance. */
import { readFile, writeFile } from "node:fs/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { call, type Instances, insist, page, registration, start } from "./instances.ts"

let venue: Instances
let operator = ""
let auditor = ""
beforeAll(async () => {
  venue = await start({ count: 1, settings: { BURSAR_OPERATIONS_LEASE: "2" } })
  operator = await venue.token("olga", ["operator"])
  auditor = await venue.token("anna", ["auditor"])
})
afterAll(() => venue?.stop())

let holders = 0
/** Registers holders, at any host that runs. */
const writes = async (count: number): Promise<void> => {
  for (let nth = 0; nth < count; nth++) {
    const holderId = `h-${++holders}`
    const { status } = await insist(
      venue.hosts,
      registration({ as: operator, holderId, key: holderId })
    )
    expect([200, 202]).toContain(status)
  }
}

interface Feed {
  readonly path: string
  readonly as: () => string
}

/** Reads a feed page by page, and keeps nothing but its place and what it was told. */
const consumer = ({ path, as }: Feed) => {
  const readNumbers: Array<number> = []
  let after: string | null = null
  return {
    seqs: readNumbers,
    reads: async (pages: number) => {
      for (let nth = 0; nth < pages; nth++) {
        const place: string = after === null ? "" : `&after=${encodeURIComponent(after)}`
        const { status, body } = await insist(venue.hosts, {
          as: as(),
          path: `${path}?limit=2${place}`
        })
        expect([path, status, status === 200 ? null : body]).toEqual([path, 200, null])
        const { next, value } = body as {
          readonly next: string
          readonly value: ReadonlyArray<{ readonly seq: number }>
        }
        after = next
        readNumbers.push(...value.map(({ seq }) => seq))
        if (value.length === 0) return
      }
    }
  }
}

const restarts = async (): Promise<void> => {
  const [old] = venue.hosts.splice(0, 1)
  old?.kill()
  await old?.ended
  await venue.more()
}

// Red without the deployment's own cursor key (Deployment.ts): 400 at the first page after a restart.
describe("a host without cursor keys of its settings", () => {
  it("keeps a consumer's place over three restarts and at a second instance: nothing missed, nothing twice", async () => {
    const feeds = [
      { path: "/v1/events", as: () => operator },
      { path: "/v1/audit-log", as: () => auditor }
    ]
    const consumers = feeds.map(consumer)
    for (let restart = 0; restart < 3; restart++) {
      await writes(3)
      for (const { reads } of consumers) await reads(2)
      await restarts()
      for (const { reads } of consumers) await reads(1)
    }
    await venue.more()
    await writes(3)
    // One page from one instance, the next from the other.
    for (let nth = 0; nth < 4; nth++) {
      venue.hosts.reverse()
      for (const { reads } of consumers) await reads(1)
    }
    await writes(2)
    for (const { reads, seqs } of consumers) {
      await reads(500)
      expect(seqs.length).toBeGreaterThan(10)
      expect(seqs).toEqual(seqs.map((_, nth) => nth + 1))
    }
    const last = await page(venue.hosts, { as: operator, after: null, limit: 1_000 })
    const { seqs } = consumers[0] ?? { seqs: [] }
    expect(last.value.slice(0, seqs.length).map(({ seq }) => seq)).toEqual(seqs)
  })

  it("keeps the place of a list too, and has one key, which only its folder holds", async () => {
    const first = await insist(venue.hosts, { as: operator, path: "/v1/operations?limit=1" })
    const { next } = first.body as { readonly next: string }
    for (const host of venue.hosts) {
      const path = `/v1/operations?limit=1&after=${encodeURIComponent(next)}`
      expect((await call(host, { as: operator, path }))?.status).toBe(200)
    }
    const kept = JSON.parse(await readFile(`${venue.folder}/keys/cursor.json`, "utf8"))
    expect(Buffer.from(kept.secret, "base64")).toHaveLength(32)
  })

  it("goes on with its own key under its settings, beside a newer one", async () => {
    const { next } = await page(venue.hosts, { as: operator, after: null, limit: 1 })
    const { secret } = JSON.parse(await readFile(`${venue.folder}/keys/cursor.json`, "utf8"))
    const newer = Buffer.alloc(32, 7).toString("base64url")
    const host = await venue.more({ BURSAR_CURSOR_KEYS: `9:${newer},0:${secret}` })
    const path = `/v1/events?limit=1&after=${encodeURIComponent(next)}`
    expect((await call(host, { as: operator, path }))?.status).toBe(200)
  })
})

// Red without the word of it (Host.ts), and where a folder that takes no key stops the start (Deployment.ts).
describe("a host with neither a key nor a folder that takes one", () => {
  const lost = "places in lists and feeds hold at this instance alone"
  it("starts, and says that places will be lost; one that has a key says nothing of it", async () => {
    const key = (fill: number) => Buffer.alloc(32, fill).toString("base64")
    const signs = (keyId: string) =>
      JSON.stringify([{ keyId, seed: key(3), notBefore: "2026-01-01T00:00:00Z" }])
    const file = `${venue.folder}/file`
    await writeFile(file, "")
    const host = await venue.more({
      BURSAR_DATA: `${file}/in`,
      BURSAR_AUDIT_ANCHORS: `${venue.folder}/anchors.jsonl`,
      BURSAR_AUDIT_KEYS: signs("au-1"),
      BURSAR_WEBHOOKS_KEYS: signs("wh-1"),
      BURSAR_WEBHOOKS_SEALING_KEYS: JSON.stringify([{ keyId: "se-1", secret: key(4) }])
    })
    const warned = host
      .log()
      .split("\n")
      .filter((line) => line.includes(lost))
    expect(warned.map((line) => JSON.parse(line).level)).toEqual(["warn"])
    expect((await call(host, { as: operator, path: "/v1/events?limit=1" }))?.status).toBe(200)
    for (const other of venue.hosts) if (other !== host) expect(other.log()).not.toContain(lost)
  })
})
