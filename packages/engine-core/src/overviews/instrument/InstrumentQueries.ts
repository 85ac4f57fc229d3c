/** Queries of instruments: all of them, or one. */
import { Effect, Schema, Stream } from "effect"
import type { Hold } from "../../restraints/hold/Hold.ts"
import { openOn } from "../../restraints/hold/OpenHoldLookups.ts"
import {
  type IssuerPowersAgreement,
  issuerPowersAgreements
} from "../../powers/IssuerPowersAgreement.ts"
import * as IssuerPowersAgreementView from "../../powers/IssuerPowersAgreementView.ts"
import type * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { type PrimaryMarket, primaryMarkets } from "../../orders/primary-market/PrimaryMarket.ts"
import * as PrimaryMarketView from "../../orders/primary-market/PrimaryMarketView.ts"
import * as Read from "../../reads/Read.ts"
import * as RecordView from "../../records/RecordView.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  type AdmissionConsent,
  admissionConsents,
  AdmissionConsentMachine
} from "../../admissions/AdmissionConsent.ts"
import { NavFeed } from "../../instruments/price/NavFeed.ts"
import { feedOf, type LatestStatement } from "../../instruments/price/NavFeedRules.ts"
import { holderCounts } from "../../instruments/register/HoldingLookups.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import {
  type Instrument,
  InstrumentId,
  instruments,
  isRecorded
} from "../../instruments/instrument/Instrument.ts"
import { instrumentInSight } from "../../instruments/instrument/InstrumentLookups.ts"
import { termsOf } from "../../instruments/policy/Policy.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import * as InstrumentView from "../../instruments/instrument/InstrumentView.ts"

const { waitingOn } = RecordView.fields

export const View = Schema.Struct({
  ...InstrumentView.fields,
  /** Number of parties that hold units at the pin. */
  holderCount: Integer.schema,
  /** Whether the administrator's NAV may price it. */
  navFeedState: NavFeed.schema,
  paused: Schema.NullOr(InstrumentView.Pause),
  holds: Schema.Array(Schema.String),
  primaryMarket: Schema.NullOr(Schema.Struct({ ...PrimaryMarketView.fields, waitingOn })),
  admissionConsent: Schema.NullOr(
    Schema.Struct({ state: AdmissionConsentMachine.schema, waitingOn })
  ),
  issuerPowersAgreement: Schema.NullOr(
    Schema.Struct({ ...IssuerPowersAgreementView.fields, waitingOn })
  ),
  ...RecordView.fields
}).annotate({
  identifier: "InstrumentView",
  description: "An instrument that the registry configures or the manifest records."
})
export type View = typeof View.Type

/** Open holds of an instrument, and its pause. */
interface InstrumentRestraints {
  readonly holds: ReadonlyArray<string>
  readonly paused: InstrumentView.Pause | null
}
const free: InstrumentRestraints = { holds: [], paused: null }

/**
 * Loads the open holds of each held instrument, oldest first, and the pause: the oldest hold that a
 * person opened (docs/domain/instruments.md#what-an-instrument-shows).
 */
const heldAt = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, pin: Pin.ResolvedPin) {
  const held = new Map<string, InstrumentRestraints>()
  for (const hold of yield* openOn(ids, pin)) {
    const before = held.get(hold.instrumentId) ?? free
    held.set(hold.instrumentId, {
      holds: [...before.holds, hold.holdId],
      paused: before.paused ?? pausedBy(hold)
    })
  }
  return held
})

const pausedBy = ({ by, holdId, openedAt: since, reason, until }: Hold) =>
  by === null ? null : { holdId, reason, since, until, by }

/** Loads the latest NAV of each instrument with a feed. */
const statedAt = Effect.fnUntraced(function* (
  found: ReadonlyArray<Stored<Instrument>>,
  pin: Pin.ResolvedPin
) {
  const latestNavs = yield* Effect.forEach(
    found,
    (instrument) =>
      isRecorded(instrument) && instrument.manifest.navFeed !== null
        ? Effect.map(
            NavFeedLookups.statedOf({ ...instrument, terms: termsOf(instrument) }, pin),
            (latest) => [[instrument.instrumentId, latest] as const]
          )
        : Effect.succeed([]),
    { concurrency: feedsAtOnce }
  )
  return new Map<string, LatestStatement | null>(latestNavs.flat())
})

/** Feeds that are looked up at the same time. */
const feedsAtOnce = 16

/** State of an instrument's NAV feed at the pin; an instrument without terms has no feed. */
const navFeedOf = (
  { manifest }: Instrument,
  latest: LatestStatement | null,
  pin: Pin.ResolvedPin
): View["navFeedState"] => {
  // Without a statement no instant matters: an answer that asks for none can be cached.
  const now = latest === null ? Instant.fromNanos(0n) : pin.judgedAt
  return NavFeed.judge({
    feed: manifest === null ? null : feedOf({ terms: manifest, latest, now }),
    now
  })
}

/** Page size of the first query; more records are read as a stream. */
const shownMax = 1_000

/** Loads the latest shown agreement of each instrument. */
const latestOf = Effect.fnUntraced(function* <R extends { readonly instrumentId: string }, F>(
  collection: Collection.Collection<R, F>,
  ids: ReadonlyArray<string>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const latest = new Map<string, Stored<R>>()
  const query = { pin, where: { shown: ids } }
  const found = yield* records.list(collection, { ...query, limit: shownMax })
  for (const { record } of found) latest.set(record.instrumentId, record)
  if (found.length < shownMax) return latest
  yield* records
    .stream(collection, query)
    .pipe(
      Stream.runForEach(({ record }) => Effect.sync(() => latest.set(record.instrumentId, record)))
    )
  return latest
})

type Market = Stored<PrimaryMarket>
type Consent = Stored<AdmissionConsent>
type Powers = Stored<IssuerPowersAgreement>

const viewOf = RecordView.remembered(
  (
    instrument: Stored<Instrument>,
    holderCount: number,
    instrumentRestraints: InstrumentRestraints,
    navFeedState: View["navFeedState"],
    market: Market | undefined,
    consent: Consent | undefined,
    powers: Powers | undefined
  ): View => {
    return {
      ...InstrumentView.recorded(instrument),
      holderCount,
      ...instrumentRestraints,
      navFeedState,
      primaryMarket:
        market === undefined
          ? null
          : {
              ...PrimaryMarketView.membersOf(market),
              waitingOn: RecordView.waitingOn(primaryMarkets, market)
            },
      admissionConsent:
        consent === undefined
          ? null
          : {
              state: consent.state,
              waitingOn: RecordView.waitingOn(admissionConsents, consent)
            },
      issuerPowersAgreement:
        powers === undefined
          ? null
          : {
              ...IssuerPowersAgreementView.membersOf(powers),
              waitingOn: RecordView.waitingOn(issuerPowersAgreements, powers)
            }
    }
  }
)

/** Builds the views of many instruments with one query for each shown member, run in parallel. */
const views = Effect.fnUntraced(function* (
  found: ReadonlyArray<Stored<Instrument>>,
  pin: Pin.ResolvedPin
) {
  if (found.length === 0) return []
  const ids = found.map(({ instrumentId }) => instrumentId)
  const [held, statements, markets, consents, agreed, holders] = yield* Effect.all(
    [
      heldAt(ids, pin),
      statedAt(found, pin),
      latestOf(primaryMarkets, ids, pin),
      latestOf(admissionConsents, ids, pin),
      latestOf(issuerPowersAgreements, ids, pin),
      holderCounts(found, pin)
    ],
    { concurrency: "unbounded" }
  )
  return found.map((instrument) => {
    const id = instrument.instrumentId
    return viewOf(
      instrument,
      holders.get(assetKeyOf(instrument)) ?? 0,
      held.get(id) ?? free,
      navFeedOf(instrument, statements.get(id) ?? null, pin),
      markets.get(id),
      consents.get(id),
      agreed.get(id)
    )
  })
})

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  auditor: "all",
  investor: "all",
  app: "all"
} as const satisfies Read.Audience

export const list = Read.list({
  name: "instruments.list",
  doc: "Lists every instrument that the registry configures or the manifest records.",
  route: "GET /v1/instruments",
  audience,
  pinned: true,
  collection: instruments,
  params: Schema.Struct({}),
  item: View,
  direction: "asc",
  order: "by instrument id",
  changes: false,
  where: () => ({ listed: ["yes"] }),
  view: (found, { pin }) => views(found, pin)
})

export const get = Read.one({
  name: "instruments.get",
  doc: "Answers one instrument.",
  route: "GET /v1/instruments/{instrumentId}",
  audience: { ...audience, registrar: "near" },
  pinned: true,
  params: Schema.Struct({ instrumentId: InstrumentId }),
  value: View,
  refuses: ["not-found"],
  run: Effect.fn("instruments.get")(function* ({ instrumentId }, asking) {
    const instrument = yield* instrumentInSight(instrumentId, asking)
    const [view] = yield* views([instrument], asking.pin)
    if (view === undefined) throw new Error("an instrument that was found has no view")
    return view
  })
})

export const queries = [list, get] as const
