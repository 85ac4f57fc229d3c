/** Pages of lists by name: filters and cursor from the address, at the page's point. */
import { callTable } from "@bursar/http-host/plain-client"
import table from "virtual:interface"
import { client } from "./Api.ts"
import type { Read } from "./Cache.ts"
import { kindsOf } from "./Kinds.ts"
import { point, pointTime } from "./Point.ts"
import { segmentOf } from "../words/Segments.ts"

/** Rows of a page of a table. */
export const pageRows = 50

export type Row = Readonly<Record<string, unknown>>

export interface ListPage {
  readonly offset: number
  readonly now: string
  readonly value: ReadonlyArray<Row>
  readonly next: string | null
}

export interface Where {
  readonly [filter: string]: string | ReadonlyArray<string>
}

const pinnedBy = (name: string): Readonly<Record<string, string>> =>
  table.reads[name]?.isPinned === true && point.value !== null ? { at: point.value } : {}

/** Members of a read by its name: an answer of the past is never stale, and one of now says that it is. */
const placeOf = (name: string) =>
  point.value === null
    ? { kinds: kindsOf(name) }
    : table.reads[name]?.isPinned === true
      ? { kinds: [] }
      : { kinds: kindsOf(name), isOfNow: true }

/** Takes the ledger's time at the page's point from an answer at it. */
const taken = <A>(answer: A): A => {
  const { ledgerTime, offset } = answer as {
    readonly offset?: unknown
    readonly ledgerTime?: unknown
  }
  if (typeof ledgerTime === "string" && String(offset) === point.value) pointTime.value = ledgerTime
  return answer
}

/**
 * Answer of a read by its name: those of the call table by it, which knows their whole numbers, and every
 * other of the interface by its path.
 */
const answerOf = async (
  name: string,
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal
): Promise<unknown> => {
  if (Object.hasOwn(callTable.reads, name)) {
    // Cast: the name is one of the table's; what it answers is drawn by its members.
    return client.reading(name as never, params as never, { signal } as never)
  }
  const row = table.reads[name]
  if (row === undefined) throw new Error(`the interface has no read ${name}`)
  const query: Record<string, unknown> = { ...params }
  const path = row.path.replaceAll(/\{(\w+)\}/gu, (_, id: string) => {
    const { [id]: value } = query
    delete query[id]
    return segmentOf(String(value))
  })
  return (await client.call({ method: "GET", path, query, signal })).value
}

/** A page of a list. */
export const listRead = (
  name: string,
  {
    after,
    limit = pageRows,
    where
  }: { readonly where: Where; readonly after?: string | undefined; readonly limit?: number }
): Read<ListPage> => {
  const pinned = pinnedBy(name)
  return {
    key: [name, where, after ?? null, limit, pinned],
    ...placeOf(name),
    load: async (signal) =>
      taken((await answerOf(name, { ...where, limit, after, ...pinned }, signal)) as ListPage)
  }
}

export interface Answer {
  readonly offset: number
  readonly now: string
  readonly value: Row
}

/** One value, with the point that it was read at. */
export const valueRead = (
  name: string,
  params: Readonly<Record<string, unknown>>
): Read<Answer> => {
  const pinned = pinnedBy(name)
  return {
    key: [name, params, pinned],
    ...placeOf(name),
    load: async (signal) =>
      taken((await answerOf(name, { ...params, ...pinned }, signal)) as Answer)
  }
}

/** Whether one of the roles may call a read; one that is public names no role. */
export const mayRead = (name: string, roles: ReadonlyArray<string>): boolean => {
  const admitted = table.reads[name]?.roles
  return admitted?.length === 0 || admitted?.some((role) => roles.includes(role)) === true
}

/** Whether one of the roles may make a write. */
export const mayWrite = (kind: string, roles: ReadonlyArray<string>): boolean =>
  table.writes[kind]?.roles.some((role) => roles.includes(role)) === true
