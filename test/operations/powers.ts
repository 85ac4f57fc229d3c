/** A fund whose issuer has powers over the units of holders who consent: where forced acts are walked. */
import { EventQueries, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { restrictions } from "#core/restraints/restriction/Restriction.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import { movements } from "#core/instruments/register/Movement.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { supplies } from "#core/instruments/register/Supply.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Outsiders from "../engine/outsiders.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import { bodyOf } from "./instrumentBody.ts"

const { acts, does } = Outsiders

export const documentHash = "cd".repeat(32)
export const order = { authority: "District Court", reference: "22-1234", documentHash }

/** The newest contract of a template with these members. */
export const saying = <T extends Templates.Template>(
  template: T,
  said: Readonly<Record<string, unknown>>
) =>
  Effect.map(Cycles.active(template), (found) => {
    const last = found.findLast(({ payload }) =>
      Object.entries(said).every(
        ([name, value]) => (payload as Readonly<Record<string, unknown>>)[name] === value
      )
    )
    if (last === undefined) {
      throw new Error(`no ${template.typeRef.entity} says ${JSON.stringify(said)}`)
    }
    return last
  })

/** A second instrument of the same fund and registrar. */
export const another = (
  stage: Fund.Parties,
  instrumentId: string,
  terms: Readonly<Record<string, Calls.Json>> = {}
) =>
  Effect.gen(function* () {
    yield* Calls.write(
      "instrument.record",
      {},
      {
        ...bodyOf(),
        instrumentId,
        registrar: stage.registrar.party,
        oracle: stage.oracle.party,
        holderCap: 100,
        ...terms
      }
    )
    const { fund, registrar, venue } = stage
    yield* Fund.configures(registrar, instrumentId, { venue, issuer: fund.party })
    yield* Calls.write(
      "admission-consent.propose",
      { instrumentId },
      { fund: stage.fund.party, terms: "consent" }
    )
    yield* does(registrar, acts.registrar.acceptConsent(instrumentId))
  })

export const admits = (to: Cycles.Holder, instrumentId: string, json: Calls.Json = {}) =>
  Effect.gen(function* () {
    const { holderId } = to
    yield* Calls.write("admission.offer", { holderId }, { instrumentId, ...(json as object) })
    yield* does(to, acts.investor.acceptOffer(instrumentId))
  })

/** The registrar mints units into a holder's hands. */
export const mints = (
  stage: Fund.Parties,
  to: Cycles.Holder,
  units: string,
  instrumentId = "fund-a"
) =>
  Effect.gen(function* () {
    const { cid } = yield* saying(Templates.Credential, { holder: to.party, instrumentId })
    yield* stage.registrar.act(
      Templates.exercise(Templates.Credential, cid, "Receive", {
        amount: Decimal.of(units),
        reference: { kind: "opening", id: `${to.holderId}-${instrumentId}` },
        configurationCid: null
      })
    )
  })

/** The registrar sends a party units without a credential, which any party may hold. */
export const sends = ({ asset, ...stage }: Fund.Parties, to: Fund.Outsider, amount: string) =>
  Cycles.issues({ ...stage, to }, { instrumentId: asset.id, amount })

/** A holder gives units of one of its free holdings to another, who is admitted. */
export const gives = Effect.fnUntraced(function* (
  from: Cycles.Holder,
  to: Cycles.Holder,
  units: string
) {
  const { cid } = yield* Fund.freeHolding(from.party)
  const terms = {
    receiver: to.party,
    amount: Decimal.of(units),
    executeBefore: Instant.of("2026-12-01T00:00:00Z")
  }
  yield* from.act(Templates.exercise(Templates.Holding, cid, "OfferTransfer", terms))
  const offer = yield* saying(Templates.TransferOffer, { receiver: to.party })
  yield* does(to, acts.investor.acceptTransfer(offer.payload.instrument.id))
})

export const proposes = (
  stage: Fund.Parties,
  members: { readonly instrumentId?: string } & Readonly<Record<string, Calls.Json>> = {}
) => {
  const { instrumentId = "fund-a", ...body } = members
  return Calls.write(
    "issuer-powers-agreement.propose",
    { instrumentId },
    { issuer: stage.fund.party, powers: ["force-transfer", "recover"], ...body }
  )
}

/** Issuer and registrar sign the proposed agreement. */
export const agrees = (stage: Fund.Parties, options: Parameters<typeof proposes>[1] = {}) =>
  Effect.andThen(proposes(stage, options), Fund.agreesToPowers(stage))

export const offers = (
  holderId: string,
  members: Readonly<Record<string, Calls.Json>> = { instrumentId: "fund-a" }
) => Calls.write("issuer-powers-consent.offer", { holderId }, members)

/** A holder signs the proposed consent. */
export const consents = (
  who: Cycles.Holder,
  members: Readonly<Record<string, Calls.Json>> = { instrumentId: "fund-a" }
) => Effect.andThen(offers(who.holderId, members), Fund.answersPowers(who))

/** A holder names its successor, who accepts, signs, is admitted, and may be used from a day later on. */
export const succeeds = (
  stage: Fund.Parties,
  who: Cycles.Holder,
  options: {
    readonly admitted?: ReadonlyArray<string>
    readonly waits?: "no"
    readonly id?: string
  } = {}
) =>
  Effect.gen(function* () {
    const holderId = options.id ?? `${who.holderId}-next`
    const next = yield* Fund.outsider(holderId)
    yield* Calls.write(
      "holder.register-successor",
      { holderId: who.holderId },
      { party: next.party, successorId: holderId }
    )
    yield* Cycles.registers(next, holderId)
    const successor = { ...next, holderId }
    for (const instrumentId of options.admitted ?? ["fund-a"])
      yield* admits(successor, instrumentId)
    if (options.waits !== "no") yield* TestClock.adjust("24 hours")
    return successor
  })

/** h1 with 100 units and its consent, h2 and h3 admitted: powers agreed. */
export const founded = (units = "100") =>
  Effect.gen(function* () {
    const { stage, holders: all } = yield* Cycles.opened(["h1", "h2", "h3"])
    const [h1, h2, h3] = all
    if (h1 === undefined || h2 === undefined || h3 === undefined) throw new Error("no holders")
    yield* mints(stage, h1, units)
    yield* agrees(stage)
    yield* consents(h1)
    return { stage, h1, h2, h3 }
  })

/** An act of several steps, run until it has ended: each step waits for the one before to be read. */
export const ran = (started: Calls.Ended & { readonly state: string }, kind: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    let turns = 0
    let done = started
    while (done.state === "running" || done.state === "queued") {
      if (++turns > 40) throw new Error(`${kind} does not end`)
      yield* TestClock.adjust("1 second")
      yield* Calls.settle
      const [last] = yield* records.list(operations, {
        where: { kind: [kind] },
        direction: "desc",
        limit: 1
      })
      if (last === undefined) throw new Error(`no ${kind}`)
      done = Calls.outcomeOf(last.record)
    }
    return done
  })

export const forces = (
  holderId: string,
  toHolderId: string,
  members: Readonly<Record<string, Calls.Json>> = {}
) => Calls.write("holder.force-transfer", { holderId }, { toHolderId, order, ...members })

export const recovers = (holderId: string, members: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write("holder.recover", { holderId }, members)

export const restricts = (holderId: string, members: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write(
    "holder.restrict",
    { holderId },
    { mode: "freeze", reason: "compliance-review", ...members }
  )

export const holder = (id: string) => Effect.flatMap(Records, (records) => records.get(holders, id))

/** `type holder {payload}` of every event of forced acts, in the order of the feed. */
export const forcedEvents = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const page = yield* feed.page({
    caller: Calls.operator,
    params: { resourceKind: ["holder"] },
    limit: 1000
  })
  return page.value
    .filter(({ type }) => /^holder[.](forced-transfer|recovered|restricted)$/.test(type))
    .map(({ type, resourceId, instrumentId, payload }) => ({
      type,
      resourceId,
      instrumentId,
      payload: payload as unknown as Readonly<Record<string, unknown>>
    }))
})

/** The same with whom it went to and how much it was. */
export const summed = Effect.map(forcedEvents, (events) =>
  events
    .filter(({ type }) => type !== "holder.restricted")
    .map(({ type, resourceId, instrumentId, payload }) => {
      const { quantity, to } = payload as {
        readonly quantity: { readonly text: string }
        readonly to: { readonly holderId: string }
      }
      const units = Decimal.formatPlain(Decimal.of(quantity.text))
      return `${type} ${resourceId} ${instrumentId ?? "-"} to ${to.holderId} ${units}`
    })
)

/** `kind from to units` of every movement of an instrument that is no mint, in its order. */
export const moved = (named: Readonly<Record<string, string>>, instrumentId = "fund-a") =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* Stream.runCollect(
      records.stream(movements, { where: { instrumentId: [instrumentId] } })
    )
    return found
      .map(({ record }) => record)
      .filter(({ kind }) => kind !== "mint")
      .map(
        ({ from, kind, to, units }) =>
          `${kind} ${named[from ?? ""] ?? "-"} ${named[to ?? ""] ?? "-"} ${Decimal.formatPlain(units)}`
      )
  })

/**
 * Σ units of the register and the supply: one and the same (docs/domain/instruments.md#register).
 */
export const books = (stage: Fund.Parties, instrumentId = "fund-a") =>
  Effect.gen(function* () {
    const records = yield* Records
    const key = `${stage.registrar.party}/${instrumentId}`
    const lines = yield* Stream.runCollect(
      records.stream(registerEntries, { where: { asset: [key] } })
    )
    const supply = yield* records.find(supplies, key)
    return {
      register: Decimal.formatPlain(Decimal.sum(lines.map(({ record }) => record.units))),
      locked: Decimal.formatPlain(Decimal.sum(lines.map(({ record }) => record.locked))),
      supply: Option.match(supply, {
        onNone: () => "",
        onSome: ({ units }) => Decimal.formatPlain(units)
      })
    }
  })

/** `holder mode state supersedes` of every restriction. */
export const restricted = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* Stream.runCollect(records.stream(restrictions, {}))
  return found.map(
    ({ record }) =>
      `${record.holderId} ${record.mode} ${record.reason} ${record.state}${record.supersedes === null ? "" : " carried-from"}`
  )
})

/** The restrictions in force that a recovery has brought a holder, by their ids. */
export const carriedTo = (holderId: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* Stream.runCollect(
      records.stream(restrictions, { where: { holderId: [holderId], state: ["active"] } })
    )
    return found
      .filter(({ record }) => record.supersedes !== null)
      .map(({ record }) => record.restrictionId as string)
  })

/** Claims redemption `r1` of 30 of h1's units, prices it at 1.5 on a day, and requests the burn by h1. */
export const requestsBurn = Effect.fnUntraced(function* (
  { stage, h1 }: Pick<Effect.Success<ReturnType<typeof founded>>, "stage" | "h1">,
  day: string
) {
  yield* Calls.write(
    "redemption.claim",
    {},
    { redemptionId: "r1", instrumentId: "fund-a", holderId: "h1", payment: "wire", units: 30 }
  )
  yield* Cycles.at(day)
  yield* Fund.publishes(stage, "1.5", day)
  yield* Cycles.pays(stage, { id: "r1", units: "30", price: "1.5", proceeds: "45" })
  const { cid } = yield* Fund.freeHolding(h1.party)
  yield* h1.act(
    Templates.exercise(Templates.Holding, cid, "RequestBurn", {
      amount: Decimal.of("30"),
      reference: { kind: "redemption", id: "r1" },
      custodian: null,
      executeBefore: Instant.of("2026-09-01T00:00:00Z")
    })
  )
})
