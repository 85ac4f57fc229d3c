/** The parameters of the document: description, bounds and an example of each. */
import type { Catalogue } from "@bursar/engine-core"
import { Month, RecordId } from "@bursar/engine-core/kernel"
import type { OpenApi } from "effect/http-api"
import * as Params from "../Params.ts"
import { isConditional, type Route, takesWait } from "../Route.ts"
import { componentOf, isArray, isObject, type Json, type JsonObject, jsonOf } from "./Json.ts"

interface Parameter {
  readonly name: string
  readonly in: "path" | "query" | "header"
  readonly schema: object
  /** Absent: the parameter may lack. */
  readonly required?: boolean
  readonly description: string
  readonly example: Json
}

type Description = Pick<Parameter, "description"> & Partial<Pick<Parameter, "schema" | "example">>

const instant = { type: "string", format: "date-time" }
const id = { type: "string", pattern: RecordId.pattern.source }

const header = (
  name: string,
  details: Pick<Parameter, "description" | "schema"> & { readonly example: string }
) => ({ name, in: "header", required: false, ...details })

/** Request headers that several routes share, each declared once. */
export const shared = {
  IdempotencyKey: header("Idempotency-Key", {
    description: "Names the write: the same key and body again answer what the write already is.",
    schema: { type: "string", pattern: "^[\\x21-\\x7E]{1,255}$" },
    example: "0d6a1f2e-8c1c-4a5e-9b0a-6d2f5f0c9a11"
  }),
  IfMatch: header("If-Match", {
    description: "The state that the caller saw: the call is refused where it has changed since.",
    schema: { type: "string", pattern: '^"?[\\x21\\x23-\\x7E]{1,255}"?$' },
    example: '"6f1ed002ab5595859014ebf0951522d9b4f5c1a1c2e3d4f5061728394a5b6c7d"'
  }),
  IfNoneMatch: header("If-None-Match", {
    description:
      "ETags of the copies that the caller stores, or *: 304 while one of them is the answer.",
    schema: { type: "string" },
    example: 'W/"kz0m3cWJ2lOf0nY0wNfUqA"'
  }),
  Prefer: header("Prefer", {
    description:
      "wait=N (RFC 7240): answer once the operation has ended, or an event has come, at the latest " +
      "after N seconds (at most 60). A preference that cannot be honoured is ignored.",
    schema: { type: "string" },
    example: "wait=20"
  }),
  RequestId: header("X-Request-Id", {
    description:
      "Names the call; every answer repeats it. The engine makes one where none is sent.",
    schema: { type: "string", pattern: "^[\\x21-\\x7E]{1,128}$" },
    example: "req-2026-07-31-0001"
  }),
  Trace: header("traceparent", {
    description: "W3C trace context, which the engine joins; one that is not valid is ignored.",
    schema: { type: "string" },
    example: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  }),
  TraceState: header("tracestate", {
    description: "W3C trace context: what the vendors of the trace add; passed on.",
    schema: { type: "string" },
    example: "venue=00f067aa0ba902b7"
  })
}

/** Description of each parameter name, the same on every route. */
const descriptions: Readonly<Record<string, Description>> = {
  at: {
    schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    description:
      "Reads at that offset; not with asOf. With the offset of an answer it repeats what the ledger " +
      "dates in it.",
    example: 1204
  },
  asOf: {
    schema: instant,
    description:
      "Reads as of that instant; not with at. With the `now` of an answer that neither at, asOf nor " +
      "after was given for it repeats the answer, the same bytes but `now`, whatever is written " +
      "later, at every instance.",
    example: "2026-07-31T16:00:00Z"
  },
  limit: {
    schema: { type: "integer", minimum: 1, maximum: Params.limitMax },
    description: "Records on a page; absent means every record, on a feed 100.",
    example: 50
  },
  after: {
    schema: { type: "string", minLength: 1, maxLength: Params.cursorMax },
    description: "The previous page's next.",
    example: "AQEAaG9sZGVycw"
  },
  updatedFrom: {
    schema: instant,
    description: "Records updated at that instant or later.",
    example: "2026-07-31T00:00:00Z"
  },
  updatedTo: {
    schema: instant,
    description: "Records updated before that instant.",
    example: "2026-08-01T00:00:00Z"
  },
  from: {
    description: "What is of that instant or later.",
    example: "2026-07-31T00:00:00Z"
  },
  to: {
    description: "What is of an instant before that one.",
    example: "2026-08-01T00:00:00Z"
  },
  order: { description: "Whether the oldest or the newest comes first." },
  format: { description: "The form of the answer." },
  zone: { description: "The time zone that days are told in.", example: "Europe/Zurich" },
  state: { description: "Only what is in that state; repeated, in any of them." },
  kind: { description: "Only what is of that kind; repeated, of any of them." },
  type: { description: "Only events of that type; repeated, of any of them." },
  resourceKind: { description: "Only what is about such a record; repeated, about any of them." },
  resourceId: { description: "Only what is about that record; with its resourceKind." },
  actor: { description: "Only what that subject did.", example: "svc-operator" },
  action: { description: "Only records of that act." },
  q: {
    description:
      "Beginning of an id, a code or a reference, or of a name from one of its words on.",
    example: "acme"
  },
  // Parameters of a precheck: those of the act that is judged, and the assumptions about the rest.
  act: { description: "The act that is judged." },
  payment: { description: "How the order would be paid." },
  amount: {
    description:
      "The cash that the order would be for, above 0, with at most 15 digits before the point and " +
      "10 after it; no more after it than the currency's minor unit has (ISO 4217)."
  },
  units: {
    description:
      "The units that the order would be for, above 0, with at most 15 digits before the point and " +
      "10 after it; no more after it than the instrument's unitDecimals."
  },
  asset: {
    description: "The asset that would be put in or paid, as the party that registers it/its id.",
    example: "bank::1220ab/USD"
  },
  deposit: {
    description:
      "The amount of the asset that would be put in, above 0, with at most 15 digits before the point " +
      "and 10 after it."
  },
  mintId: { description: "The id that the mint would have." },
  reserveRedemptionId: { description: "The id that the redemption would have." },
  acknowledgedRate: {
    description:
      "The latest withholding rate of the month's points, where they state several and the act would " +
      "acknowledge it: from 0 to 1, with at most 1 digit before the point and 10 after it.",
    example: "0.15"
  },
  orderId: { description: "The order that its holder signed on the ledger." },
  cash: {
    description:
      "A bank line that pays it, as statementId:line:amount; repeated, all of them. An amount has at " +
      "most 15 digits before the point and 10 after it.",
    example: ["camt-7:1:1000.00"]
  },
  refunds: {
    description:
      "A bank line that pays its refund, as statementId:line:amount; repeated, all of them. An " +
      "amount has at most 15 digits before the point and 10 after it.",
    example: ["camt-7:2:9.89"]
  },
  moves: {
    description:
      "A move, as holderId:toHolderId or holderId:toHolderId:units; repeated, all of them. Units " +
      "have at most 28 digits before the point and 10 after it.",
    example: ["holder-1:holder-2:1.5"]
  },
  holderIds: {
    description: "A holder whose units would move; repeated, all of them.",
    example: ["holder-1"]
  },
  documentHash: {
    description: "The SHA-256 of the order's document, in hex.",
    example: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
  },
  validFrom: { description: "When what is offered would come into force." },
  validUntil: { description: "When what is offered would end." },
  expiresAt: { description: "Until when the offer would wait for its answer." },
  policyVersion: {
    description: "Answers as under that version of the policy; nothing is written.",
    example: "3"
  },
  price: {
    description:
      "Answers as at that price, above 0, with at most 10 digits before the point and 10 after it; " +
      "nothing is written.",
    example: "1.0437"
  }
}

/**
 * Parameters of a route: of the path, of its own query, the standard ones of reads, and the
 * headers.
 */
export const of = (
  operation: OpenApi.OpenAPISpecOperation,
  { answers, file, name, path }: Route,
  firstWords: FirstWords
): ReadonlyArray<Parameter | { readonly $ref: string }> => {
  const inPath = new Set(path.names)
  const own = operation.parameters.filter(
    (parameter) => parameter.in === "query" && !inPath.has(parameter.name)
  )
  const standard = "read" in answers ? [...Params.names(answers.read)] : []
  const headers: ReadonlyArray<keyof typeof shared> = [
    ...(path.method === "GET" ? [] : (["IdempotencyKey"] as const)),
    ...(takesIfMatch({ answers, name }) ? (["IfMatch"] as const) : []),
    ...(isConditional({ answers, name }) ? (["IfNoneMatch"] as const) : []),
    ...(takesWait({ answers, name }) ? (["Prefer"] as const) : []),
    "RequestId",
    "Trace",
    "TraceState"
  ]
  return [
    ...path.names.map((name) => ({
      name,
      in: "path" as const,
      required: true,
      description: `Names the ${words(name)}.`,
      schema: id,
      example: `${name.replace(/(Id|Key)$/, "")}-1`
    })),
    ...own.map(({ name, required, schema }) => ({
      ...inQuery(name, { required, schema, firstWords }),
      ...(file === undefined ? {} : ofFile[name])
    })),
    ...standard.map((name) => inQuery(name, { required: false, schema: {}, firstWords })),
    ...headers.map((name) => ({ $ref: `#/components/parameters/${name}` }))
  ]
}

/** If-Match names the figures that an approval signs, or the state that a write replaces. */
const takesIfMatch = ({ answers, name }: Pick<Route, "answers" | "name">): boolean =>
  name === "approvals.approve" ||
  (answers.with === "write" && answers.operation.ifMatch !== undefined)

const inQuery = (
  name: string,
  {
    firstWords,
    required,
    schema
  }: { readonly required: boolean; readonly schema: object; readonly firstWords: FirstWords }
): Parameter => ({
  name,
  in: "query",
  ...(required ? { required } : {}),
  schema: unnamed(jsonOf(schema)),
  example: exampleOf(name, jsonOf(schema), firstWords),
  description: `Only what is of that ${words(name)}.`,
  ...descriptions[name],
  ...(jsonOf(schema).format === "date" ? inDays[name] : {}),
  ...(isMonth(jsonOf(schema)) ? inMonths[name] : {}),
  ...(isObject(jsonOf(schema).items) ? inLists[name] : {})
})

/** Parameters that are lists in some routes, and one value in others. */
const inLists: Readonly<Record<string, Description>> = {
  price: {
    description:
      "A supposed price of an asset of the reserve, as admin/assetId=price, above 0, with at most " +
      "10 digits before the point and 10 after it; repeated, each of another asset. Nothing is written.",
    example: ["bank::1220ab/BILL=1.0437"]
  }
}

/** Descriptions of the query of a file, which identifies the file. */
const ofFile: Readonly<Record<string, Description>> = {
  externalSourceId: { description: "The source that the file comes from." },
  instrumentId: {
    description: "The instrument that the file is of; needed where its source is of several."
  },
  businessDate: {
    description: "The business date that the file is of, for a form that has no date of its own."
  },
  corrects: {
    description:
      "The statement in force for the same source, instrument and business date, which the file replaces.",
    example: "st-1"
  }
}

/** Checks whether a shape is that of months, by its pattern. */
const isMonth = ({ pattern }: JsonObject): boolean => pattern === Month.pattern

/** Replacements for reads that take months instead of instants. */
const inMonths: Readonly<Record<string, Description>> = {
  from: {
    description: "Begins with that month; absent: the first that is not executed.",
    example: "2026-07"
  },
  to: {
    description: "Ends with that month; absent: twelve months after the present one.",
    example: "2026-08"
  },
  month: { description: "The month in which the record date lies." }
}

/** Replacements for reads that take dates instead of instants. */
const inDays: Readonly<Record<string, Description>> = {
  from: { description: "Begins on that day.", example: "2026-07-31" },
  to: { description: "Ends before that day.", example: "2026-08-01" }
}

/** Removes title and description of the schema: the parameter has a description of its own. */
const unnamed = ({ title: _, description: __, ...rest }: JsonObject): JsonObject => rest

/** `externalStatementId` → `external statement`. */
const words = (name: string): string =>
  name.replace(/(Id|Key)$/, "").replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** The first word of every declared set, by the set's name. */
type FirstWords = ReadonlyMap<string, string | undefined>

export const firstWordsOf = ({
  judged,
  machines,
  valueSets
}: Pick<Catalogue.Catalogue, "judged" | "machines" | "valueSets">): FirstWords =>
  new Map<string, string | undefined>([
    ...valueSets.map(({ name, members }) => [name, members[0]] as const),
    ...[...machines, ...judged].map(({ name, states }) => [name, Object.keys(states)[0]] as const)
  ])

/** An example value that satisfies the parameter's schema. */
const exampleOf = (name: string, shape: JsonObject, firstWords: FirstWords): Json => {
  if (isArray(shape.enum)) return shape.enum[0] ?? null
  if (isObject(shape.items)) return [exampleOf(name, shape.items, firstWords)]
  const component = componentOf(shape)
  if (component !== undefined) return firstWords.get(component.replace(/_\d+$/, "")) ?? null
  if (shape.format === "date-time") return "2026-07-31T16:00:00Z"
  if (shape.format === "date") return "2026-07-31"
  if (isMonth(shape)) return "2026-07"
  if (shape.format === "decimal" && shape.type === "string") return "1.5"
  if (shape.format === "decimal" || shape.type === "number") return 1.5
  if (shape.type === "integer") return 1
  return `${name.replace(/Id$/, "")}-1`
}
