/** The command `bursar listen`, started and stopped: it posts what happens, and goes on where it was. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { verify } from "@bursar/http-host/webhook-receiver"
import { bearer, open, send, type Venue } from "../http/venue.ts"
import { bundled } from "../processes/bundled.ts"
import { environment } from "../processes/environment.ts"
import { pollLimit } from "../waiting.ts"

let venue: Venue
let operator: string
const folder = mkdtempSync(join(tmpdir(), "listen-"))
const bodies: Array<string> = []
const headers: Array<Readonly<Record<string, string | ReadonlyArray<string> | undefined>>> = []
const server = createServer((request, response) => {
  const parts: Array<Buffer> = []
  request.on("data", (part: Buffer) => parts.push(part))
  request.on("end", () => {
    headers.push(request.headers)
    bodies.push(Buffer.concat(parts).toString("utf8"))
    response.writeHead(200).end()
  })
})

beforeAll(async () => {
  venue = await open()
  operator = await bearer(["operator"])
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  writeFileSync(join(folder, "token.txt"), operator.replace("Bearer ", ""))
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await venue.close()
  rmSync(folder, { recursive: true, force: true })
})

const note = async (holderId: string) => {
  const body = JSON.stringify({ holderId, text: "one", amount: 1, owner: null })
  await send(venue, { method: "POST", path: "/v1/holders", as: operator, body })
  await venue.settle()
}

/** Starts the command and answers once it has printed its first line. */
const start = async () => {
  const { port } = server.address() as AddressInfo
  const words = [
    ...["listen", "--to", `http://localhost:${port}/hook`, "--from", venue.url],
    ...["--token", join(folder, "token.txt"), "--state", join(folder, "place.json")]
  ]
  const child: ChildProcess = spawn(
    process.execPath,
    [await bundled("packages/http-host/src/main.ts"), ...words],
    { env: environment, stdio: ["ignore", "pipe", "pipe"] }
  )
  let out = ""
  let err = ""
  child.stdout?.on("data", (part) => (out += String(part)))
  child.stderr?.on("data", (part) => (err += String(part)))
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
  return {
    out: () => out,
    stop: async () => {
      child.kill("SIGINT")
      return [await ended, err] as const
    }
  }
}

const waits = { timeout: pollLimit, interval: 200 }

const seqs = () => bodies.map((body) => (JSON.parse(body) as { readonly seq: number }).seq)

it("posts what happens while it runs and while it did not, once, and ends well", async () => {
  await note("before-1")
  const first = await start()
  // Its place is kept once it knows the venue's time: what happens from then on is posted.
  await vi.waitFor(() => expect(first.out()).toContain("signed with whsec_"), waits)
  await vi.waitFor(async () => {
    await note(`live-${crypto.randomUUID()}`)
    expect(first.out()).toMatch(/^\d+ operation\.succeeded: 200$/mu)
  }, waits)
  expect(await first.stop()).toEqual([0, ""])
  const before = seqs()
  expect(Math.min(...before)).toBeGreaterThan(1)
  const secret = /whsec_\S+(?=;)/u.exec(first.out())?.[0] ?? ""
  const verdict = await verify(
    { headers: headers[0] ?? {}, body: bodies[0] ?? "" },
    { secrets: [secret] }
  )
  expect(verdict).toMatchObject({ genuine: true })
  await note("between-1")
  const second = await start()
  await vi.waitFor(() => expect(seqs().length).toBeGreaterThan(before.length), waits)
  expect(await second.stop()).toEqual([0, ""])
  const all = seqs()
  expect(all).toEqual(all.map((_, nth) => (all[0] ?? 0) + nth))
})
