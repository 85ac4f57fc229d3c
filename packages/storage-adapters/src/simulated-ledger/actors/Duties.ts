/** Which duty an actor has when it is left to itself, and which single things it can be told to do. */
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { Duration, Instant, type Party } from "@bursar/engine-core/kernel"
import { Result, Schema } from "effect"
import * as Agreements from "./Agreements.ts"
import * as AttestorBot from "./AttestorBot.ts"
import * as Flags from "./Flags.ts"
import * as FundBot from "./FundBot.ts"
import * as OracleBot from "./OracleBot.ts"
import * as Policy from "./Policy.ts"
import * as RegistrarBot from "./RegistrarBot.ts"
import * as Wallet from "./Wallet.ts"
import type * as World from "./World.ts"

type Told<A> = Result.Result<A, Flags.Usage>

/** What an actor was started for: to keep at it, to do one thing, or to show what it sees. */
export type Duty =
  | { readonly kind: "keep"; readonly plan: World.Plan; readonly delaySeconds: number }
  | { readonly kind: "once"; readonly plan: World.Plan }
  | { readonly kind: "show"; readonly show: (world: World.World) => unknown }

export const actors = ["registrar", "fund", "attestor", "oracle", "investor"] as const
export type Actor = (typeof actors)[number]

/** A policy file holds what is agreed to, and what the actor must know beside the ledger. */
const File = Schema.Struct({
  ...Policy.Policy.fields,
  instruments: Schema.optionalKey(Schema.Unknown),
  terms: Schema.optionalKey(Schema.String)
})

const file = (flags: Flags.Flags): Told<typeof File.Type> => {
  const path = flags.text("policy")
  return path === undefined
    ? Result.succeed({})
    : Result.flatMap(json(path), (content) => Flags.shaped(File, content))
}

const json = (path: string): Told<unknown> => {
  try {
    return Result.succeed(JSON.parse(readFileSync(path, "utf8")))
  } catch (error) {
    return Flags.usage(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const keep = (plan: World.Plan, policy: Policy.Policy): Duty => ({
  kind: "keep",
  plan,
  delaySeconds: policy.delay ?? 0
})
const once = (plan: World.Plan): Duty => ({ kind: "once", plan })
const make = (act: (party: Party.Party) => World.Act): Duty => once(({ party }) => [act(party)])

/** What is named by its own id is agreed to, and nothing else. */
const only = (id: string): Policy.Policy => ({ accept: [id] })
const never = (id: string): Policy.Policy => ({ accept: [], reject: [id] })

type Read = (flags: Flags.Flags) => Told<Duty>

const keeping: { readonly [actor in Actor]: Read } = {
  registrar: (flags) =>
    Result.gen(function* () {
      const { instruments = [], ...policy } = yield* file(flags)
      const known = yield* Flags.shaped(Schema.Array(RegistrarBot.Instrument), instruments)
      return keep(RegistrarBot.plan({ instruments: known, policy }), policy)
    }),
  fund: (flags) => Result.map(file(flags), (policy) => keep(FundBot.plan({ policy }), policy)),
  attestor: (flags) =>
    Result.gen(function* () {
      const { policy, instruments } = yield* attestorKnows(flags)
      return keep(AttestorBot.plan({ instruments, policy }), policy)
    }),
  oracle: (flags) =>
    Result.gen(function* () {
      const path = yield* Flags.needed(flags, "prices")
      yield* quotesOf(path)
      const audience = yield* audienceOf(flags)
      // A line that is half written is read at the next look.
      const quotes = () => Result.getOrElse(quotesOf(path), () => [])
      return keep(OracleBot.plan({ quotes, ...audience }), Policy.acceptAll)
    }),
  investor: (flags) =>
    Result.map(file(flags), ({ terms = flags.text("terms"), ...policy }) =>
      keep(Wallet.plan({ policy, ...(terms === undefined ? {} : { terms }) }), policy)
    )
}

const attestorKnows = (flags: Flags.Flags) =>
  Result.gen(function* () {
    const { instruments = [], ...policy } = yield* file(flags)
    const listed = yield* Flags.shaped(Schema.Array(AttestorBot.Terms), instruments)
    const flagged = yield* termsOf(flags)
    const known = flagged === null ? listed : [...listed, flagged]
    return known.length === 0
      ? yield* Flags.usage("an attestor must know --instrument and its --unit-decimals")
      : { policy, instruments: known }
  })

const termsOf = (flags: Flags.Flags): Told<AttestorBot.Terms | null> => {
  const instrumentId = flags.text("instrument")
  if (instrumentId === undefined) return Result.succeed(null)
  const given = {
    instrumentId,
    unitDecimals: numberOf(flags.text("unit-decimals")),
    cashDecimals: numberOf(flags.text("cash-decimals")),
    feeRate: flags.text("fee-rate"),
    pricing: flags.text("pricing")
  }
  return Flags.shaped(
    AttestorBot.Terms,
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  )
}

const numberOf = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text)

/** A price file: a JSON object a line. */
const quotesOf = (path: string): Told<ReadonlyArray<OracleBot.Quote>> => {
  try {
    const lines = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "")
    const parsed: ReadonlyArray<unknown> = lines.map((line) => JSON.parse(line))
    return Flags.shaped(Schema.Array(OracleBot.Quote), parsed)
  } catch (error) {
    return Flags.usage(`${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

const audienceOf = (flags: Flags.Flags): Told<{ readonly audience?: OracleBot.Audience }> =>
  Result.gen(function* () {
    if (flags.text("venue") === undefined) return {}
    return {
      audience: {
        venue: yield* Flags.party(flags, "venue"),
        fund: yield* Flags.party(flags, "fund"),
        registrar: yield* Flags.party(flags, "registrar"),
        attestors: yield* Flags.parties(flags.attestors)
      }
    }
  })

const byId =
  (name: Flags.Name, plan: (id: string) => World.Plan): Read =>
  (flags) =>
    Result.map(
      flags.text("contract-id") === undefined
        ? Flags.needed(flags, name)
        : Flags.needed(flags, "contract-id"),
      (id) => once(plan(id))
    )

const commands: { readonly [actor in Actor]: { readonly [command: string]: Read } } = {
  registrar: {
    configure: (flags) =>
      Result.gen(function* () {
        const instrument = {
          instrumentId: yield* Flags.needed(flags, "instrument"),
          provider: yield* Flags.party(flags, "provider"),
          issuer: yield* Flags.party(flags, "issuer")
        }
        return make((party) => RegistrarBot.configure(party, instrument))
      }),
    issue: (flags) =>
      Result.gen(function* () {
        const of = {
          instrumentId: yield* Flags.needed(flags, "instrument"),
          provider: yield* Flags.party(flags, "provider"),
          receiver: yield* Flags.party(flags, "to"),
          amount: yield* Flags.decimal(flags, "amount"),
          reference: flags.text("reference") ?? randomUUID()
        }
        const until = yield* Flags.optional(flags, "execute-before", Flags.instant)
        return once(({ party, now }) => [
          RegistrarBot.issue(party, { ...of, executeBefore: until ?? inDays(now, 7) })
        ])
      })
  },
  fund: {
    "accept-market": byId("reference", (id) => FundBot.plan({ policy: only(id) })),
    "decline-market": byId("reference", (id) => FundBot.plan({ policy: never(id) }))
  },
  attestor: {
    attest: (flags) =>
      Result.gen(function* () {
        const { instruments } = yield* attestorKnows(flags)
        const policy = only(yield* Flags.needed(flags, "subscription-id"))
        return once(AttestorBot.plan({ instruments, policy }))
      })
  },
  oracle: {
    publish: (flags) =>
      Result.gen(function* () {
        const metric = flags.text("metric")
        const quote = yield* Flags.shaped(OracleBot.Quote, {
          instrumentId: yield* Flags.needed(flags, "instrument"),
          value: yield* Flags.needed(flags, "price"),
          valuationTime: yield* Flags.needed(flags, "valuation-time"),
          ...(metric === undefined ? {} : { metric })
        })
        const audience = yield* audienceOf(flags)
        return once(OracleBot.plan({ quotes: () => [quote], ...audience }))
      })
  },
  investor: {
    "accept-invitation": byId("holder-id", (id) => Wallet.invitations(only(id))),
    "decline-invitation": byId("holder-id", (id) => Wallet.invitations(never(id))),
    "accept-offer": byId("instrument", (id) => Wallet.offers(only(id))),
    "decline-offer": byId("instrument", (id) => Wallet.offers(never(id))),
    "accept-transfer": byId("instrument", (id) => Agreements.transferOffers(only(id))),
    "reject-transfer": byId("instrument", (id) => Agreements.transferOffers(never(id))),
    "withdraw-order": byId("order-id", Wallet.withdrawOrder),
    pay: byId("reference", (id) => Agreements.legs(only(id))),
    "sign-terms": (flags) =>
      Result.gen(function* () {
        const holderId = yield* Flags.needed(flags, "holder-id")
        const documentHash = yield* Flags.needed(flags, "document-hash")
        return once(Wallet.signTerms({ holderId, documentHash }))
      }),
    order: (flags) =>
      Result.gen(function* () {
        const of = {
          venue: yield* Flags.party(flags, "venue"),
          fund: yield* Flags.party(flags, "fund"),
          orderId: yield* Flags.needed(flags, "order-id"),
          instrument: yield* assetOf(flags, "instrument"),
          paymentAsset: yield* assetOf(flags, "payment"),
          ordered:
            flags.text("units") === undefined
              ? { amount: yield* Flags.decimal(flags, "amount") }
              : { units: yield* Flags.decimal(flags, "units") },
          expiresAt: yield* Flags.optional(flags, "expires-at", Flags.instant)
        }
        return make((party) => Wallet.order(party, of))
      }),
    allocate: (flags) =>
      Result.gen(function* () {
        const of = {
          reference: yield* Flags.needed(flags, "reference"),
          venue: yield* Flags.party(flags, "venue"),
          receiver: yield* Flags.party(flags, "to"),
          instrument: yield* assetOf(flags, "instrument"),
          amount: yield* Flags.decimal(flags, "amount"),
          settleBefore: yield* Flags.instant(flags, "settle-before")
        }
        return once(Wallet.allocate(of))
      }),
    holdings: () => Result.succeed({ kind: "show", show: Wallet.holdings })
  }
}

const contracts: Duty = {
  kind: "show",
  show: (world) =>
    [...world.contracts.values()].map(({ contractId, template, payload }) => ({
      contractId,
      entity: template.entity,
      payload
    }))
}

const assetOf = (flags: Flags.Flags, what: "instrument" | "payment") =>
  Result.gen(function* () {
    const [admin, id] =
      what === "instrument"
        ? (["instrument-admin", "instrument"] as const)
        : (["payment-admin", "payment-instrument"] as const)
    return { admin: yield* Flags.party(flags, admin), id: yield* Flags.needed(flags, id) }
  })

const inDays = (now: Instant.Instant, days: number): Instant.Instant =>
  Instant.add(now, Duration.days(days))

export const read = (actor: Actor, command: string | undefined, flags: Flags.Flags): Told<Duty> => {
  if (command === undefined) return keeping[actor](flags)
  if (command === "contracts") return Result.succeed(contracts)
  const known = commands[actor][command]
  return known === undefined
    ? Flags.usage(
        `${actor} cannot ${command}; it can ${[...Object.keys(commands[actor]), "contracts"].join(", ")}`
      )
    : known(flags)
}
