/** Port: the only source of randomness, from which ids and nonces come. */
import { Context, type Effect } from "effect"

/** Port of identifiers that nobody can guess. */
export class Ids extends Context.Service<
  Ids,
  {
    /** `<prefix>_` and 26 characters of Crockford base32: 48 bit of milliseconds, 80 random bits. */
    readonly make: (prefix: string) => Effect.Effect<string>
    readonly uuid: Effect.Effect<string>
    readonly bytes: (count: number) => Effect.Effect<Uint8Array>
  }
>()("@bursar/engine-core/ports/Ids") {}
