/** Calls of the town's people; each answer is compared with the model. */
import { type Caller, Catalogue, FourEyes, type Operation, Records } from "@bursar/engine-core"
import { Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Result } from "effect"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../../engine/calls.ts"
import { holds } from "../books.ts"
import type { When } from "./model.ts"
import { type Act, type Awaiting, note, type Outcome, tell, type Town } from "./town.ts"

const operationOf = new Map<string, Operation.Operation>(
  Catalogue.operations.map((one) => [one.kind, one])
)
export const knows = (kind: string): boolean => operationOf.has(kind)

export const writeOf = (kind: string): Operation.Operation => {
  const found = operationOf.get(kind)
  if (found === undefined) throw new Error(`no operation ${kind}`)
  return found
}

const whenNow = (town: Town, now: number): When => ({
  since: town.step,
  until: town.step,
  sinceAt: now,
  untilAt: now,
  level: town.level
})

export interface Refusal {
  readonly slug: string
  readonly gate: string | null
  readonly check: string | null
}

export const refusalOf = (failure: unknown): Refusal => {
  const { slug, details } = failure as {
    readonly slug: string
    readonly details?: { readonly gate?: string; readonly check?: string }
  }
  return { slug: String(slug), gate: details?.gate ?? null, check: details?.check ?? null }
}

const named = ({ check, gate, slug }: Refusal) =>
  `${slug}${gate === null ? "" : ` ${gate}`}${check === null ? "" : ` ${check}`}`

/** A person asks for a write; what came of it is noted, and held against the model. */
export const submit = Effect.fnUntraced(function* (
  town: Town,
  call: {
    readonly by: Caller.Caller
    readonly params?: Readonly<Record<string, string>>
    readonly body?: unknown
    readonly ifMatch?: string
    readonly act: Act
  }
) {
  const { act, by } = call
  const write = writeOf(act.kind)
  const body = typeof call.body === "string" ? call.body : JSON.stringify(call.body ?? {})
  const params = call.params ?? {}
  const now = Number((yield* Instant.now) / 1_000_000n)
  const door = yield* FourEyes
  const answer = yield* Effect.result(
    door.submit(write, {
      caller: by,
      identity: identity(town),
      key: `town-${++town.count}`,
      ifMatch: call.ifMatch ?? null,
      path: write.route
        .slice(write.route.indexOf(" ") + 1)
        .replaceAll(/\{([a-zA-Z]+)\}/g, (_, name: string) => params[name] ?? ""),
      query: "",
      body: Result.getOrThrow(PlainJson.parse(body)),
      params
    })
  )
  const may = write.makers.some((role) => by.roles.includes(role))
  if (Result.isFailure(answer)) {
    const refusal = refusalOf(answer.failure)
    note(town, `${act.kind} refused`)
    note(town, `refused ${named(refusal)}`)
    tell(town, `${by.sub} ${act.kind} ${JSON.stringify(params)} ${body} -> ${named(refusal)}`)
    judgeRefusal(town, act, refusal, whenNow(town, now))
    return refusal
  }
  const isSignature = by.roles.includes("approver") && write.approvers > 0
  holds(may || isSignature, `${by.sub} (${by.roles.join(" ")}) made a ${act.kind}`)
  const operationId = Calls.field(answer.success, "operationId")
  tell(town, `${by.sub} ${act.kind} ${JSON.stringify(params)} ${body} -> ${answer.success.status}`)
  act.begins?.()
  if (write.approvers > 0) {
    const actionKey = String(Calls.field(answer.success, "actionKey"))
    const maker = String(Calls.field(answer.success, "maker"))
    if (maker !== by.sub || town.awaiting.some((one) => one.actionKey === actionKey)) return null
    town.awaiting.push({ actionKey, maker, needed: write.approvers, act, signers: [] })
    note(town, `${act.kind} made`)
    return null
  }
  opens(town, { operationId: String(operationId), act, people: [by.sub], now })
  return null
})

const identity = (town: Town) => ({
  requestId: `req-${++town.count}`,
  traceId: null,
  keyId: null
})

export const opens = (
  town: Town,
  call: {
    readonly operationId: string
    readonly act: Act
    readonly people: ReadonlyArray<string>
    readonly now: number
  }
) => {
  const { act, now: sinceAt, operationId, people } = call
  holds(!town.pending.has(operationId), `${operationId} was opened twice`)
  town.pending.set(operationId, {
    operationId,
    act,
    since: town.step,
    sinceAt,
    level: town.level,
    people
  })
}

export const judgeRefusal = (town: Town, act: Act, refusal: Refusal, when: When) => {
  const { gate } = refusal
  if (gate === null || act.asks.length === 0) return
  holds(
    act.asks.some((asks) => town.model.mayRefuse(gate, asks, when)),
    `${act.kind} was refused for ${named(refusal)}, and nothing the books know of refuses it`
  )
}

/** Signs an action that awaits, as any person: some may not, or have signed before. */
export const signs = Effect.fnUntraced(function* (town: Town, one: Awaiting, by: Caller.Caller) {
  const now = Number((yield* Instant.now) / 1_000_000n)
  const answer = yield* Effect.result(Calls.approve(one.actionKey, by))
  if (Result.isFailure(answer)) {
    const refusal = refusalOf(answer.failure)
    note(town, `refused ${named(refusal)}`)
    tell(town, `${by.sub} signs ${one.act.kind} of ${one.maker} -> ${named(refusal)}`)
    judgeRefusal(town, one.act, refusal, whenNow(town, now))
    if (refusal.check === "figures-moved") one.signers.length = 0
    if (/^approval-(?:rejected|decided|lapsed)$/u.test(refusal.slug)) drop(town, one)
    return
  }
  const what = `${one.act.kind} of ${one.maker} signed by ${by.sub}`
  if (one.signers.includes(by.sub)) {
    holds(answer.success.replayed, `${what} twice`)
    return
  }
  tell(town, what)
  holds(by.roles.includes("approver"), `${what}, no approver`)
  holds(!by.roles.includes("auditor"), `${what}, an auditor`)
  holds(by.sub !== one.maker, `${what}, its maker`)
  one.signers.push(by.sub)
  if (one.signers.length < one.needed) return
  one.act.approved?.()
  const operationId = Calls.field(answer.success, "operationId")
  holds(operationId !== null, `${what} opened nothing`)
  drop(town, one)
  opens(town, {
    operationId: String(operationId),
    act: one.act,
    people: [one.maker, ...one.signers],
    now
  })
  note(town, `${one.act.kind} approved`)
})

export const drop = (town: Town, one: Awaiting) => {
  const at = town.awaiting.indexOf(one)
  if (at >= 0) town.awaiting.splice(at, 1)
}

/**
 * Kinds by the number of signatures besides the maker's: a table apart from the engine's
 * declarations.
 */
const two = ["restriction.lift", "hold.release"]
const oneSigns = [
  "policy.set",
  "issuer-powers-agreement.propose",
  "instrument.force-transfer",
  "instrument.recover",
  "holder.set-attributes",
  "holder.close",
  "holder.register-successor",
  "holder.force-transfer",
  "holder.recover",
  "dealing-cycle.settle",
  "distribution.execute",
  "standing-approval.grant"
]
const signersOf = (kind: string): number =>
  two.includes(kind) ? 2 : oneSigns.includes(kind) ? 1 : 0

/** An operation of the books ended. */
export const ends = Effect.fnUntraced(function* (
  town: Town,
  operationId: string,
  how: "succeeded" | "failed"
) {
  const one = town.pending.get(operationId)
  if (one === undefined) return false
  town.pending.delete(operationId)
  town.ended.set(operationId, how)
  const untilAt = Number((yield* Instant.now) / 1_000_000n)
  const when = { ...one, until: town.step, untilAt }
  note(town, `${one.act.kind} ${how}`)
  tell(town, `${one.act.kind} of step ${one.since} ${how}`)
  const record = yield* Effect.flatMap(Records, (records) => records.get(operations, operationId))
  if (how === "succeeded") {
    for (const asks of one.act.asks) {
      const why = town.model.forbids(asks, when)
      holds(
        why === null,
        `${one.act.kind} of step ${one.since} went through a closed gate: ${why} ${JSON.stringify(asks)}`
      )
    }
    holds(
      one.people.length === signersOf(one.act.kind) + 1,
      `${one.act.kind} ran with ${one.people.join(" ")}`
    )
    one.act.succeeds?.(when, (record.result ?? {}) as unknown as Outcome)
    return true
  }
  const problem = record.problem as {
    readonly type?: string
    readonly gate?: string | null
    readonly check?: string | null
  } | null
  const refusal = {
    slug: problem?.type?.split(":").at(-1) ?? "",
    gate: problem?.gate ?? null,
    check: problem?.check ?? null
  }
  note(town, `failed ${named(refusal)}`)
  judgeRefusal(town, one.act, refusal, when)
  one.act.fails?.()
  return true
})
