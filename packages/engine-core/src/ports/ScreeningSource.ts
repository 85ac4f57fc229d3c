/** Port: screening of holders against sanctions lists, and its answers. */
import { Context, Data, Effect, Layer, Schema } from "effect"
import * as Instant from "../kernel/Instant.ts"

/**
 * A screening request. A source that is asked again under the same id MUST treat it as the same
 * request.
 */
export interface Request {
  readonly requestId: string
  readonly holderId: string
  readonly party: string
  readonly legalName: string | null
  readonly lei: string | null
  readonly classification: string | null
  /** Countries of tax residence, as ISO 3166 codes of two letters. */
  readonly countries: ReadonlyArray<string>
}

const textMax = 2_000
const idMax = 200

/** A source's finding, and the version of its lists it was made under. */
const ScreeningFinding = Schema.Struct({
  /** No hit; a possible one that a person must judge; a confirmed one. */
  found: Schema.Literals(["none", "possible", "confirmed"]),
  screenedAt: Instant.schema,
  listVersion: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(idMax)),
  /** Instant after which the answer is too old; null: the source names none. */
  validUntil: Schema.NullOr(Instant.schema),
  /** Reason of a possible hit, or of its dismissal; stored, and never shown outside the venue. */
  reason: Schema.NullOr(Schema.String.check(Schema.isMaxLength(textMax)))
})

/** Result of a screening of one holder. */
export type ScreeningFinding = typeof ScreeningFinding.Type

/** Answer of a screening source. */
export const ScreeningAnswer = Schema.Union([
  /** No answer yet; the request is sent again later. */
  Schema.Struct({ found: Schema.Literal("nothing-yet") }),
  ScreeningFinding
])
export type ScreeningAnswer = typeof ScreeningAnswer.Type

/** The source is unavailable or could not read the request; the same request is sent again. */
export class SourceUnavailable extends Data.TaggedError("SourceUnavailable")<{
  readonly detail: string
}> {}

/** Source of screenings, as a venue provides it. */
export interface Source {
  /** True: the source screens; without screening every holder passes. */
  readonly screens: "yes" | "no"
  /** The version of its lists that answers are given under now. */
  readonly listVersion: Effect.Effect<string, SourceUnavailable>
  /**
   * Asks for an answer. The engine asks at least once, never inside a transaction, and again for as
   * long as there is nothing yet or only a possible hit: a source MUST take a request once, by its
   * id, and MUST answer a possible hit as decided once a person has judged it.
   */
  readonly ask: (request: Request) => Effect.Effect<ScreeningAnswer, SourceUnavailable>
}

/** No source; holders are not screened, and none is refused for it. */
export const none: Source = {
  screens: "no",
  listVersion: Effect.fail(new SourceUnavailable({ detail: "This deployment screens nobody." })),
  ask: () => Effect.fail(new SourceUnavailable({ detail: "This deployment screens nobody." }))
}

/** Port of screenings; a venue that screens nobody provides `layerNone`. */
export class ScreeningSource extends Context.Service<ScreeningSource, Source>()(
  "@bursar/engine-core/ports/ScreeningSource"
) {}

/**
 * The source as the engine's own code reads it: a reference, so that no write names a service for it. The
 * engine's layer, whose type demands the port, fills it.
 */
export const EngineScreening = Context.Reference<Source>(
  "@bursar/engine-core/ports/EngineScreening",
  { defaultValue: () => none }
)

/** Layer that fills the engine's reference from the port. */
export const layerEngine: Layer.Layer<never, never, ScreeningSource> = Layer.effect(
  EngineScreening,
  ScreeningSource
)

/** Layer of a venue that screens nobody. */
export const layerNone: Layer.Layer<ScreeningSource> = Layer.succeed(ScreeningSource, none)
