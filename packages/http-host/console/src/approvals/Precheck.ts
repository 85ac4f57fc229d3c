/** Whether an action would run now: the parameters of its precheck, and what its gates come to. */
import type { Filter } from "../interface/Interface.ts"

/** What an action would be judged by. */
interface JudgedAct {
  readonly kind: string
  readonly resource: { readonly kind: string; readonly id: string }
  readonly request: unknown
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** How an action is judged beforehand: by these parameters, or why it is not. */
export type Judging =
  | { readonly is: "asked"; readonly parameters: Readonly<Record<string, unknown>> }
  /** No precheck judges such acts. */
  | { readonly is: "unjudged" }
  /** The request names no instrument; the record that it acts on has it. */
  | { readonly is: "unnamed" }
  /** The precheck would not be told all of the request, and would judge another act. */
  | { readonly is: "untold"; readonly member: string }

const textOf = (value: unknown): string | null =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : null

/** A row of a request as the query has it: its members in their order, with colons between. */
const rowForms: Readonly<
  Record<string, ReadonlyArray<readonly [name: string, isRequired: boolean]>>
> = {
  moves: [
    ["holderId", true],
    ["toHolderId", true],
    ["units", false]
  ],
  cash: [
    ["statementId", true],
    ["line", true],
    ["amount", true]
  ],
  refunds: [
    ["statementId", true],
    ["line", true],
    ["amount", true]
  ]
}

const rowOf = (list: string, row: unknown): string | null => {
  if (typeof row === "string") return row
  const form = rowForms[list]
  if (form === undefined || !isObject(row)) return null
  const texts = form.map(([member]) => textOf(row[member] ?? null))
  const isWhole = form.every(([, isRequired], at) => !isRequired || texts[at] !== null)
  const isAll = Object.keys(row).every((member) => form.some(([name]) => name === member))
  return isWhole && isAll ? texts.filter((text) => text !== null).join(":") : null
}

/** A member as its parameter; null: the query has no form for it. */
const parameterOf = (name: string, value: unknown): string | ReadonlyArray<string> | null => {
  if (!Array.isArray(value)) return textOf(value)
  const rows = value.map((row) => rowOf(name, row))
  return rows.every((row) => row !== null) ? rows : null
}

/**
 * Judging of an action: its act, its instrument and those members of its request that the precheck takes.
 * `instrumentId` is that of the record, where the request names none.
 */
export const judgingOf = (
  { kind, request, resource }: JudgedAct,
  filters: ReadonlyArray<Filter>,
  instrumentOfRecord: string | null = null
): Judging => {
  const acts = filters.find(({ name }) => name === "act")?.words ?? []
  if (!acts.includes(kind)) return { is: "unjudged" }
  const members = isObject(request) ? request : {}
  const instrumentId =
    textOf(members["instrumentId"]) ??
    (resource.kind === "instrument" ? resource.id : instrumentOfRecord)
  if (instrumentId === null) return { is: "unnamed" }
  const parameters: Record<string, unknown> = {}
  for (const { name } of filters) {
    const value = members[name]
    if (value === undefined || value === null) continue
    const parameter = parameterOf(name, value)
    if (parameter === null) return { is: "untold", member: name }
    parameters[name] = parameter
  }
  return { is: "asked", parameters: { ...parameters, instrumentId, act: kind } }
}

/** Reads of the records that name the instrument of an act upon them, by the kind of the record. */
export const instrumentReads: Readonly<Record<string, readonly [read: string, id: string]>> = {
  "dealing-cycle": ["dealing-cycles.get", "cycleId"],
  subscription: ["subscriptions.get", "subscriptionId"],
  redemption: ["redemptions.get", "redemptionId"]
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
