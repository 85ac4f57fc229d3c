/**
 * A setting that is well formed and cannot be used: a folder without write access, a port in use.
 */
import { Data, Effect, Layer } from "effect"
import { type Name, settings, variableOf } from "../HostConfig.ts"

/** Told in one line that names the setting and its variable first, as a wrong setting is. */
export class NotUsable extends Data.TaggedError("SettingNotUsable")<{
  readonly setting: Name
  readonly detail: string
}> {
  override get message(): string {
    const { detail, setting } = this
    return `${setting} (${variableOf(setting, settings[setting])}): ${detail}`
  }
}

/** The fault of this setting that an error tells. */
export const of =
  (setting: Name) =>
  (error: { readonly message: string }): NotUsable =>
    new NotUsable({ setting, detail: error.message })

/** Whatever fails here is the fault of this setting. */
export const faultOf =
  (setting: Name) =>
  <A, E extends { readonly message: string }, R>(
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, NotUsable, R> =>
    Effect.mapError(effect, of(setting))

/** As `faultOf`, for what is built of a layer. */
export const faultOfLayer =
  (setting: Name) =>
  <A, E extends { readonly message: string }, R>(
    layer: Layer.Layer<A, E, R>
  ): Layer.Layer<A, NotUsable, R> =>
    Layer.catch(layer, (error) => Layer.effectContext(Effect.fail(of(setting)(error))))

/** A step with files that this setting names. */
export const files = <A>(setting: Name, step: () => Promise<A>): Effect.Effect<A, NotUsable> =>
  Effect.tryPromise({
    try: step,
    catch: (cause) => new NotUsable({ setting, detail: reasonOf(cause) })
  })

const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)
