/** Read of an instrument's register: its head, and then its lines as a stream. */
import { Effect, Schema, Stream } from "effect"
import { isConcealedFrom } from "../../writes/Concealment.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import * as Export from "../../reads/Export.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { AdmissionMachine } from "../../admissions/Admission.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import { instrumentInSight } from "../../instruments/instrument/InstrumentLookups.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { type RegisterEntry, registerEntries } from "../../instruments/register/RegisterEntry.ts"
import { type Head, shareOf } from "../../instruments/register/RegisterRules.ts"
import * as HeadLookups from "./RegisterHeadLookups.ts"
import * as LineLookups from "./RegisterLineLookups.ts"

const { NullOr } = Schema

const Line = Schema.Struct({
  /** Null for a party that is no holder of this venue. */
  holderId: NullOr(Schema.String),
  party: Party.schema,
  units: Decimal.schema,
  locked: Decimal.schema,
  /** Units of priced subscriptions that are not delivered. */
  pendingIn: Decimal.schema,
  /** Units of redemptions that are not burned; of one by amount, once it is priced. */
  pendingOut: Decimal.schema,
  share: Decimal.schema,
  admissionState: NullOr(AdmissionMachine.schema),
  /**
   * Whether a restriction of any mode is in force; always null to an app, from which it is
   * concealed.
   */
  restricted: NullOr(Schema.Boolean),
  /** Day, in UTC, since which the party has held units without a break. */
  since: Date.schema
})

const headed = {
  instrumentId: InstrumentId,
  head: Schema.Struct({
    totalUnits: Decimal.schema,
    /** Supply that the ledger's movements sum to. */
    supplyOnLedger: Decimal.schema,
    /** Units of the lines less the supply; 0 by the law of the register. */
    difference: Decimal.schema,
    holders: Integer.schema
  })
} as const

const RegisterView = Schema.Struct({
  ...headed,
  lines: Schema.Array(Line)
}).annotate({ identifier: "RegisterView", description: "Who holds an instrument, and how much." })

/** Lines whose holders, admissions, orders and restrictions are looked up together. */
const chunkLines = 500

/** Lines from which a register has no validator; one of fewer is printed whole. */
const largeFrom = 1_000

/** Roles that read a register: no investor, and a registrar those of its own instruments. */
export const ofRegister = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all",
  app: "all",
  registrar: "near"
} as const satisfies Read.Audience

const lineOf = (
  { party, units, locked, since }: RegisterEntry,
  { holderId, pendingIn, pendingOut, admissionState, restricted }: LineLookups.LineFacts,
  { head, show }: { readonly head: Head; readonly show: HeadLookups.UnitConversion["show"] }
): typeof Line.Type => ({
  holderId,
  party,
  units: show(units),
  locked: show(locked),
  pendingIn,
  pendingOut,
  share: shareOf(show(units), head.totalUnits),
  admissionState,
  restricted,
  since: Instant.date(since)
})

export const register = Read.streamed({
  name: "instruments.register",
  doc: "Answers who holds an instrument, and whether the lines add up to the supply on the ledger.",
  route: "GET /v1/instruments/{instrumentId}/register",
  audience: ofRegister,
  audited: { resourceKind: "instrument", named: "instrumentId" },
  pinned: true,
  params: Schema.Struct({
    instrumentId: InstrumentId,
    ...Export.parameters
  }),
  value: RegisterView,
  csv: Export.of({ row: Line, rows: (lines: ReadonlyArray<typeof Line.Type>) => lines }),
  refuses: ["not-found"],
  record: Schema.Struct(headed),
  rowsIn: "lines",
  row: Line,
  isSmall: ({ head }) => head.holders < largeFrom,
  run: Effect.fn("instruments.register")(function* ({ instrumentId }, asking) {
    const records = yield* Records
    const { pin, role } = asking
    const instrument = yield* instrumentInSight(instrumentId, asking)
    const showing = yield* HeadLookups.showing(instrument, pin)
    const head = yield* HeadLookups.headAt(instrument, showing, pin)
    const linesOf = Effect.fnUntraced(function* (
      besideOf: LineLookups.BesideOf,
      entries: ReadonlyArray<RegisterEntry>
    ) {
      const beside = yield* besideOf(entries)
      return entries.map((entry, index) =>
        lineOf(entry, beside[index]!, { head, show: showing.show })
      )
    })
    const asset = assetKeyOf(instrument)
    const rows: Stream.Stream<typeof Line.Type, Unavailable> = Stream.unwrap(
      Effect.map(
        LineLookups.besideOf(
          { instrumentId },
          { pin, isConcealed: isConcealedFrom(role), show: showing.show }
        ),
        (besideOf) =>
          records.stream(registerEntries, { pin, where: { asset: [asset] } }).pipe(
            Stream.map(({ record }): RegisterEntry => record),
            Stream.grouped(chunkLines),
            // The next chunk is looked up while this one is printed and sent.
            Stream.mapEffect((entries) => linesOf(besideOf, entries), { concurrency: 2 }),
            Stream.flatMap((lines) => Stream.fromIterable(lines))
          )
      )
    ).pipe(Stream.provideService(Records, records))
    return { record: { instrumentId: instrument.instrumentId, head }, rows }
  })
})

export const queries = [register] as const
