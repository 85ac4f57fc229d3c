/**
 * Examples of bodies and answers, taken from stories that were played (`test/document`): each is the text
 * that a host answered, digit for digit.
 */
import { Catalogue, Refusal } from "@bursar/engine-core"
import * as Problem from "../Problem.ts"
import type { Route } from "../Route.ts"
import { texts } from "./ExampleTexts.ts"
import { isArray, isObject, type Json, type JsonObject, objectOf } from "./Json.ts"

/**
 * Examples are placed by their names, and put in as texts when the document is printed: a number of
 * theirs is no double at any time.
 */
const mark = "\u0001"

const placed = (name: string): { readonly example?: string } => {
  const text = texts[name]
  return text === undefined
    ? {}
    : { example: `${mark}${firstNames.get(keyOf(name, text)) ?? name}` }
}

const refusedSuffix = " refused"

/** Puts the examples into the text of a document. */
export const putIn = (text: string): string =>
  text.replaceAll(/"\\u0001([^"]+)"/g, (_, name: string) => printed(name))

const printed = (name: string): string => {
  const text = texts[name]
  if (text !== undefined) return isJson(name) ? text : JSON.stringify(text)
  return JSON.stringify(refusalOf(name.slice(0, -refusedSuffix.length) as Refusal.BuiltInSlug))
}

/** Files are texts in the document, but for those of JSON. */
const isJson = (name: string): boolean => !/ (?:text\/csv|text\/xml|application\/xml)$/.test(name)

/** A refusal that no story meets, such as that of a venue without its database, as it is answered. */
const refusalOf = (slug: Refusal.BuiltInSlug): Problem.Problem =>
  Problem.from(
    Refusal.refused(slug, Refusal.refusals[slug].retryable ? { retryAfter: 1 } : {}),
    "req-2026-07-31-0001"
  )

/** Whether a route is this engine's own: a room of a venue may declare another one of its name. */
const isOwn = ({ answers }: Route): boolean => {
  if (answers.with === "hand") return true
  return answers.with === "write"
    ? Catalogue.operations.some((operation) => operation === answers.operation)
    : Catalogue.queries.some((read) => read === answers.read)
}

/** Adds examples to the body and the answers of a route's operation. */
export const ofOperation = (operation: JsonObject, route: Route): JsonObject => {
  if (!isOwn(route)) return operation
  const { requestBody, responses, ...rest } = operation
  const shown = Object.entries(objectOf(responses)).map(([status, answer]) => [
    status,
    inContent(
      answer,
      (media) => `${route.name} ${status}${media.endsWith("json") ? "" : ` ${media}`}`
    )
  ])
  return {
    ...rest,
    ...(requestBody === undefined
      ? {}
      : {
          requestBody: inContent(requestBody, (media) =>
            route.file === undefined ? `${route.name} body` : `${route.name} body ${media}`
          )
        }),
    responses: Object.fromEntries(shown)
  }
}

/** Adds an example to an answer that several routes share: that of a kind of write, or a refusal. */
export const ofShared = (answer: JsonObject, route: Route | undefined): JsonObject => {
  const slug = slugOf(answer)
  if (slug !== undefined) return referring(answer, slug)
  return route === undefined || !isOwn(route)
    ? answer
    : inContent(answer, () => `${route.name} answer`)
}

/** A file is a text, and prints otherwise than the JSON of the same bytes. */
const keyOf = (name: string, text: string): string => `${isJson(name)} ${text}`

/** The first of the names whose texts are the same: answers that are alike then look alike. */
const firstNames = new Map(
  Object.entries(texts)
    .toReversed()
    .map(([name, text]) => [keyOf(name, text), name])
)

/** Refers from an answer that may have several slugs to the example of one of them. */
const referring = (answer: JsonObject, slug: string): JsonObject => ({
  ...answer,
  content: Object.fromEntries(
    Object.entries(objectOf(answer.content)).map(([media, shown]) => [
      media,
      {
        ...objectOf(shown),
        examples: { [slug]: { $ref: `#/components/examples/${slug}` } }
      }
    ])
  )
})

/** Components of the examples that the refusals of these answers refer to. */
export const ofRefusals = (answers: JsonObject): JsonObject => {
  const slugs = Object.values(answers).flatMap((answer) => slugOf(objectOf(answer)) ?? [])
  return Object.fromEntries(
    [...new Set(slugs)]
      .toSorted()
      .map((slug) => [slug, { value: `${mark}${slug}${refusedSuffix}` }])
  )
}

/** The slug by which an answer of several is shown: the first that is no room's own. */
const slugOf = (answer: JsonObject): string | undefined => {
  const slugs = answer["x-problems"]
  return isArray(slugs)
    ? slugs.map(String).find((slug) => Object.hasOwn(Refusal.refusals, slug))
    : undefined
}

const inContent = (holder: Json | undefined, nameOf: (media: string) => string): JsonObject => {
  if (!isObject(holder) || !isObject(holder.content)) return objectOf(holder)
  const content = Object.entries(holder.content).map(([media, shown]) => [
    media,
    { ...objectOf(shown), ...placed(nameOf(media)) }
  ])
  return { ...holder, content: Object.fromEntries(content) }
}
