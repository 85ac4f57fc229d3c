/** A door opened for a test, over a ledger in memory, with parties and their tokens. */
import { Effect, Layer, ManagedRuntime } from "effect"
import { Duration } from "effect"
import * as Sim from "#adapters/ledger/simulated/SimulatedLedger.ts"
import * as Door from "#adapters/ledger/simulated/door/Door.ts"
import { pollLimit } from "../waiting.ts"

/** Value at a path inside JSON; undefined if there is none. */
export const dig = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null
        ? Object.entries(inner).find(([name]) => name === String(step))?.[1]
        : undefined,
    value
  )

export interface Asked {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly json: unknown
}

export interface Opened {
  readonly url: string
  readonly faults: Sim.Faults.Faults
  readonly run: <A, E>(effect: Effect.Effect<A, E, Sim.Participant | Door.Door>) => Promise<A>
  readonly add: (hint: string, publicKey?: Uint8Array) => Promise<Sim.PartyAdded>
  readonly ask: (
    token: string | null,
    path: string,
    body?: unknown,
    headers?: Record<string, string>
  ) => Promise<Asked>
  readonly close: () => Promise<void>
}

/** Every door of the tests uses a ledger that waits only shortly before it ends a stream as idle. */
export const open = async (
  options: Door.Options & { readonly ledger?: Partial<Sim.Options> } = {}
): Promise<Opened> => {
  const faults = options.ledger?.faults ?? Sim.Faults.make()
  const { ledger, ...door } = options
  const runtime = ManagedRuntime.make(
    Door.layer({ port: 0, ...door }).pipe(
      Layer.provideMerge(
        Sim.layerMemory({
          ledgerId: "sim",
          participantId: "participant::1220aa",
          checkpointAfter: Duration.millis(50),
          ...ledger,
          faults
        })
      )
    )
  )
  const { url } = await runtime.runPromise(Door.Door)
  return {
    url,
    faults,
    run: (effect) => runtime.runPromise(effect),
    add: (hint, publicKey) =>
      runtime.runPromise(
        Effect.flatMap(Sim.Participant, ({ admin }) =>
          admin.addParty(
            publicKey === undefined
              ? { hint, kind: "local" }
              : { hint, kind: "external", publicKey }
          )
        )
      ),
    ask: async (token, path, body, headers = {}) => {
      const response = await fetch(`${url}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined
          ? {}
          : { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
      const text = await response.text()
      const type = response.headers.get("content-type") ?? ""
      return {
        status: response.status,
        type,
        text,
        json: type.startsWith("application/json") ? JSON.parse(text) : undefined
      }
    },
    close: () => runtime.dispose()
  }
}

/** A socket of the door, read frame by frame. */
export const socket = async (opened: Opened, token: string, path: string, request: unknown) => {
  const ws = new WebSocket(`${opened.url.replace("http", "ws")}${path}`, [
    `jwt.token.${token}`,
    "daml.ws.auth"
  ])
  const frames: Array<unknown> = []
  let wake = () => {}
  let closed = false
  ws.addEventListener("message", ({ data }) => {
    frames.push(JSON.parse(String(data)))
    wake()
  })
  ws.addEventListener("close", () => {
    closed = true
    wake()
  })
  await new Promise<void>((resolve, reject) => {
    ws.addEventListener("open", () => resolve())
    ws.addEventListener("error", () => reject(new Error("the socket did not open")))
  })
  ws.send(typeof request === "string" ? request : JSON.stringify(request))
  const until = async (holds: () => boolean) => {
    const limit = performance.now() + pollLimit
    while (!holds()) {
      if (performance.now() > limit) throw new Error(`all that came: ${JSON.stringify(frames)}`)
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, 200)
      })
    }
  }
  return {
    frames,
    protocol: ws.protocol,
    ws,
    until,
    closed: () => until(() => closed)
  }
}
