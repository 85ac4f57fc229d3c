/**
 * Call table: what a client without schemas has to know of a catalogue, which is each call's route and
 * which members of JSON are numbers of which kind.
 */
import {
  ApprovalView,
  AuditQueries,
  Catalogue,
  EventQueries,
  type Operation,
  type Read,
  WriteAnswer
} from "@bursar/engine-core"
import { PlainNumber } from "@bursar/engine-core/kernel"
import type { Room } from "@bursar/engine-core/rooms"
import { Exit, Schema, SchemaAST } from "effect"
import type { CallTable, OwnTable } from "../plain-client/CallTable.ts"
import * as SystemApi from "./SystemApi.ts"
import * as Verb from "./Verb.ts"

/** Declarations that the table is made of; the engine's catalogue is one such value. */
export interface Declarations {
  readonly operations: ReadonlyArray<
    Pick<Operation.Operation, "kind" | "route" | "input" | "result"> & {
      readonly ifMatch?: string
    }
  >
  readonly queries: ReadonlyArray<Read.Read>
  readonly events: Readonly<Record<string, { readonly payload: Schema.Top }>>
}

/** Number of a declared member: a whole one is a JavaScript number, a decimal is its text. */
type NumberKind = "whole" | "decimal"

/** A member of JSON by the names that lead to it, and its number; null: it is none. */
interface Member {
  readonly path: ReadonlyArray<string>
  readonly number: NumberKind | null
}

/**
 * Makes the table of declarations. Throws where two members of one name, below members of one name,
 * are numbers of two kinds, or text and number of a request: no client could tell them apart.
 */
export const of = ({ operations, queries, events }: Declarations): CallTable => {
  const requests = operations.flatMap(({ input }) => membersOf(input, ["request"]))
  const answers = [
    ...operations.flatMap(({ result }) => membersOf(result, ["write", "result"])),
    ...membersOf(WriteAnswer, ["write"]),
    ...membersOf(ApprovalView, ["approvals.get"]),
    ...queries.flatMap((read) => answersOf(read)),
    ...membersOf(EventQueries.Event, ["events.list"]),
    ...membersOf(AuditQueries.AuditRecord, ["auditLog.list"]),
    ...membersOf(SystemApi.Tenant, ["tenants.one"]),
    ...membersOf(SystemApi.Health, ["health.one"]),
    ...Object.values(events).flatMap(({ payload }) => membersOf(payload, ["payload"]))
  ]
  return {
    writes: Object.fromEntries(
      operations.map(({ ifMatch, kind, route }) => [
        kind,
        ifMatch === undefined ? checked(route) : `${checked(route)} ${ifMatch}`
      ])
    ),
    reads: Object.fromEntries(
      queries.map(({ name, route }) => [name, checked(route).slice("GET ".length)])
    ),
    wholeNumbers: namesOf("whole", [...answers, ...requests].filter(isNumber)),
    decimals: namesOf("decimal", requests)
  }
}

/**
 * Makes the table of a venue with rooms of its own, lowest first, by which its clients call and which types
 * their calls. Throws as `of` does, and `RoomsNotUsable`.
 */
export const ofRooms = <const R extends ReadonlyArray<Room.Room>>(
  rooms: R
): OwnTable<Room.WriteOf<R[number]>, Room.QueryOf<R[number]>> => {
  const catalogue = Catalogue.withRooms(rooms)
  const own = rooms.flatMap(({ nouns }) => nouns.map(({ events }) => events ?? {}))
  return of({ ...catalogue, events: Object.assign({}, Catalogue.events, ...own) })
}

const checked = (route: string): string => {
  Verb.parse(route)
  return route
}

const answersOf = (read: Read.Read): ReadonlyArray<Member> => {
  const place = [read.name]
  switch (read.shape) {
    case "one":
      return membersOf(read.value, place)
    case "list":
      return membersOf(read.item, place)
    case "export":
      return [
        ...membersOf(read.value, place),
        ...membersOf(read.rows.item, [...place, read.rowsIn])
      ]
    case "streamed":
      return [...membersOf(read.value, place), ...membersOf(read.row, [...place, read.rowsIn])]
  }
}

const isNumber = ({ number }: Member): boolean => number !== null

/** Lists the members of a schema's JSON at every depth; those of any JSON value have none. */
const membersOf = (schema: Schema.Top, place: ReadonlyArray<string>): ReadonlyArray<Member> => {
  const visit = (
    ast: SchemaAST.AST,
    path: ReadonlyArray<string>,
    above: ReadonlySet<SchemaAST.AST>
  ): ReadonlyArray<Member> => {
    if (above.has(ast)) return []
    const inside = new Set([...above, ast])
    if (SchemaAST.isSuspend(ast)) return visit(ast.thunk(), path, inside)
    if (SchemaAST.isUnion(ast)) return ast.types.flatMap((type) => visit(type, path, inside))
    if (SchemaAST.isArrays(ast)) {
      return [...ast.elements, ...ast.rest].flatMap((type) => visit(type, path, inside))
    }
    if (SchemaAST.isObjects(ast)) {
      return [
        ...ast.propertySignatures.flatMap(({ name, type }) =>
          visit(type, [...path, String(name)], inside)
        ),
        ...ast.indexSignatures.flatMap(({ type }) => visit(type, [...path, "*"], inside))
      ]
    }
    return SchemaAST.isNull(ast) || isAnyJson(ast) ? [] : [{ path, number: numberOf(ast) }]
  }
  return visit(schema.ast, place, new Set())
}

/** Cast: the interpreter takes any tree, whose types are unknown here. */
const schemaOf = (ast: SchemaAST.AST): Schema.Codec<unknown, unknown> =>
  Schema.make<Schema.Codec<unknown, unknown>>(ast as Schema.Codec<unknown, unknown>["ast"])

const isAnyJson = (ast: SchemaAST.AST): boolean => {
  if (!SchemaAST.isDeclaration(ast)) return false
  return takes(ast, {}) && takes(ast, number)
}

const numberOf = (ast: SchemaAST.AST): NumberKind | null => {
  if (!takes(SchemaAST.toEncoded(ast), number)) return null
  return takes(SchemaAST.toType(ast), 1) ? "whole" : "decimal"
}

const number = new PlainNumber.PlainNumber("1")

/** Checks the kind of a value alone, not its bounds. */
const takes = (ast: SchemaAST.AST, value: unknown): boolean =>
  Exit.isSuccess(Schema.decodeUnknownExit(schemaOf(ast), { disableChecks: true })(value))

/**
 * Names of the members that are numbers of a kind: each alone where all members of its name are, else
 * with the name of the member above it.
 */
const namesOf = (kind: NumberKind, members: ReadonlyArray<Member>): ReadonlyArray<string> => {
  const byName = Map.groupBy(members, ({ path }) => path.at(-1) ?? "")
  const names = [...byName].flatMap(([name, same]) => {
    if (!same.some(({ number }) => number === kind)) return []
    if (name !== "*" && same.every(({ number }) => number === kind)) return [name]
    const byPlace = Map.groupBy(same, ({ path }) => path.slice(-2).join("."))
    return [...byPlace].flatMap(([place, there]) => {
      if (!there.some(({ number }) => number === kind)) return []
      if (there.every(({ number }) => number === kind)) return [place]
      throw new Error(`${place} is a ${kind} number in one place and something else in another`)
    })
  })
  return [...new Set(names)].toSorted()
}

/** Source text of a module that holds the table, in the form of the house. */
export const source = (table: CallTable): string =>
  [
    "/** Call table of the catalogue. Generated by packages/http-host/scripts/call-table.ts; do not edit. */",
    'import type { CallTable } from "./CallTable.ts"',
    "",
    "/** Route, parameters and headers of every call, by its name. */",
    "export const callTable = {",
    `  writes: ${rowsOf(table.writes)},`,
    `  reads: ${rowsOf(table.reads)},`,
    `  wholeNumbers: ${listOf(table.wholeNumbers)},`,
    `  decimals: ${listOf(table.decimals)}`,
    "} as const satisfies CallTable",
    ""
  ].join("\n")

const rowsOf = (rows: Readonly<Record<string, string>>): string =>
  `{\n${Object.entries(rows)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, row]) => {
      const line = `    ${JSON.stringify(name)}: ${JSON.stringify(row)}`
      return line.length < lineMax
        ? line
        : `    ${JSON.stringify(name)}:\n      ${JSON.stringify(row)}`
    })
    .join(",\n")}\n  }`

const listOf = (names: ReadonlyArray<string>): string =>
  `[\n${names.map((name) => `    ${JSON.stringify(name)}`).join(",\n")}\n  ]`

/** Longest line of a source. */
const lineMax = 100
