/** Additions to the generated document: roles, refusals, headers, open sets, examples. */
import { CallRefusals, type Catalogue, type Operation as Write } from "@bursar/engine-core"
import type { OpenApi } from "effect/http-api"
import type { OpenAPIV3_1 } from "openapi-types"
import * as Body from "../wire/Body.ts"
import * as Answers from "./document/Answers.ts"
import * as Conditions from "./document/Conditions.ts"
import * as Deliveries from "./document/Deliveries.ts"
import * as Examples from "./document/Examples.ts"
import {
  componentOf,
  isArray,
  isObject,
  type JsonObject,
  jsonOf,
  objectOf,
  walk,
  walkObject
} from "./document/Json.ts"
import * as Parameters from "./document/Parameters.ts"
import * as Parts from "./document/Parts.ts"
import * as Refusals from "./document/Refusals.ts"
import * as Schemas from "./document/Schemas.ts"
import * as Security from "./document/Security.ts"
import * as Shared from "./document/Shared.ts"
import * as Titles from "./document/Titles.ts"
import * as WriteAnswers from "./document/WriteAnswers.ts"
import { docOfGroup, type Route } from "./Route.ts"
import { extensibleOf, roomSetsOf, setsOf } from "./Sets.ts"

export type Document = OpenAPIV3_1.Document

type Operation = OpenApi.OpenAPISpecOperation

/**
 * Corrects the generated document of routes, by the catalogue that they were made of. Examples are at their
 * places, and put in when the document is printed (`Examples.putIn`).
 */
export const document = (
  spec: OpenApi.OpenAPISpec,
  routes: ReadonlyArray<Route>,
  catalogue: Catalogue.Catalogue
): Document => {
  const firstWords = Parameters.firstWordsOf(catalogue)
  const listing = Schemas.listing(roomSetsOf(catalogue))
  const inputs = routes.flatMap((route) => inputOf(operationAt(spec, route), route))
  for (const route of routes) {
    const operation = operationAt(spec, route)
    mendOperation(operation, route, { catalogue, firstWords })
    mendBody(operation, route, jsonOf(spec.components.schemas))
  }
  const { schemas: generated, ...components } = spec.components
  const unique = Schemas.withoutDoubles(
    Schemas.components(
      Schemas.nullable(walkObject(jsonOf(generated), listing)),
      extensibleOf(setsOf(catalogue))
    )
  )
  const paths = Schemas.nullable(walkObject(jsonOf(spec.paths), listing))
  const shown = walk(paths, unique.redirect)
  const componentSchemas = walk(
    walk(unique.schemas, unique.redirect),
    Conditions.withNames(catalogue.conditions)
  )
  if (!isObject(shown) || !isObject(componentSchemas)) throw new Error("a document of no objects")
  const writes = inputs.map(({ answer, input, route }) => ({
    route,
    answer: componentOf(unique.redirect({ $ref: `#/components/schemas/${answer}` })) ?? answer,
    input: objectOf(walk(Schemas.nullable(walkObject(input, listing)), unique.redirect))
  }))
  const { bodies, schemas, sent } = WriteAnswers.make(componentSchemas, writes)
  const called = Shared.eachOperation(shown, (operation) => withBody(operation, bodies))
  const answers = Answers.components(routes, { writes, table: catalogue.refusals })
  const sided = Schemas.bySide(schemas, {
    requestBodies: Shared.operationsOf(called).map(({ parameters, requestBody }) => ({
      parameters,
      requestBody
    })),
    answerBodies: [
      ...Shared.operationsOf(called).map(({ responses }) => ({ responses })),
      jsonOf(Deliveries.webhooks),
      jsonOf(answers)
    ],
    sent
  })
  const points = Shared.points(called)
  const scalars = Shared.scalars({
    paths: points.paths,
    schemas: { ...sided, ...points.schemas }
  })
  const inner = Parts.inner(scalars, Shared.eachBody)
  const parts = Shared.parameters(inner.paths, jsonOf(Parameters.shared))
  const calls = Shared.requestBodies(withExamples(parts.paths, routes))
  return {
    ...spec,
    info: { ...spec.info, contact: { name: "The operating party, called the venue" } },
    tags: spec.tags.map((tag) => ({ ...tag, description: docOfGroup(tag.name, catalogue) })),
    security: Security.everywhere,
    // The walk keeps what the generator typed as paths, and knows it as JSON alone.
    paths: calls.paths as OpenAPIV3_1.PathsObject,
    webhooks: { ...Deliveries.webhooks },
    components: {
      ...components,
      headers: Answers.headers,
      examples: Examples.ofRefusals(jsonOf(answers)) as Record<string, OpenAPIV3_1.ExampleObject>,
      responses: Object.fromEntries(
        Object.entries(answers).map(([name, answer]) => [
          name,
          Examples.ofShared(
            jsonOf(answer),
            routes.find((route) => route.name === name)
          )
        ])
      ) as Record<string, OpenAPIV3_1.ReferenceObject>,
      requestBodies: calls.requestBodies as Record<string, OpenAPIV3_1.ReferenceObject>,
      parameters: { ...parts.parameters } as Record<string, OpenAPIV3_1.ReferenceObject>,
      securitySchemes: { ...Security.schemes },
      schemas: Schemas.typed(Shared.sorted(Parts.shared(Shared.extended(inner.schemas)))) as Record<
        string,
        OpenAPIV3_1.SchemaObject
      >
    }
  } satisfies Document
}

/** The body of a write is declared once, for its call and for its answer. */
const withBody = (operation: JsonObject, bodies: ReadonlyMap<string, JsonObject>): JsonObject => {
  const schema = bodies.get(String(operation.operationId))
  if (schema === undefined) return operation
  const requestBody = objectOf(operation.requestBody)
  return {
    ...operation,
    requestBody: { ...requestBody, content: { [Body.mediaType]: { schema } } }
  }
}

const withExamples = (paths: JsonObject, routes: ReadonlyArray<Route>): JsonObject => {
  const byName = new Map(routes.map((route) => [route.name, route]))
  return Shared.eachOperation(paths, (operation) => {
    const route = byName.get(String(operation.operationId))
    return route === undefined ? operation : Examples.ofOperation(operation, route)
  })
}

/** The whole input of a write, as it was generated: the ids of its path and the members of its body. */
const inputOf = (operation: Operation, route: Route): ReadonlyArray<WriteAnswers.WriteInput> => {
  if (route.answers.with !== "write") return []
  const answered = operation.responses[202]?.content?.[Body.mediaType]?.schema
  const answer = answered === undefined ? undefined : componentOf(jsonOf(answered))
  if (answer === undefined) throw new Error(`${route.name} answers no record of its own`)
  const body = operation.requestBody?.content[Body.mediaType]
  const ids = Object.fromEntries(route.path.names.map((name) => [name, { type: "string" }]))
  return [
    {
      route,
      answer,
      input:
        body === undefined
          ? { type: "object", properties: ids, required: route.path.names }
          : jsonOf(body.schema)
    }
  ]
}

const operationAt = (spec: OpenApi.OpenAPISpec, { path }: Route): Operation => {
  const item = spec.paths[path.template]
  const operation = item?.[methodOf[path.method]]
  if (operation === undefined) throw new Error(`the document lacks ${path.method} ${path.template}`)
  return operation
}

const methodOf = { GET: "get", POST: "post", DELETE: "delete" } as const

const mendOperation = (
  operation: Operation,
  route: Route,
  {
    catalogue,
    firstWords
  }: {
    readonly catalogue: Catalogue.Catalogue
    readonly firstWords: ReturnType<typeof Parameters.firstWordsOf>
  }
): void => {
  const { admits, answers } = route
  Object.assign(operation, {
    operationId: route.name,
    summary: Titles.of(route.name),
    description: route.doc,
    security: Security.of(admits),
    parameters: Parameters.of(operation, route, firstWords),
    "x-roles": admits.by === "anyone" ? [] : admits.by === "approver" ? ["approver"] : admits.roles,
    ...(answers.with === "write"
      ? {
          "x-approvers": answers.operation.approvers,
          "x-slow": "operation",
          ...conditionsOf(answers.operation)
        }
      : {}),
    ...(answers.with === "list" ? { "x-order": answers.read.order } : {})
  })
  const table = catalogue.refusals
  Answers.mend(operation, route, { problems: Refusals.of(route, table), table })
}

/** Conditions that a refusal of a write may name; a write without any has no such member. */
const conditionsOf = (operation: Write.Operation) => {
  const conditions = CallRefusals.conditionsOf(operation)
  return conditions.length === 0 ? {} : { "x-conditions": conditions }
}

/** Body of a route that takes a file: its bytes as they are, in one of several media types. */
const bodyOf = ({ mediaTypes }: NonNullable<Route["file"]>) => ({
  required: true,
  description:
    "The file itself, uncompressed; a charset parameter, where one is sent, agrees with its bytes. " +
    "The deployment limits its size, the number of its lines and the time it takes.",
  content: Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, fileSchemaOf(mediaType)]))
})

/** Schema of a file of a media type: JSON is an object on the wire, everything else is bytes. */
const fileSchemaOf = (mediaType: string) => ({
  schema: mediaType === Body.mediaType ? { type: "object" } : { type: "string", format: "binary" }
})

/** Removes from the documented body the input members that the path or If-Match names. */
const mendBody = (
  operation: Operation,
  { answers, file, path }: Route,
  schemas: JsonObject
): void => {
  if (file !== undefined) {
    Object.assign(operation, { requestBody: bodyOf(file), "x-streamed": true })
    return
  }
  const content = operation.requestBody?.content[Body.mediaType]
  if (operation.requestBody === undefined || content === undefined) return
  const input = jsonOf(content.schema)
  const component = componentOf(input)
  const shape = Schemas.struct(component === undefined ? input : objectOf(schemas[component]))
  if (!isObject(shape.properties)) return
  const ifMatch = answers.with === "write" ? answers.operation.ifMatch : undefined
  const elsewhere = new Set([...path.names, ...(ifMatch === undefined ? [] : [ifMatch])])
  const properties = Object.fromEntries(
    Object.entries(shape.properties).filter(([name]) => !elsewhere.has(name))
  )
  const required = isArray(shape.required)
    ? shape.required.filter((name) => typeof name !== "string" || !elsewhere.has(name))
    : []
  Object.assign(operation.requestBody, { required: required.length > 0 })
  if (component !== undefined) return
  Object.assign(content, {
    schema: {
      ...shape,
      properties,
      ...(required.length === 0 ? { required: undefined } : { required })
    }
  })
}
