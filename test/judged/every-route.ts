/** Calls every route of a document as it may be called, and as it refuses, and looks at each answer. */
import { people } from "#host/demo/People.ts"
import { deref, type Json, type JsonObject, listOf, objectOf, sample } from "./samples.ts"

export interface Answered {
  readonly route: string
  readonly operationId: string
  readonly status: number
  /** The body, as it came. */
  readonly text: string
}

export interface Calling {
  /** Address of the judge. */
  readonly api: string
  readonly document: Json
  /** An Authorization header of everybody who signs in. */
  readonly bearers: Readonly<Record<keyof typeof people, string>>
  /** Ids of records of the earlier story, by the parameter's name. */
  readonly recordIds: Readonly<Record<string, string>>
}

const methods = ["get", "post", "delete"] as const

interface Route {
  readonly template: string
  readonly method: (typeof methods)[number]
  readonly operation: JsonObject
}

export const routesOf = (document: Json): ReadonlyArray<Route> =>
  Object.entries(objectOf(objectOf(document)["paths"])).flatMap(([template, item]) =>
    methods.flatMap((method) => {
      const operation = objectOf(item)[method]
      return operation === undefined ? [] : [{ template, method, operation: objectOf(operation) }]
    })
  )

export const call = async (call: Calling): Promise<ReadonlyArray<Answered>> => {
  const answers: Array<Answered> = []
  for (const route of routesOf(call.document)) answers.push(...(await callOne(call, route)))
  return answers
}

interface Asked {
  readonly path: string
  readonly as: string | null
  readonly body?: Json
  readonly headers?: Readonly<Record<string, string>>
}

const callOne = async (call: Calling, route: Route): Promise<ReadonlyArray<Answered>> => {
  const roles = listOf(route.operation["x-roles"]).map(String)
  const admitted = bearersOf(call, (role) => roles.includes(role))
  const strangers = bearersOf(call, (role) => !roles.includes(role))
  const [own = null] = admitted
  const recordPath = pathOf(route, (name) => call.recordIds[name] ?? "sample-1")
  const parameters = listOf(route.operation["parameters"]).map((one) => deref(call.document, one))
  const inQuery = parameters.filter((one) => one["in"] === "query")
  const isNeeded = (one: JsonObject) => one["required"] === true
  const always = inQuery.filter(isNeeded).map((one) => queryOf(call.document, one))
  /** The query with what a call cannot go without. */
  const asking = (...more: ReadonlyArray<string>): string => {
    const all = [...always, ...more]
    return all.length === 0 ? "" : `?${all.join("&")}`
  }
  const optional = inQuery.filter((one) => !isNeeded(one)).map((one) => queryOf(call.document, one))
  const absent = pathOf(route, () => "absent-1") + asking()
  const together = asTogether(call.recordIds)[route.template] ?? []
  const queries = [asking(), ...optional.map((one) => asking(one)), ...together]
  const schema = bodySchema(call.document, route)
  const body = schema === undefined ? undefined : sample(call.document, schema)
  const key = crypto.randomUUID()
  const keyed = route.method === "get" ? {} : { "idempotency-key": key }
  const withBody = body === undefined ? {} : { body }
  const requests: ReadonlyArray<Asked> = [
    ...(route.method === "get"
      ? queries.map((query) => ({ path: recordPath + query, as: own }))
      : [
          { path: absent, as: own, ...withBody, headers: keyed },
          // Again with the same key, and once for another record under it.
          { path: absent, as: own, ...withBody, headers: keyed },
          { path: recordPath + asking(), as: own, ...withBody, headers: keyed }
        ]),
    ...(route.method === "get" ? [{ path: absent, as: own }] : []),
    ...(own === null
      ? []
      : [
          { path: absent, as: "Bearer nobody", ...withBody },
          ...strangers.slice(0, 1).map((as) => ({ path: absent, as, ...withBody })),
          { path: absent, as: own, ...withBody, headers: { accept: "image/png" } },
          { path: absent, as: own, ...withBody, headers: { "x-request-id": "sample-request" } }
        ]),
    ...(inQuery.some((one) => one["name"] === "at")
      ? [
          { path: recordPath + asking("at=9007199254740991"), as: own },
          { path: recordPath + asking("asOf=1970-01-01T00:00:00Z"), as: own },
          { path: recordPath + asking("at=0"), as: own }
        ]
      : [])
  ]
  const answers: Array<Answered> = []
  for (const one of requests) answers.push(await send(call, route, one))
  return answers
}

/** Parameters that are only taken with others of their act, by the route that takes them. */
const asTogether = ({
  holderId = "",
  subscriptionId = ""
}: Calling["recordIds"]): Readonly<Record<string, ReadonlyArray<string>>> => ({
  "/v1/instruments/{instrumentId}/precheck": [
    `act=admission.offer&holderId=${holderId}`,
    `act=subscription.claim&holderId=${holderId}&amount=1000&policyVersion=1&price=1.5`,
    `act=subscription.claim&holderId=${holderId}&payment=ledger&orderId=none`,
    `act=redemption.claim&holderId=${holderId}&units=1`,
    `act=subscription.settle&subscriptionId=${subscriptionId}&cash=camt-1:1:10`,
    "act=redemption.settle&redemptionId=absent",
    "act=dealing-cycle.settle&cycleId=absent"
  ].map((query) => `?${query}`)
})

const bearersOf = (call: Calling, is: (role: string) => boolean): ReadonlyArray<string> =>
  names.filter((name) => is(people[name].role)).map((name) => call.bearers[name])

const isName = (name: string): name is keyof typeof people => name in people
const names = Object.keys(people).filter(isName)

const pathOf = ({ template }: Route, id: (name: string) => string): string =>
  template.replaceAll(/\{([A-Za-z]+)\}/g, (_, name: string) => encodeURIComponent(id(name)))

const queryOf = (document: Json, parameter: JsonObject): string => {
  const name = String(parameter["name"])
  const values = listOf(parameter["example"])
  const all =
    values.length > 0 ? values : [parameter["example"] ?? sample(document, parameter["schema"])]
  return all.map((value) => `${name}=${encodeURIComponent(String(value))}`).join("&")
}

const bodySchema = (document: Json, { operation }: Route): Json | undefined =>
  objectOf(
    objectOf(objectOf(deref(document, operation["requestBody"])["content"])["application/json"])
  )["schema"]

/** Whether the body of a route is a file, which the judge generates as plain text. */
const takesFile = (document: Json, { operation }: Route): boolean =>
  "text/csv" in objectOf(objectOf(deref(document, operation["requestBody"])["content"]))

const send = async (call: Calling, route: Route, request: Asked): Promise<Answered> => {
  const method = route.method.toUpperCase()
  const isFile = takesFile(call.document, route)
  const response = await fetch(call.api + request.path, {
    method,
    headers: {
      ...(request.as === null ? {} : { authorization: request.as }),
      ...(request.body === undefined
        ? {}
        : { "content-type": isFile ? "text/csv" : "application/json" }),
      ...request.headers
    },
    ...(request.body === undefined
      ? {}
      : { body: isFile ? String(request.body) : JSON.stringify(request.body) })
  })
  const text = await response.text()
  const where = `${method} ${request.path}`
  if (text.includes("stoplight.io/prism")) {
    throw new Error(`${where} with ${JSON.stringify(request.body)}: ${text}`)
  }
  if (response.status >= 500) throw new Error(`${where} answered ${response.status}: ${text}`)
  return {
    route: `${method} ${route.template}`,
    operationId: String(route.operation["operationId"]),
    status: response.status,
    text
  }
}
