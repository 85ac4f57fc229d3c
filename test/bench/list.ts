/** A list of 50 instruments over HTTP, against a bare server that runs the query and JSON.stringify. */
import { fork } from "node:child_process"
import { openSync, readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { median, type Row, row } from "./measure.ts"

const connections = 16
const rounds = 7
const roundMillis = 1_500

interface Servers {
  readonly host: string
  readonly bare: string
  readonly token: string
}

/** Requests per second of so many connections, each asking again as soon as it is answered. */
const load = async (url: string, token: string, agent: Agent): Promise<number> => {
  const until = performance.now() + roundMillis
  const began = performance.now()
  let answered = 0
  const one = (): Promise<void> =>
    new Promise((done, failed) => {
      const sent = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (got) => {
        if (got.statusCode !== 200) failed(new Error(`${url} answered ${got.statusCode}`))
        got.resume()
        got.on("end", () => {
          answered += 1
          done()
        })
      })
      sent.on("error", failed)
      sent.end()
    })
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) await one()
    })
  )
  return (answered * 1000) / (performance.now() - began)
}

export const bench = async (): Promise<ReadonlyArray<Row>> => {
  const folder = await mkdtemp(join(tmpdir(), "bursar-bench-"))
  const log = join(folder, "host.log")
  const child = fork(new URL("list-server.ts", import.meta.url).pathname, [folder], {
    // A line of the log is written for each request, as in service.
    stdio: ["ignore", "ignore", openSync(log, "w"), "ipc"]
  })
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  try {
    const servers = await new Promise<Servers>((ready, failed) => {
      child.once("message", (message) => ready(message as Servers))
      child.once("exit", (code) => {
        failed(
          new Error(`the servers ended with ${code}: ${readFileSync(log, "utf8").slice(-2_000)}`)
        )
      })
    })
    const ours: Array<number> = []
    const theirs: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      ours.push(await load(servers.host, servers.token, agent))
      theirs.push(await load(servers.bare, servers.token, agent))
    }
    return [
      row({
        bench: "list of 50 instruments",
        ours: median(ours.slice(1)),
        unit: "requests/s",
        against: "node:http, same rows, stringify",
        theirs: median(theirs.slice(1)),
        target: 0.5,
        note: `${connections} connections, signed in`
      })
    ]
  } finally {
    agent.destroy()
    child.kill("SIGTERM")
    await new Promise((done) => child.once("exit", done))
    await rm(folder, { recursive: true, force: true })
  }
}
