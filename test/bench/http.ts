/**
 * Writes over HTTP that end on the ledger, against the same writes submitted in the host's own
 * process; and the longest spell in which no operation ended although 64 clients waited for one.
 */
import { fork } from "node:child_process"
import { openSync, readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { median, type Row, row } from "./measure.ts"

const clients = 64
/** Operations of a round. */
const perRound = Number(process.env["OPERATIONS"] ?? 640)
const rounds = 3
/** How often a client asks whether its operation has ended. */
const pollMillis = 150
const agent = new Agent({ keepAlive: true, maxSockets: clients })

interface Server {
  readonly url: string
  readonly token: string
  readonly party: string
}

interface Answer {
  readonly status: number
  readonly body: { readonly [member: string]: unknown }
}

const call = (server: Server, path: string, body?: unknown): Promise<Answer> =>
  new Promise((done, failed) => {
    const headers = {
      authorization: `Bearer ${server.token}`,
      ...(body === undefined
        ? {}
        : { "content-type": "application/json", "idempotency-key": `k-${path}` })
    }
    const method = body === undefined ? "GET" : "POST"
    const asked = request(`${server.url}${path}`, { agent, method, headers }, (answer) => {
      let text = ""
      answer.setEncoding("utf8")
      answer.on("data", (part: string) => {
        text += part
      })
      answer.on("end", () => done({ status: answer.statusCode ?? 0, body: JSON.parse(text) }))
    })
    asked.on("error", failed)
    asked.end(body === undefined ? undefined : JSON.stringify(body))
  })

interface Round {
  readonly perSecond: number
  readonly idleMillis: number
}

const pause = (millis: number) => new Promise((done) => setTimeout(done, millis))

/** Each client submits a write and polls its operation until it has ended, and then the next one. */
const overHttp = async (server: Server, from: number): Promise<Round> => {
  const began = performance.now()
  const ends = [began]
  let next = from
  const client = async (): Promise<void> => {
    while (next < from + perRound) {
      const noteId = `http-${next++}`
      const sent = await call(server, `/v1/holds/${noteId}:propose`, { registrar: server.party })
      const operationId = sent.body["operationId"]
      if (typeof operationId !== "string") throw new Error(JSON.stringify(sent))
      for (;;) {
        const { body } = await call(server, `/v1/operations/${operationId}`)
        const { state } = (body["value"] ?? body) as { readonly state?: unknown }
        if (state === "succeeded") break
        if (state !== "queued" && state !== "running") throw new Error(JSON.stringify(body))
        await pause(pollMillis)
      }
      ends.push(performance.now())
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return {
    perSecond: (perRound * 1000) / (performance.now() - began),
    idleMillis: Math.max(...ends.slice(1).map((end, index) => end - (ends[index] ?? end)))
  }
}

/** Waits until the last write that was submitted in the host's process has ended. */
const inProcess = async (
  server: Server,
  submit: (from: number) => Promise<void>,
  from: number
): Promise<number> => {
  const began = performance.now()
  await submit(from)
  for (;;) {
    const { body } = await call(server, "/v1/operations?state=queued&state=running&limit=1")
    if ((body["value"] as ReadonlyArray<unknown>).length === 0) break
    await pause(pollMillis)
  }
  return (perRound * 1000) / (performance.now() - began)
}

export const bench = async (): Promise<ReadonlyArray<Row>> => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-bench-"))
  const log = join(folder, "host.log")
  const child = fork(new URL("http-server.ts", import.meta.url).pathname, [folder], {
    stdio: ["ignore", "ignore", openSync(log, "w"), "ipc"]
  })
  const heard = () =>
    new Promise<unknown>((ready, failed) => {
      child.once("message", ready)
      child.once("exit", (code) => {
        failed(new Error(`the host ended with ${code}: ${readFileSync(log, "utf8").slice(-2_000)}`))
      })
    })
  try {
    const server = (await heard()) as Server
    const submit = async (from: number): Promise<void> => {
      child.send({ from, count: perRound })
      await heard()
    }
    const ours: Array<Round> = []
    const theirs: Array<number> = []
    for (let round = 0; round <= rounds; round++) {
      ours.push(await overHttp(server, round * perRound))
      theirs.push(await inProcess(server, submit, round * perRound))
    }
    const measured = ours.slice(1)
    const idle = Math.max(...measured.map(({ idleMillis }) => idleMillis))
    return [
      row({
        bench: "operations over HTTP",
        ours: median(measured.map(({ perSecond }) => perSecond)),
        unit: "operations/s",
        against: "the same, submitted in process",
        theirs: median(theirs.slice(1)),
        target: 0.6,
        note: `${clients} clients, ending on the ledger; longest idle spell ${Math.round(idle)} ms`
      })
    ]
  } finally {
    agent.destroy()
    if (child.exitCode === null) {
      child.kill("SIGTERM")
      await new Promise((done) => child.once("exit", done))
    }
    await rm(folder, { recursive: true, force: true })
  }
}
