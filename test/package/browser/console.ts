/** Console of a page in a headless browser, read over the browser's own debugging protocol. */
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { browser, endBrowser } from "./headless.ts"

export interface ConsoleLine {
  /** `info`, `warning`, `error` and the like; what the page throws is an `error`. */
  readonly level: string
  readonly text: string
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Params
  readonly result?: Params
}

// The protocol's own schemas are not installed: of its messages, these members are read.
interface Params {
  readonly targetId?: string
  readonly sessionId?: string
  readonly type?: string
  readonly args?: ReadonlyArray<RemoteObject>
  readonly entry?: { readonly level: string; readonly text: string }
  readonly exceptionDetails?: { readonly text: string; readonly exception?: RemoteObject }
  readonly result?: RemoteObject
}

interface RemoteObject {
  readonly value?: unknown
  readonly description?: string
  readonly objectId?: string
}

type Send = (method: string, params?: object, sessionId?: string) => Promise<Params>

interface Debugger {
  readonly send: Send
  readonly hear: (heard: (message: Message) => void) => void
  readonly close: () => void
}

const connect = async (address: string): Promise<Debugger> => {
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve)
    socket.addEventListener("error", () => reject(new Error("the browser is not reached")))
  })
  const answers = new Map<number, (params: Params) => void>()
  const hearers: Array<(message: Message) => void> = []
  socket.addEventListener("message", ({ data }) => {
    const message: Message = JSON.parse(String(data))
    if (message.id === undefined) for (const heard of hearers) heard(message)
    else answers.get(message.id)?.(message.result ?? {})
  })
  let count = 0
  return {
    send: (method, params = {}, sessionId) =>
      new Promise((resolve) => {
        count += 1
        answers.set(count, resolve)
        socket.send(JSON.stringify({ id: count, method, params, sessionId }))
      }),
    hear: (heard) => void hearers.push(heard),
    close: () => socket.close()
  }
}

/** Opens an address in the browser, and answers the lines of its console up to the last one that is awaited. */
export const consoleOf = async (
  url: string,
  isLast: (line: ConsoleLine) => boolean
): Promise<ReadonlyArray<ConsoleLine>> => {
  if (browser === undefined) throw new Error("there is no browser")
  const folder = await mkdtemp(join(tmpdir(), "browser-"))
  const child = spawn(
    browser,
    [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      `--user-data-dir=${folder}`,
      "--remote-debugging-port=0",
      "about:blank"
    ],
    { stdio: ["ignore", "ignore", "pipe"], detached: true }
  )
  try {
    const address = new Promise<string>((resolve, reject) => {
      let text = ""
      child.stderr?.on("data", (part: Buffer) => {
        text += part.toString("utf8")
        const [, found] = /DevTools listening on (ws:\S+)/.exec(text) ?? []
        if (found !== undefined) resolve(found)
      })
      child.once("exit", () => reject(new Error(`the browser ended by itself: ${text}`)))
    })
    return await linesOf(await connect(await address), url, isLast)
  } finally {
    await endBrowser(child)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const linesOf = async (
  { close, hear, send }: Debugger,
  url: string,
  isLast: (line: ConsoleLine) => boolean
): Promise<ReadonlyArray<ConsoleLine>> => {
  const lines: Array<Promise<ConsoleLine>> = []
  const target = await send("Target.createTarget", { url: "about:blank" })
  const { sessionId } = await send("Target.attachToTarget", { ...target, flatten: true })
  const last = Promise.withResolvers<void>()
  hear((message) => {
    const line = lineOf(message, (object) => textOf(object, send, sessionId))
    if (line === undefined) return
    lines.push(line)
    void line.then((it) => (isLast(it) ? last.resolve() : undefined), last.reject)
  })
  for (const domain of ["Runtime", "Log", "Page"]) await send(`${domain}.enable`, {}, sessionId)
  await send("Page.navigate", { url }, sessionId)
  await last.promise
  const all = await Promise.all(lines)
  close()
  return all
}

type Print = (object: RemoteObject) => Promise<string>

const lineOf = (
  { method, params = {} }: Message,
  print: Print
): Promise<ConsoleLine> | undefined => {
  const { args = [], entry, exceptionDetails, type } = params
  if (method === "Log.entryAdded" && entry !== undefined) return Promise.resolve(entry)
  if (method === "Runtime.exceptionThrown") {
    const thrown = exceptionDetails?.exception?.description ?? exceptionDetails?.text ?? ""
    return Promise.resolve({ level: "error", text: thrown })
  }
  if (method !== "Runtime.consoleAPICalled" || type === undefined) return undefined
  return Promise.all(args.map(print)).then((texts) => ({ level: type, text: texts.join(" ") }))
}

/** A value that was logged; an object is asked for as JSON. */
const textOf = async (
  { description, objectId, value }: RemoteObject,
  send: Send,
  sessionId: string | undefined
): Promise<string> => {
  if (objectId === undefined) return String(value ?? description)
  const { result } = await send(
    "Runtime.callFunctionOn",
    { objectId, functionDeclaration: "function () { return JSON.stringify(this) }" },
    sessionId
  )
  return String(result?.value ?? description)
}
