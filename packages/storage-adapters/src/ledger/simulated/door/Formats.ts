/** Decoder of the event filters that a request names, into the filters by which the simulated ledger reads. */
import { Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Result } from "effect"
import * as LedgerError from "../LedgerError.ts"
import type { PartyFilter, Reading } from "../Participant.ts"
import * as Users from "../Users.ts"
import type { Refusal } from "./Refusals.ts"
import * as Requests from "./Requests.ts"
import * as TypeNames from "./TypeNames.ts"

const invalid = (why: string): LedgerError.LedgerError => LedgerError.make("INVALID_FIELD", why)

export const party = (text: string): Result.Result<Party.Party, LedgerError.LedgerError> =>
  Result.mapError(Party.parse(text), ({ detail }) => invalid(`${text}: ${detail}`))

export const parties = (texts: ReadonlyArray<string>) => Result.all(texts.map(party))

const everything: PartyFilter = { wildcard: true, templates: [], interfaces: [], blobs: [] }

/** Default filter: a wildcard for each party. */
export const wildcards = (parties: ReadonlyArray<Party.Party>): Reading["byParty"] =>
  new Map(parties.map((party) => [party, everything]))

type Blobs = PartyFilter["blobs"]

const withBlobs = (blobs: Blobs, more: Blobs): Blobs =>
  blobs === "all" || more === "all" ? "all" : [...blobs, ...more]

/** The filters of one party are a union; an empty list means everything. */
const partyFilter = (
  names: TypeNames.TypeNames,
  filters: Requests.Filters
): Result.Result<PartyFilter, Refusal> =>
  Result.gen(function* () {
    const cumulative = filters.cumulative ?? []
    if (cumulative.length === 0) return everything
    let sum: PartyFilter = { wildcard: false, templates: [], interfaces: [], blobs: [] }
    for (const { identifierFilter } of cumulative) {
      const filter: PartyFilter =
        identifierFilter === null ? everything : yield* filterOf(names, identifierFilter)
      sum = {
        wildcard: sum.wildcard || filter.wildcard,
        templates: [...sum.templates, ...filter.templates],
        interfaces: [...sum.interfaces, ...filter.interfaces],
        blobs: withBlobs(sum.blobs, filter.blobs)
      }
    }
    return sum
  })

const filterOf = (
  names: TypeNames.TypeNames,
  filter: Requests.Union
): Result.Result<PartyFilter, Refusal> =>
  Result.gen(function* () {
    const [name, plain] = Requests.arm(filter)
    const blobsOf = (isWanted: boolean | null, ref: Ledger.TypeRef): Blobs =>
      isWanted ? [ref] : []
    switch (name) {
      case "Empty":
        return everything
      case "WildcardFilter": {
        const { value } = yield* Requests.decode(Requests.WildcardFilter, plain)
        const blobs: Blobs = value.includeCreatedEventBlob === true ? "all" : []
        return { ...everything, blobs }
      }
      case "TemplateFilter": {
        const { value } = yield* Requests.decode(Requests.TemplateFilter, plain)
        const ref = yield* TypeNames.read(names, value.templateId)
        const blobs = blobsOf(value.includeCreatedEventBlob, ref)
        return { wildcard: false, templates: [ref], interfaces: [], blobs }
      }
      case "InterfaceFilter": {
        const { value } = yield* Requests.decode(Requests.InterfaceFilter, plain)
        const ref = yield* TypeNames.read(names, value.interfaceId)
        return {
          wildcard: false,
          templates: [],
          interfaces: [{ ref, view: value.includeInterfaceView === true }],
          blobs: blobsOf(value.includeCreatedEventBlob, ref)
        }
      }
      default:
        return yield* Result.fail(Requests.strange(name))
    }
  })

const byParty = (
  names: TypeNames.TypeNames,
  format: Requests.EventFormat
): Result.Result<Reading["byParty"], Refusal> =>
  Result.gen(function* () {
    // No user has the right to read as any party.
    if (format.filtersForAnyParty !== null) return yield* Result.fail(Users.permissionDenied())
    const found = new Map<Party.Party, PartyFilter>()
    for (const [text, filters] of Object.entries(format.filtersByParty ?? {})) {
      found.set(yield* party(text), yield* partyFilter(names, filters))
    }
    if (found.size === 0) {
      return yield* Result.fail(
        LedgerError.make("INVALID_ARGUMENT", "filtersByParty names no party")
      )
    }
    return found
  })

/** Event format of an active set or of a contract's history. */
export const ofEvents = (
  names: TypeNames.TypeNames,
  format: Requests.EventFormat
): Result.Result<Reading, Refusal> =>
  Result.map(byParty(names, format), (found) => ({ shape: "ACS_DELTA", byParty: found }))

/** Event format of one transaction: its filters, and how much of it is shown. */
export const ofTransaction = (
  names: TypeNames.TypeNames,
  format: Requests.TransactionFormat
): Result.Result<Reading, Refusal> =>
  format.transactionShape === "TRANSACTION_SHAPE_UNSPECIFIED"
    ? Result.fail(LedgerError.make("MISSING_FIELD", "The field transactionShape is missing"))
    : Result.map(byParty(names, format.eventFormat), (found) => ({
        shape:
          format.transactionShape === "TRANSACTION_SHAPE_ACS_DELTA"
            ? "ACS_DELTA"
            : "LEDGER_EFFECTS",
        byParty: found
      }))

/** A format without transactions yields checkpoints only. */
export const ofUpdates = (
  names: TypeNames.TypeNames,
  format: Requests.UpdateFormat | null
): Result.Result<Reading, Refusal> =>
  format === null
    ? Result.fail(LedgerError.make("MISSING_FIELD", "The field updateFormat is missing"))
    : format.includeTransactions === null
      ? Result.succeed({ shape: "ACS_DELTA", byParty: new Map() })
      : ofTransaction(names, format.includeTransactions)
