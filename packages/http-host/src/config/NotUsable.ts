/**
 * A setting that is well formed and cannot be used: a folder without write access, a port in use.
 */
import { Data, Effect, Layer } from "effect"
import { type Name, settings, variableOf } from "../HostConfig.ts"

/** Error of a setting; its message is one line that begins with the setting and its variable. */
export class NotUsable extends Data.TaggedError("SettingNotUsable")<{
  readonly setting: Name
  readonly detail: string
}> {
  override get message(): string {
    const { detail, setting } = this
    return `${setting} (${variableOf(setting, settings[setting])}): ${detail}`
  }
}

/** Makes the error of a setting from the error of a step. */
export const of =
  (setting: Name) =>
  (error: { readonly message: string }): NotUsable =>
    new NotUsable({ setting, detail: error.message })

/** Maps every failure of an effect to the error of a setting. */
export const faultOf =
  (setting: Name) =>
  <A, E extends { readonly message: string }, R>(
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, NotUsable, R> =>
    Effect.mapError(effect, of(setting))

/** Maps every failure of a layer's construction to the error of a setting. */
export const faultOfLayer =
  (setting: Name) =>
  <A, E extends { readonly message: string }, R>(
    layer: Layer.Layer<A, E, R>
  ): Layer.Layer<A, NotUsable, R> =>
    Layer.catch(layer, (error) => Layer.effectContext(Effect.fail(of(setting)(error))))

/** Runs a step on files that a setting names, and maps its failure to the setting's error. */
export const files = <A>(setting: Name, step: () => Promise<A>): Effect.Effect<A, NotUsable> =>
  Effect.tryPromise({
    try: step,
    catch: (cause) => new NotUsable({ setting, detail: reasonOf(cause) })
  })

const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause)
