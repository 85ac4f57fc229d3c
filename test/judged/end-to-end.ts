/**
 * The whole story of a subscription and every route of the interface, through a judge that lets
 * nothing pass that the served document does not allow. Prism reads and prints JSON by doubles, so
 * digits are judged elsewhere; here it is the shape of every request and answer.
 */
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { withTemporaryVenue } from "../../examples/demo/temporaryVenue.ts"
import * as Desk from "../../examples/demo/Desk.ts"
import { holderId, people, successorId } from "#host/demo/People.ts"
import type { Stack } from "#host/demo/Stack.ts"
import { subscription } from "../../examples/demo/subscription.ts"
import { nothingStated } from "../../examples/demo/statements.ts"
import { desks, type Walk } from "../../examples/demo/steps.ts"
import { type Answered, call, routesOf } from "./every-route.ts"
import * as Proxy from "./Proxy.ts"
import * as Receiver from "./Receiver.ts"
import type { Json } from "./samples.ts"

const instrument = { instrumentId: "elf-usd", unitDecimals: 6 }
const typed = fileURLToPath(new URL("../tools/typed.ts", import.meta.url))
const run = promisify(execFile)

/** The story, told through the judge. */
const playStory = async (stack: Stack): Promise<void> => {
  const walk: Walk = {
    stack,
    desks: desks(stack),
    instrument: { ...instrument, valuation: "accumulating" },
    stated: nothingStated(),
    tell: () => undefined
  }
  const { checks } = await subscription(walk, { amount: "100000", price: "1.25", unitDecimals: 6 })
  const wrong = Object.entries(checks).filter(([, held]) => !held)
  if (wrong.length > 0) throw new Error(`the story went wrong: ${wrong.map(([one]) => one)}`)
}

const bearersOf = async (stack: Stack) => {
  const all = await Promise.all(
    Object.entries(people).map(
      async ([name, person]) => [name, `Bearer ${await Desk.tokenOf(stack.venue, person)}`] as const
    )
  )
  return Object.fromEntries(all) as Readonly<Record<keyof typeof people, string>>
}

/**
 * Webhooks, which the story does not need: one that two people agree on, and one that is rejected.
 */
const webhooks = async (stack: Stack, { secret, url }: Receiver.Receiver): Promise<string> => {
  const operator = Desk.open(stack.venue, people.operator)
  const approver = Desk.open(stack.venue, people.approver)
  const registering = (webhookId: string) =>
    operator.write("webhook.register", { webhookId, url, secret })
  await operator.done(await approver.approve(await registering("webhook-1")))
  await approver.reject(await registering("webhook-2"), { reason: "one is enough" })
  const tested = await operator.complete("webhook.test", { webhookId: "webhook-1" })
  if (!tested.result.delivered) {
    throw new Error(`the receiver was not reached: ${JSON.stringify(tested)}`)
  }
  return "webhook-1"
}

/** The story is over, so the instrument may be held. */
const paused = async (stack: Stack): Promise<string> => {
  const operator = Desk.open(stack.venue, people.operator)
  const { instrumentId } = instrument
  const reason = "the story is over"
  const { result } = await operator.complete("instrument.pause", { instrumentId, reason })
  return result.holdId
}

/** Restricts the holder who has the units by then. */
const restricted = async (stack: Stack): Promise<string> => {
  const operator = Desk.open(stack.venue, people.operator)
  const freeze = { holderId: successorId, mode: "freeze", reason: "other" } as const
  return (await operator.complete("holder.restrict", freeze)).result.restrictionId
}

/** The ids of the records of the story, by their names in paths. */
const knownOf = async (
  stack: Stack,
  receiver: Receiver.Receiver
): Promise<Readonly<Record<string, string>>> => {
  const auditor = Desk.open(stack.venue, people.auditor)
  const [approval] = (await auditor.list("approvals.list", { limit: 1 })).value
  const [operation] = (await auditor.list("operations.list", { limit: 1 })).value
  return {
    instrumentId: instrument.instrumentId,
    holderId,
    subscriptionId: "sub-1",
    webhookId: await webhooks(stack, receiver),
    holdId: await paused(stack),
    restrictionId: await restricted(stack),
    tenantId: "venue-1",
    actionKey: approval?.actionKey ?? "",
    operationId: operation?.operationId ?? ""
  }
}

/** Records every request of this process to an address, with its answer. */
const watched = (at: string) => {
  const seen: Array<{ readonly method: string; readonly path: string; readonly status: number }> =
    []
  const { fetch } = globalThis
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init)
    const { origin, pathname } = new URL(String(input))
    if (origin === at) {
      const method = (init?.method ?? "GET").toUpperCase()
      seen.push({ method, path: pathname, status: response.status })
    }
    return response
  }
  return seen
}

/** The first answer of each status of each route, for whoever compiles them against older types. */
const record = async (answers: ReadonlyArray<Answered>): Promise<void> => {
  const file = process.env["RECORD_ANSWERS"]
  if (file === undefined) return
  const firsts = new Map(
    answers.map((one) => [`${one.operationId} ${one.status}`, one] as const).toReversed()
  )
  await writeFile(file, JSON.stringify([...firsts.values()]))
}

const receiver = await Receiver.start()
// The host takes its settings from the environment it is started in.
Object.assign(process.env, {
  BURSAR_WEBHOOKS_ALLOW_HTTP: "true",
  BURSAR_WEBHOOKS_PORTS: String(receiver.port),
  BURSAR_WEBHOOKS_ALLOW_ADDRESSES: "127.0.0.0/8"
})
const folder = await mkdtemp(join(tmpdir(), "bursar-judged-"))
try {
  await withTemporaryVenue(
    { instruments: [instrument], successorCooling: "PT1S" },
    async (stack) => {
      const served = await (await fetch(`${stack.venue.api}/v1/openapi.json`)).text()
      const file = join(folder, "openapi.json")
      await writeFile(file, served)
      const document: Json = JSON.parse(served)
      const proxy = await Proxy.start({ document: file, upstream: stack.venue.api })
      try {
        const seen = watched(proxy.url)
        const judged: Stack = { ...stack, venue: { ...stack.venue, api: proxy.url } }
        await playStory(judged)
        const bearers = await bearersOf(judged)
        const recordIds = await knownOf(judged, receiver)
        const { stdout } = await run(process.execPath, [typed], {
          env: {
            ...process.env,
            API: proxy.url,
            OPERATOR: bearers.operator,
            AUDITOR: bearers.auditor
          }
        })
        process.stdout.write(stdout)
        const answers = await call({ api: proxy.url, document, bearers, recordIds })
        await record(answers)
        const calls = (route: ReturnType<typeof routesOf>[number]) => {
          const pattern = new RegExp(`^${route.template.replaceAll(/\{[A-Za-z]+\}/g, "[^/:]+")}$`)
          const method = route.method.toUpperCase()
          return seen.filter((one) => one.method === method && pattern.test(one.path))
        }
        const routes = routesOf(document)
        const nameOf = ({ method, template }: (typeof routes)[number]) =>
          `${method.toUpperCase()} ${template}`
        const uncalled = routes.filter((route) => calls(route).length === 0).map(nameOf)
        if (uncalled.length > 0) throw new Error(`never called: ${uncalled.join(", ")}`)
        const refused = routes
          .filter((route) => calls(route).every(({ status }) => status >= 400))
          .map(nameOf)
        const shown = [...Map.groupBy(seen, ({ status }) => status)].toSorted(([a], [b]) => a - b)
        const counts = shown.map(([status, all]) => `${status} ${all.length}×`)
        console.log(`${seen.length} calls of ${routes.length} routes judged: ${counts.join(", ")}`)
        const genuine = receiver.verdicts.filter((one) => one.genuine).length
        if (genuine === 0 || genuine < receiver.verdicts.length) {
          throw new Error(`deliveries are not what they say: ${JSON.stringify(receiver.verdicts)}`)
        }
        console.log(`${genuine} deliveries, all genuine`)
        console.log(`only ever refused here: ${refused.join(", ") || "none"}`)
      } finally {
        await proxy.stop()
      }
    }
  )
} finally {
  receiver.stop()
  await rm(folder, { recursive: true, force: true })
}
