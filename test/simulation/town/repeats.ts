/** Answers of the latest, asked for again as of their own instant: at once, later, and by other clocks. */
import { Catalogue, type Caller, type Read, Queries } from "@bursar/engine-core"
import { Instant, PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Schema } from "effect"
import { onHost } from "../../engine/clocks.ts"
import * as Faults from "../faults.ts"
import { chain } from "./figures.ts"
import { type Holder, note, type Town } from "./town.ts"

/** One value or a list: an export joins a read and a list that are asked by themselves, and is never kept. */
type Repeated = Read.One | Read.List

/** Reads with pinned answers, as the route table has them. */
export const pinned: ReadonlyArray<Repeated> = Catalogue.queries
  .filter((read) => read.shape === "one" || read.shape === "list")
  .filter((read) => read.pinned)
  // By name, so that a seed asks the same whatever order the catalogue lists them in.
  .toSorted((a, b) => (a.name < b.name ? -1 : 1))

/** Parameters that a read requires besides the ids of its path. */
const needed: Readonly<Record<string, ReadonlyArray<Readonly<Record<string, string>>>>> = {
  "instruments.series": [{ metric: "price" }, { metric: "supply" }],
  "holders.tax-statement": [
    { year: "2026", holderId: "" },
    { year: "2027", holderId: "", zone: "America/New_York" }
  ],
  "holders.statements": [{}, { zone: "Asia/Kolkata" }, { from: "2026-08" }],
  "instruments.precheck": [
    { act: "admission.offer", holderId: "" },
    { act: "subscription.claim", amount: "1000", holderId: "" },
    { act: "subscription.settle", subscriptionId: "" },
    { act: "dealing-cycle.settle", cycleId: "" }
  ]
}

/**
 * Milliseconds by which the clocks of the hosts that are asked are wrong. What a fast one is answered
 * moves the engine's instants on with it, and what is written then may be over by its own stamp.
 */
const hosts = [0, 0, 40, -60_000] as const

/** Kept at a time; an older one makes room. */
const keptMax = 40

interface Kept {
  readonly what: string
  readonly said: string
  readonly repeat: Effect.Effect<string, unknown, Queries>
}

const decoders = new WeakMap<Schema.Codec<unknown, unknown>, (texts: unknown) => unknown>()
const paramsOf = (read: Repeated, texts: Readonly<Record<string, string>>): unknown => {
  const decode = decoders.get(read.params) ?? Schema.decodeUnknownSync(read.params)
  decoders.set(read.params, decode)
  return decode(texts)
}

const printed = (schema: Schema.Codec<unknown, unknown>, value: unknown): string =>
  PlainJson.stringify(Schema.encodeUnknownSync(schema)(value) as PlainJson.Printable)

/** The whole answer but its `now`, byte for byte. */
const ask = (
  read: Repeated,
  question: {
    readonly caller: Caller.Caller
    readonly params: unknown
    readonly limit: number
    readonly asOf?: Instant.Instant
  }
) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const { caller, params, limit } = question
    const point = question.asOf === undefined ? {} : { asOf: question.asOf }
    const answer =
      read.shape === "one"
        ? { ...(yield* queries.one(read, { caller, params, point })), next: null }
        : yield* queries.page(read, { caller, params, point, page: { limit } })
    const { ledgerTime, next, now, offset, value } = answer
    const body =
      read.shape === "one"
        ? printed(read.value, value)
        : (value as ReadonlyArray<unknown>).map((one) => printed(read.item, one)).join()
    const time = typeof ledgerTime === "bigint" ? Instant.format(ledgerTime) : null
    return { now, value, said: `${offset} ${time} ${body} ${next}` }
  })

/** The printed value of an answer of the latest, from the cache of answers where it is there. */
const askPrinted = (
  read: Repeated,
  question: { readonly caller: Caller.Caller; readonly params: unknown; readonly limit: number }
) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const { caller, params, limit } = question
    // The query without its caller, as a path and its parameters are.
    const target = JSON.stringify([params, limit], (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value
    )
    const request = { caller, params, point: {}, target }
    const text = (value: string) =>
      Effect.succeed({ bytes: new TextEncoder().encode(value), records: 1 })
    const answer =
      read.shape === "one"
        ? yield* queries.onePrinted(read, {
            ...request,
            print: (value) => text(printed(read.value, value))
          })
        : yield* queries.pagePrinted(read, {
            ...request,
            page: { limit },
            print: (views) => text(views.map((view) => printed(read.item, view)).join())
          })
    const time = typeof answer.ledgerTime === "bigint" ? Instant.format(answer.ledgerTime) : null
    const hasNext = "next" in answer && answer.next !== null
    const body = new TextDecoder().decode(answer.printed.bytes)
    return { now: answer.now, said: `${answer.offset} ${time} ${body} ${hasNext}` }
  })

/** The ids that an answer shows, by the names that paths have for them. */
const idsOf = (value: unknown, into: Map<string, Set<string>>): void => {
  if (Array.isArray(value)) for (const one of value) idsOf(one, into)
  if (typeof value !== "object" || value === null || Array.isArray(value)) return
  for (const [name, one] of Object.entries(value)) {
    if (typeof one !== "string" || !name.endsWith("Id")) continue
    const ids = into.get(name) ?? new Set()
    into.set(name, ids.add(one))
  }
}

export const make = (seed: number) => {
  const die = Faults.dice(seed ^ 0x4e9)
  /** Chooses the second callers, so that the walk is the same without them. */
  const callerDie = Faults.dice(seed ^ 0x7c1)
  /** Every answer, so that runs with caches and without can be compared. */
  const answers = chain()
  const ids = new Map<string, Set<string>>()
  const kept: Array<Kept> = []

  /** One of the list at random; undefined if it is empty. */
  const one = <A>(items: ReadonlyArray<A>): A | undefined =>
    items[die.roll(Math.max(1, items.length))]

  const callerOf = (read: Repeated, holders: ReadonlyArray<Holder>): Caller.Caller => {
    const roles = Object.keys(read.audience).filter((role) => role !== "registrar")
    const role = (one(roles) ?? "auditor") as Caller.Caller["roles"][number]
    const holder = one(holders)
    return {
      sub: `reader-${role}`,
      name: null,
      email: null,
      roles: [role],
      holderId: role === "investor" ? (holder?.holderId ?? null) : null,
      party: null
    }
  }

  /** Another caller of the same read: any role of its audience, and any investor or registrar. */
  const otherCallerOf = (read: Repeated, { funds, holders }: Town): Caller.Caller => {
    const roles = Object.keys(read.audience)
    const role = roles[callerDie.roll(roles.length)] as Caller.Caller["roles"][number]
    const holder = holders[callerDie.roll(Math.max(1, holders.length))]
    const fund = funds[callerDie.roll(funds.length)]
    return {
      sub: `other-${role}`,
      name: null,
      email: null,
      roles: [role],
      holderId: role === "investor" ? (holder?.holderId ?? null) : null,
      party: role === "registrar" ? (fund?.registrar.party ?? null) : null
    }
  }

  const compare = Effect.fnUntraced(function* (town: Town, { what, said, repeat }: Kept) {
    const host = die.pick(hosts)
    const again = yield* onHost(host)(repeat)
    note(town, "answers repeated")
    if (again === said) return
    const at = Math.max(0, [...said].findIndex((letter, index) => letter !== again[index]) - 300)
    const [before, after] = [said, again].map((text) => text.slice(at, at + 700))
    return yield* Effect.die(
      new Error(`audit: ${what} by a clock wrong by ${host} said\n${before}\nand says\n${after}`)
    )
  })

  /**
   * One read of the latest, printed twice, the second time from the cache of answers if it may be:
   * the bytes are those of the answer made anew as of the same instant.
   */
  const comparePrinted = Effect.fnUntraced(function* (
    town: Town,
    read: Repeated,
    question: Omit<Parameters<typeof ask>[1], "asOf">
  ) {
    for (const time of ["first", "second"]) {
      const { now, said } = yield* askPrinted(read, question)
      answers.line(said)
      const anew = yield* ask(read, { ...question, asOf: now })
      note(town, "answers printed")
      const [offset, at, ...rest] = anew.said.split(" ")
      const next = rest.pop()
      const expected = [offset, at, ...rest, String(next !== "null")].join(" ")
      if (said === expected) continue
      return yield* Effect.die(
        new Error(
          `audit: ${read.name}, printed for the ${time} time, is\n${said}\nnot\n${expected}`
        )
      )
    }
  })

  /** The same read by another caller: refused, or printed as it is made anew for that caller. */
  const compareForOther = Effect.fnUntraced(function* (
    town: Town,
    read: Repeated,
    question: Omit<Parameters<typeof ask>[1], "asOf" | "caller">
  ) {
    const other = { ...question, caller: otherCallerOf(read, town) }
    const anew = yield* Effect.result(ask(read, other))
    if (anew._tag === "Success") {
      note(town, `answered to another ${other.caller.roles[0]}`)
      return yield* comparePrinted(town, read, other)
    }
    const kept = yield* Effect.result(askPrinted(read, other))
    if (kept._tag === "Success") {
      const who = JSON.stringify(other.caller)
      return yield* Effect.die(new Error(`audit: ${read.name} is kept from ${who}, and printed`))
    }
    answers.line(String(kept.failure))
    note(town, `refused to another ${other.caller.roles[0]}`)
  })

  /** One read of the latest, its repetition at once, and that of some that were kept. */
  const look = Effect.fnUntraced(function* (town: Town) {
    const read = one(pinned)
    if (read === undefined) throw new Error("no read is pinned")
    const names = [...read.route.matchAll(/\{([a-zA-Z]+)\}/g)].map((found) => found[1] ?? "")
    const texts: Record<string, string> = { ...one(needed[read.name] ?? []) }
    const unsaid = Object.keys(texts).filter((name) => texts[name] === "")
    for (const name of [...names.filter((name) => texts[name] === undefined), ...unsaid])
      texts[name] = one([...(ids.get(name) ?? [])]) ?? "nobody"
    const caller = callerOf(read, town.holders)
    const limit = die.pick([1, 3, 1_000] as const)
    const question = { caller, params: paramsOf(read, texts), limit }
    const first = yield* Effect.result(onHost(die.pick(hosts))(ask(read, question)))
    if (first._tag === "Failure") {
      // Out of this caller's sight, or not there: nothing was answered.
      note(town, `not shown ${read.name}`)
      return
    }
    const { now, said, value } = first.success
    answers.line(said)
    yield* comparePrinted(town, read, question)
    yield* compareForOther(town, read, question)
    idsOf(value, ids)
    const what = `${read.name} ${JSON.stringify(texts)} as ${caller.roles[0]} asOf ${Instant.format(now)}`
    note(town, `answered ${read.name}`)
    const answer: Kept = {
      what,
      said,
      repeat: Effect.map(ask(read, { ...question, asOf: now }), (again) => again.said)
    }
    yield* compare(town, answer)
    kept.push(answer)
    if (kept.length > keptMax) kept.splice(die.roll(kept.length), 1)
    yield* compare(town, one(kept) ?? answer)
  })

  return {
    answers: answers.head,
    look,
    again: (town: Town) => Effect.forEach(kept, (answer) => compare(town, answer))
  }
}
