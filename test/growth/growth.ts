/**
 * Growth check: compares two documents of the interface and lists the promises of the older one
 * that the newer one breaks.
 */

export type Json =
  | null
  | boolean
  | number
  | string
  | ReadonlyArray<Json>
  | { readonly [name: string]: Json }
type JsonObject = { readonly [name: string]: Json }

const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)
const objectOf = (json: Json | undefined): JsonObject => (isObject(json) ? json : {})
const listOf = (json: Json | undefined): ReadonlyArray<Json> => (Array.isArray(json) ? json : [])

/** Side of a shape: members that a caller may send, or members that it is answered. */
type Side = "asked" | "answered"

interface Pair {
  readonly old: JsonObject
  readonly new: JsonObject
}

/**
 * Every breach of docs/contract/growth.md#within-a-version: a removed path, method, parameter,
 * answer field, set value or status; a request field newly required; a changed closed set; a
 * narrowed pattern or limit. An empty list: a client of the old document may use the new one.
 */
export const breaches = (older: Json, newer: Json): ReadonlyArray<string> => {
  const documents = { old: objectOf(older), new: objectOf(newer) }
  const said: Array<string> = []
  const compare = comparing(documents, (breach) => void said.push(breach))
  const paths = (document: JsonObject) => objectOf(document["paths"])
  for (const [path, item] of Object.entries(paths(documents.old))) {
    const now = objectOf(paths(documents.new)[path])
    for (const [method, operation] of Object.entries(objectOf(item))) {
      const where = `${method.toUpperCase()} ${path}`
      if (now[method] === undefined) said.push(`${where} is gone`)
      else compare.operation({ old: objectOf(operation), new: objectOf(now[method]) }, where)
    }
  }
  for (const [name, item] of Object.entries(objectOf(documents.old["webhooks"]))) {
    const now = objectOf(objectOf(documents.new["webhooks"])[name])
    if (now["post"] === undefined) said.push(`the webhook ${name} is gone`)
    else {
      compare.delivery({ old: objectOf(objectOf(item)["post"]), new: objectOf(now["post"]) }, name)
    }
  }
  return [...new Set(said)]
}

/** Members of a document that `breaches` does not read: words for people, and names for generators. */
const unread = [
  "example",
  "examples",
  "title",
  "x-approvers",
  "x-conditions",
  "x-order",
  "x-problems",
  "x-slow"
]

/**
 * The document without what `breaches` does not read: the baseline that a release leaves behind. It
 * stays whole enough for a generator of types: descriptions that OpenAPI asks for are empty.
 */
export const promised = (document: Json): Json => {
  const { components = {}, paths = {}, webhooks = {}, ...head } = objectOf(document)
  return { ...head, ...objectOf(read({ components, paths, webhooks })) }
}

const read = (json: Json): Json => {
  if (Array.isArray(json)) return json.map(read)
  if (!isObject(json)) return json
  return Object.fromEntries(
    Object.entries(json)
      // A member of a record may be called so too; it is described by an object.
      .filter(([name, value]) => !unread.includes(name) || isObject(value))
      .map(([name, value]) =>
        name === "description" && typeof value === "string" ? [name, ""] : [name, read(value)]
      )
  )
}

const comparing = (documents: Pair, say: (breach: string) => void) => {
  const deref = (which: keyof Pair, json: Json | undefined): JsonObject => {
    const object = objectOf(json)
    const { $ref } = object
    if (typeof $ref !== "string") return object
    const found = $ref
      .slice(2)
      .split("/")
      .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
      .reduce<Json | undefined>((at, name) => objectOf(at)[name], documents[which])
    return deref(which, found)
  }

  /**
   * The shape that a schema says, in one object: of the parts of an `allOf`, the later ones say of a
   * member what it is more closely; a choice between one shape and null is that shape, or null.
   */
  const shapeOf = (which: keyof Pair, json: Json | undefined): JsonObject => {
    const { allOf, anyOf, ...object } = deref(which, json)
    if (Array.isArray(allOf)) {
      const parts = allOf.map((part) => shapeOf(which, part))
      return {
        ...object,
        type: "object",
        properties: Object.assign({}, ...parts.map((part) => objectOf(part["properties"]))),
        required: [...new Set(parts.flatMap((part) => listOf(part["required"])))]
      }
    }
    const [first, second, ...others] = listOf(anyOf)
    const isNullable = objectOf(second)["type"] === "null" && others.length === 0
    const alone = isNullable ? shapeOfOne(which, first) : undefined
    if (alone === undefined) return anyOf === undefined ? object : { ...object, anyOf }
    return { ...object, ...alone, type: [...[alone["type"] ?? []].flat(), "null"] }
  }

  /**
   * A scalar or a shape with members, which may be null by its list of types as well as by a choice. A set
   * of words stays a choice: its words are compared there.
   */
  const shapeOfOne = (which: keyof Pair, json: Json | undefined): JsonObject | undefined => {
    const { enum: words, type, "x-extensible": isOpen } = deref(which, json)
    if (words !== undefined || isOpen === true) return undefined
    if (type === "string" || type === "number" || type === "integer") return deref(which, json)
    const shape = shapeOf(which, json)
    return isObject(shape["properties"]) ? shape : undefined
  }

  const both = (pair: {
    readonly old: Json | undefined
    readonly new: Json | undefined
  }): Pair => ({
    old: deref("old", pair.old),
    new: deref("new", pair.new)
  })
  const bothShapes = (pair: {
    readonly old: Json | undefined
    readonly new: Json | undefined
  }): Pair => ({
    old: shapeOf("old", pair.old),
    new: shapeOf("new", pair.new)
  })

  const operation = (pair: Pair, where: string): void => {
    parameters(pair, where)
    body(pair, where)
    responses(pair, where)
    const roles = (one: JsonObject) => listOf(one["x-roles"]).map(String)
    for (const role of roles(pair.old)) {
      if (!roles(pair.new).includes(role)) say(`${where} no longer admits ${role}`)
    }
  }

  const parameters = (pair: Pair, where: string): void => {
    const parametersOf = (which: keyof Pair) =>
      new Map(
        listOf(pair[which]["parameters"]).map((one) => {
          const parameter = deref(which, one)
          return [`${String(parameter["in"])} ${String(parameter["name"])}`, parameter] as const
        })
      )
    const [old, now] = [parametersOf("old"), parametersOf("new")]
    for (const [name, parameter] of old) {
      const then = now.get(name)
      const at = `${where}, ${name}`
      if (then === undefined) say(`${at} is gone`)
      else {
        if (then["required"] === true && parameter["required"] !== true)
          say(`${at} is now required`)
        shape({ old: parameter["schema"], new: then["schema"] }, at, "asked", new Set())
      }
    }
    for (const [name, parameter] of now) {
      if (!old.has(name) && parameter["required"] === true)
        say(`${where}, ${name} is new and required`)
    }
  }

  const body = (pair: Pair, where: string): void => {
    const bodyOf = (which: keyof Pair) => deref(which, pair[which]["requestBody"])
    const [old, now] = [bodyOf("old"), bodyOf("new")]
    if (now["required"] === true && old["required"] !== true)
      say(`${where}, the body is now required`)
    media({ old, new: now }, `${where}, the body`, "asked")
  }

  const media = (pair: Pair, where: string, side: Side): void => {
    for (const [form, one] of Object.entries(objectOf(pair.old["content"]))) {
      const then = objectOf(pair.new["content"])[form]
      if (then === undefined) say(`${where} as ${form} is gone`)
      else {
        const schemas = { old: objectOf(one)["schema"], new: objectOf(then)["schema"] }
        shape(schemas, where, side, new Set())
      }
    }
  }

  const responses = (pair: Pair, where: string): void => {
    const now = objectOf(pair.new["responses"])
    for (const [status, one] of Object.entries(objectOf(pair.old["responses"]))) {
      const at = `${where}, answer ${status}`
      if (now[status] === undefined) {
        say(`${at} is gone`)
        continue
      }
      const answers = both({ old: one, new: now[status] })
      for (const name of Object.keys(objectOf(answers.old["headers"]))) {
        if (objectOf(answers.new["headers"])[name] === undefined)
          say(`${at}, header ${name} is gone`)
      }
      media(answers, at, "answered")
    }
  }

  const delivery = (pair: Pair, name: string): void => {
    const where = `the webhook ${name}`
    const headers = (one: JsonObject) =>
      listOf(one["parameters"]).map((parameter) => String(objectOf(parameter)["name"]))
    for (const header of headers(pair.old)) {
      if (!headers(pair.new).includes(header)) say(`${where}, header ${header} is gone`)
    }
    // Here the direction is reversed: the engine posts, and the receiver relies on the posted body.
    const posted = {
      old: objectOf(pair.old["requestBody"]),
      new: objectOf(pair.new["requestBody"])
    }
    media(posted, `${where}, the event`, "answered")
  }

  const shape = (
    pair: { readonly old: Json | undefined; readonly new: Json | undefined },
    where: string,
    side: Side,
    seen: ReadonlySet<string>
  ): void => {
    const [first] = listOf(objectOf(pair.old)["anyOf"])
    const name = objectOf(pair.old)["$ref"] ?? objectOf(first)["$ref"]
    // A shape that holds itself is compared once.
    if (typeof name === "string" && seen.has(name)) return
    const within = typeof name === "string" ? new Set([...seen, name]) : seen
    const { new: now, old } = bothShapes(pair)
    types({ old, new: now }, where, side)
    sets({ old, new: now }, where, side)
    limits({ old, new: now }, where, side)
    members({ old, new: now }, where, side, within)
    if (old["items"] !== undefined) {
      shape({ old: old["items"], new: now["items"] }, `${where}[]`, side, within)
    }
    if (!isSet(old)) choices({ old, new: now }, where, side, within)
  }

  const types = (pair: Pair, where: string, side: Side): void => {
    // A set that may grow is text, whichever words are listed; what is asked of it, `sets` compares.
    const wordsOf = (one: JsonObject) =>
      one["type"] === undefined
        ? one["x-extensible"] === true
          ? ["string"]
          : null
        : [one["type"]].flat().map(String)
    const [old, now] = [wordsOf(pair.old), wordsOf(pair.new)]
    if (old === null && now === null) return
    // A caller may send its old requests, and gets no answer that it did not know.
    const [narrow, wide] = side === "asked" ? [old, now] : [now, old]
    if (wide === null) return
    if (narrow === null) return void say(`${where} has another type`)
    const strange = narrow.filter(
      (type) => !wide.includes(type) && !(type === "integer" && wide.includes("number"))
    )
    if (strange.length > 0) say(`${where} has another type`)
  }

  const isSet = (one: JsonObject) => one["x-extensible"] === true || Array.isArray(one["enum"])

  const valuesOf = (one: JsonObject): ReadonlyArray<Json> =>
    one["x-extensible"] === true
      ? listOf(objectOf(listOf(one["anyOf"])[0])["enum"])
      : listOf(one["enum"])

  const sets = (pair: Pair, where: string, side: Side): void => {
    if (!isSet(pair.old)) {
      if (isSet(pair.new) && side === "asked") say(`${where} takes only listed values now`)
      return
    }
    const [old, now] = [valuesOf(pair.old), valuesOf(pair.new)]
    // An answer that is always one of the words of the set says so.
    const constant = pair.new["const"]
    if (side === "answered" && constant !== undefined && old.includes(constant)) return
    if (!isSet(pair.new))
      return void (side === "answered" ? say(`${where} is no set now`) : undefined)
    for (const value of old) if (!now.includes(value)) say(`${where}: the value ${value} is gone`)
    const [wasOpen, isOpen] = [pair.old, pair.new].map((one) => one["x-extensible"] === true)
    if (wasOpen !== isOpen) say(`${where}: the set is ${isOpen ? "open" : "closed"} now`)
    if (wasOpen === true) return
    for (const value of now)
      if (!old.includes(value)) say(`${where}: the closed set gained ${value}`)
  }

  const limits = (pair: Pair, where: string, side: Side): void => {
    for (const [name, narrows] of Object.entries(narrowing)) {
      // The words of the set say what a constant may be.
      if (name === "const" && side === "answered" && isSet(pair.old)) continue
      const [old, now] = [pair.old[name], pair.new[name]]
      // An answer may have more members than before, never fewer.
      const [from, to] = side === "asked" ? [old, now] : [now, old]
      if (to !== undefined && (from === undefined || narrows(from, to))) {
        say(`${where}: ${name} is ${side === "asked" ? "narrower" : "wider"}`)
      }
    }
  }

  const members = (pair: Pair, where: string, side: Side, seen: ReadonlySet<string>): void => {
    const [old, now] = [objectOf(pair.old["properties"]), objectOf(pair.new["properties"])]
    const required = (one: JsonObject) => listOf(one["required"]).map(String)
    for (const [name, member] of Object.entries(old)) {
      const at = `${where}.${name}`
      if (now[name] === undefined) say(`${at} is gone`)
      else {
        shape({ old: member, new: now[name] }, at, side, seen)
        if (side === "answered" && required(pair.old).includes(name)) {
          if (!required(pair.new).includes(name)) say(`${at} may lack now`)
        }
      }
    }
    if (side === "answered") return
    for (const name of required(pair.new)) {
      if (!required(pair.old).includes(name)) say(`${where}.${name} is now required`)
    }
  }

  const choices = (pair: Pair, where: string, side: Side, seen: ReadonlySet<string>): void => {
    const [old, now] = [listOf(pair.old["anyOf"]), listOf(pair.new["anyOf"])]
    if (side === "asked" && now.length < old.length) say(`${where} has fewer forms`)
    if (side === "answered" && old.length > 0 && now.length > old.length) {
      say(`${where} has more forms`)
    }
    for (const [i, one] of old.entries()) {
      if (now[i] !== undefined) shape({ old: one, new: now[i] }, where, side, seen)
    }
  }
  return { operation, delivery }
}

const above = (from: Json, to: Json) => Number(to) > Number(from)
const below = (from: Json, to: Json) => Number(to) < Number(from)
const differs = (from: Json, to: Json) => JSON.stringify(from) !== JSON.stringify(to)

/** Constraints by keyword: true if the second value permits less than the first. */
const narrowing: Readonly<Record<string, (from: Json, to: Json) => boolean>> = {
  minimum: above,
  maximum: below,
  exclusiveMinimum: above,
  exclusiveMaximum: below,
  minLength: above,
  maxLength: below,
  minItems: above,
  maxItems: below,
  pattern: differs,
  format: differs,
  const: differs
}
