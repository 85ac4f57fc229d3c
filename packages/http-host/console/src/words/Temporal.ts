/** `Temporal` of the platform, or the polyfill where the platform has none. */
import type * as Polyfill from "temporal-polyfill"

type TemporalApi = typeof Polyfill.Temporal

const native = (globalThis as { readonly Temporal?: TemporalApi }).Temporal

export const Temporal: TemporalApi = native ?? (await import("temporal-polyfill")).Temporal
