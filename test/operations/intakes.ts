/** Kit of statements that are handed in: a source, a reader of a small form of the tests, and the call. */
import { type Caller, Engine, Intake, type settingsDefaults } from "@bursar/engine-core"
import type { ConfiguredSource } from "@bursar/engine-core"
import { Date, Decimal, Duration, Instant, PlainJson } from "@bursar/engine-core/kernel"
import { StatementSource } from "@bursar/engine-core/ports"
import type * as Memory from "@bursar/storage-adapters/memory"
import { Effect, Layer, Stream } from "effect"
import * as Calls from "../engine/calls.ts"
import { ports } from "../engine/world.ts"

/** Settings of a venue that takes statements. */
export const sealing = { sealingKeys: [{ keyId: "k1", secret: new Uint8Array(32).fill(7) }] }

type Source = ConfiguredSource.ConfiguredSource

/** A source of holdings of fund-a, sent as JSON. */
export const source = (changes: Partial<Source> = {}): Source => ({
  externalSourceId: "admin-1",
  kind: "holdings",
  instruments: ["fund-a"],
  calendar: ["monday", "tuesday", "wednesday", "thursday", "friday"],
  dueBy: { time: "18:00", zone: "UTC", daysAfter: 1 },
  grace: Duration.of("PT2H"),
  adapter: "json",
  account: null,
  accountIs: "holder",
  basis: null,
  places: null,
  zone: "UTC",
  validFor: null,
  reversals: "as-marked",
  assets: null,
  csv: null,
  ...changes
})

/** Encodes a file of the tests' own form. */
export const file = (options: {
  readonly businessDate?: string
  readonly asOf?: string
  readonly lines?: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly fault?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  readonly note?: string
  /** Further statements of the file. */
  readonly more?: ReadonlyArray<Omit<File, "more" | "fault">>
}): Uint8Array => new TextEncoder().encode(JSON.stringify(options))

const decimals = ["quantity", "locked", "amount"]

interface File {
  readonly businessDate?: string
  readonly asOf?: string
  readonly lines?: ReadonlyArray<Record<string, unknown>>
  readonly fault?: { readonly _tag: string; readonly [member: string]: unknown }
  readonly header?: Readonly<Record<string, unknown>>
  readonly more?: ReadonlyArray<Omit<File, "more" | "fault">>
}

const faultOf = ({
  _tag,
  ...fault
}: NonNullable<File["fault"]>): StatementSource.StatementFault => {
  const place = { line: null, column: null, detail: "fault", ...fault }
  if (_tag === "StatementMalformed") return new StatementSource.StatementMalformed(place)
  if (_tag === "StatementTooLong") return new StatementSource.StatementTooLong({ linesMax: 1 })
  return new StatementSource.StatementRefused({
    ...place,
    check: fault["check"] as "statement-field"
  })
}

/** Readings that the stand-in reader was handed, newest last. */
export const readings: Array<StatementSource.Reading> = []

/** A reader of the tests' own form; what it answers is what the file says. */
export const reader: StatementSource.Reader = {
  read: (reading, bytes) =>
    Stream.unwrap(
      Effect.gen(function* () {
        readings.push(reading)
        const parts = yield* Stream.runCollect(bytes)
        const text = Buffer.concat([...parts]).toString("utf8")
        const parsedFile = JSON.parse(text) as File
        const linesOf = (stated: Pick<File, "lines">) =>
          (stated.lines ?? []).map((line) => ({
            kind: reading.kind,
            ...(reading.kind === "holdings" ? { locked: null } : {}),
            ...(reading.kind === "cash"
              ? {
                  bookingDate: "2026-07-01",
                  valueDate: null,
                  currency: reading.currency,
                  bankReference: null,
                  reference: null,
                  counterparty: null
                }
              : {}),
            ...Object.fromEntries(
              Object.entries(line).map(([name, value]) => [
                name,
                decimals.includes(name) ? Decimal.of(String(value)) : value
              ])
            )
          })) as unknown as ReadonlyArray<StatementSource.Line>
        const headerOf = (stated: File): StatementSource.Header => ({
          businessDate: Date.of(stated.businessDate ?? reading.businessDate ?? "2020-01-02"),
          asOf: Instant.of(stated.asOf ?? "2020-01-02T22:00:00Z"),
          period: null,
          reference: null,
          currency: reading.currency,
          totalQuantity: null,
          totalAmount: null,
          statedLines: null,
          basis: null,
          opening: null,
          closing: null,
          nav: null,
          ...stated.header
        })
        const answered = Stream.fromIterable(
          [parsedFile, ...(parsedFile.more ?? [])].flatMap(
            (stated): ReadonlyArray<StatementSource.Part> => [
              { part: "lines", lines: linesOf(stated) },
              { part: "header", header: headerOf(stated) }
            ]
          )
        )
        if (parsedFile.fault === undefined) return answered
        return Stream.concat(
          Stream.make<ReadonlyArray<StatementSource.Part>>({
            part: "lines",
            lines: linesOf(parsedFile)
          }),
          Stream.fail(faultOf(parsedFile.fault))
        )
      })
    )
}

/** An engine that takes statements of these sources, over a store. */
export const engine = (options: {
  readonly sources?: ReadonlyArray<Source>
  readonly storage?: Layer.Layer<Memory.Storage>
  readonly linesMax?: number
  /** Reader of the forms; the stand-in of the tests' own form by default. */
  readonly queries?: StatementSource.Reader
  readonly settings?: Partial<typeof settingsDefaults>
}) => {
  const settings = {
    ...options.settings,
    ...sealing,
    statementSources: options.sources ?? [source()],
    ...(options.linesMax === undefined ? {} : { statementLinesMax: options.linesMax })
  }
  const storage = options.storage === undefined ? {} : { storage: options.storage }
  return Engine.layer.pipe(
    Layer.provideMerge(
      Layer.merge(
        ports({ settings, ...storage }),
        Layer.succeed(StatementSource.StatementSource, options.queries ?? reader)
      )
    )
  )
}

/** Hands a file in, as a caller would: stages it, then has it read and recorded. */
export const receive = (
  bytes: Uint8Array,
  options: {
    readonly named?: Partial<Intake.StatementName>
    readonly key?: string | null
    readonly caller?: Caller.Caller
    readonly mediaType?: Intake.MediaType
    readonly partBytes?: number
  } = {}
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const intake = yield* Intake.StatementIntake
      const named = {
        externalSourceId: "admin-1",
        instrumentId: null,
        businessDate: null,
        corrects: null,
        ...options.named
      }
      const size = options.partBytes ?? 65_536
      const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, part) =>
        bytes.subarray(part * size, (part + 1) * size)
      )
      const query = new URLSearchParams(
        Object.entries(named).flatMap(
          ([name, value]): Array<[string, string]> => (value === null ? [] : [[name, value]])
        )
      ).toString()
      const staged = yield* intake.stage({ query, bytes: Stream.fromIterable(parts) })
      const received = yield* intake.receive({
        caller: options.caller ?? Calls.operator,
        identity: Calls.identity(),
        key: options.key ?? null,
        named,
        mediaType: options.mediaType ?? "application/json",
        charset: null,
        staged
      })
      const value = JSON.parse(PlainJson.stringify(received.value)) as Shown
      return { ...received, value, id: value.externalStatementId }
    })
  )

interface Shown {
  readonly externalStatementId: string
  readonly [member: string]: unknown
}

/** A refusal as `slug check`, and the whole of it. */
export const refused = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    const refusal = error as unknown as {
      readonly slug: string
      readonly details: { readonly check?: string; readonly detail?: string }
    }
    const { check, detail } = refusal.details ?? {}
    return { why: [refusal.slug, check].filter(Boolean).join(" "), detail: detail ?? "" }
  })
