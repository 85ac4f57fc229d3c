/** Servers of a bench, each a process of its own, and callers that load them over HTTP. */
import { fork } from "node:child_process"
import { openSync, readFileSync } from "node:fs"
import { Agent, request } from "node:http"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import type { Work } from "./measure.ts"

export interface Served {
  readonly url: string
  readonly token: string
  /** Token of another subject; the empty text where there is none. */
  readonly otherToken: string
  readonly party: string
  /** Address of the listener that answers /livez; the empty text where there is none. */
  readonly live: string
  readonly pid: number
  /** Sends the process a message and waits for its answer. */
  readonly ask: (message: object) => Promise<unknown>
}

/** Starts a server of this folder with these arguments; it ends with the scope. */
export const start = (options: {
  readonly file: string
  readonly folder: string
  readonly args: ReadonlyArray<string>
}): Effect.Effect<Served, never, Scope.Scope> =>
  Effect.gen(function* () {
    const log = join(options.folder, `${options.file}.log`)
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        fork(new URL(options.file, import.meta.url).pathname, options.args, {
          // A line of the log is written for each request, as in service.
          stdio: ["ignore", "ignore", openSync(log, "a"), "ipc"]
        })
      ),
      (running) =>
        Effect.promise(async () => {
          if (running.exitCode !== null || running.signalCode !== null) return
          running.kill("SIGTERM")
          await new Promise((done) => running.once("exit", done))
        })
    )
    const heard = () =>
      new Promise<unknown>((ready, failed) => {
        child.once("message", ready)
        child.once("exit", (code) => {
          const end = readFileSync(log, "utf8").slice(-2_000)
          failed(new Error(`${options.file} ended with ${code}: ${end}`))
        })
      })
    const said = yield* Effect.promise(heard)
    return {
      token: "",
      otherToken: "",
      party: "",
      live: "",
      ...(said as { readonly url: string }),
      pid: child.pid ?? 0,
      ask: (message: object) => {
        child.send(message)
        return heard()
      }
    }
  })

export const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export interface Answer {
  readonly status: number
  readonly text: string
}

/** Sends one request; a body makes it a POST. */
export const call = (
  server: Pick<Served, "url" | "token">,
  path: string,
  sent?: { readonly body: unknown; readonly key: string; readonly prefer?: string }
): Promise<Answer> =>
  new Promise((done, failed) => {
    const headers = {
      authorization: `Bearer ${server.token}`,
      ...(sent === undefined
        ? {}
        : { "content-type": "application/json", "idempotency-key": sent.key }),
      ...(sent?.prefer === undefined ? {} : { prefer: sent.prefer })
    }
    const method = sent === undefined ? "GET" : "POST"
    const clientRequest = request(`${server.url}${path}`, { agent, method, headers }, (answer) => {
      const chunks: Array<Buffer> = []
      answer.on("data", (chunk: Buffer) => chunks.push(chunk))
      answer.on("error", failed)
      answer.on("end", () =>
        done({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
      )
    })
    clientRequest.on("error", failed)
    clientRequest.end(sent === undefined ? undefined : JSON.stringify(sent.body))
  })

/**
 * Reads a path to its end without keeping the answer, and returns its ETag. A status other than 200
 * fails; for a copy with an ETag, one other than 304.
 */
export const read = (
  server: Pick<Served, "url" | "token">,
  path: string,
  copy?: { readonly etag: string }
): Promise<string> =>
  new Promise((done, failed) => {
    const headers = {
      authorization: `Bearer ${server.token}`,
      ...(copy === undefined ? {} : { "if-none-match": copy.etag })
    }
    const status = copy === undefined ? 200 : 304
    const clientRequest = request(`${server.url}${path}`, { agent, headers }, (answer) => {
      if (answer.statusCode !== status) failed(new Error(`${path} answered ${answer.statusCode}`))
      answer.resume()
      answer.on("error", failed)
      answer.on("end", () => done(answer.headers.etag ?? ""))
    })
    clientRequest.on("error", failed)
    clientRequest.end()
  })

/** Loads for so long with so many callers, each of which asks again as soon as it is answered. */
export const load = (options: {
  readonly callers: number
  readonly millis: number
  readonly ask: (caller: number) => Promise<unknown>
}): Effect.Effect<Work> =>
  Effect.promise(async () => {
    const began = performance.now()
    let units = 0
    await Promise.all(
      Array.from({ length: options.callers }, async (_, caller) => {
        while (performance.now() < began + options.millis) {
          await options.ask(caller)
          units += 1
        }
      })
    )
    return { units, millis: performance.now() - began }
  })

/** Mebibytes of a process that are in memory. */
export const residentOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024
