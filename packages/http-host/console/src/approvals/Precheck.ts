/** Whether an action would run now: the parameters of its precheck, and what its gates come to. */
import type { Filter } from "../interface/Interface.ts"

/** What an action would be judged by. */
interface Judged {
  readonly kind: string
  readonly resource: { readonly kind: string; readonly id: string }
  readonly request: unknown
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isPlain = (value: unknown): boolean =>
  typeof value === "string" ||
  typeof value === "number" ||
  (Array.isArray(value) && value.every((item) => typeof item === "string"))

/**
 * Parameters of the precheck of an action: its act, its instrument and those members of its request that the
 * precheck takes; null where nothing judges the act beforehand, or its request names no instrument.
 */
export const parametersOf = (
  { kind, request, resource }: Judged,
  filters: ReadonlyArray<Filter>
): Readonly<Record<string, unknown>> | null => {
  const acts = filters.find(({ name }) => name === "act")?.words ?? []
  if (!acts.includes(kind)) return null
  const members = isObject(request) ? request : {}
  const named = members["instrumentId"]
  const instrumentId =
    typeof named === "string" ? named : resource.kind === "instrument" ? resource.id : null
  if (instrumentId === null) return null
  const taken = filters.flatMap(({ name }) => {
    const value = members[name]
    return value === undefined || value === null ? [] : [[name, value] as const]
  })
  // A member of rows has a form of its own in a query: judged without it, the act would be another.
  if (!taken.every(([, value]) => isPlain(value))) return null
  return { ...Object.fromEntries(taken), instrumentId, act: kind }
}

export interface GateRow {
  readonly gate: string
  readonly check: string
  readonly ok: boolean
  readonly detail: string | null
  readonly recovery: string | null
}

/** The first check that refuses; null: the act would run. */
export const firstRefusal = (gates: ReadonlyArray<GateRow>): GateRow | null =>
  gates.find(({ ok }) => !ok) ?? null
