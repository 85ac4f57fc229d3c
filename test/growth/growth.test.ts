/** Growth of the interface within /v1: every promise of the last release still holds. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { breaches, type Json, promised } from "./growth.ts"

const read = (path: string): Json =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"))

const released = "../histories/openapi-v1.json"

it("breaks nothing that the last release's document promises", () => {
  expect(breaches(read(released), read("../../packages/http-host/openapi.json"))).toEqual([])
})

it("keeps of a document all that is compared", () => {
  const current = read("../../packages/http-host/openapi.json")
  expect(breaches(current, promised(current))).toEqual([])
  expect(breaches(promised(current), current)).toEqual([])
})

/** A small document that has one of everything; each change below is made to a copy of it. */
const small: Json = {
  openapi: "3.1.0",
  paths: {
    "/v1/notes": {
      get: {
        parameters: [
          {
            name: "state",
            in: "query",
            schema: { type: "array", items: { $ref: "#/components/schemas/State" } }
          },
          { name: "order", in: "query", schema: { $ref: "#/components/schemas/Order" } },
          { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 1000 } },
          { $ref: "#/components/parameters/RequestId" }
        ],
        responses: {
          "200": {
            headers: { ETag: {} },
            content: { "application/json": { schema: { $ref: "#/components/schemas/Note" } } }
          },
          "404": { $ref: "#/components/responses/absent" }
        },
        "x-roles": ["operator", "auditor"]
      },
      post: {
        parameters: [],
        requestBody: {
          content: {
            "application/json": {
              schema: {
                type: "object",
                properties: {
                  id: { type: "string", pattern: "^[a-z]+$", maxLength: 10 },
                  note: { type: ["string", "null"] }
                },
                required: ["id"]
              }
            }
          }
        },
        responses: { "202": { description: "taken" } }
      }
    }
  },
  webhooks: {
    noted: {
      post: {
        parameters: [{ name: "webhook-id", in: "header" }],
        requestBody: {
          content: { "application/json": { schema: { $ref: "#/components/schemas/Note" } } }
        }
      }
    }
  },
  components: {
    parameters: { RequestId: { name: "X-Request-Id", in: "header", schema: { type: "string" } } },
    responses: {
      absent: {
        content: {
          "application/problem+json": {
            schema: {
              type: "object",
              properties: { title: { type: "string" } },
              required: ["title"]
            }
          }
        }
      }
    },
    schemas: {
      State: {
        anyOf: [{ type: "string", enum: ["open", "shut"] }, { type: "string" }],
        "x-extensible": true
      },
      Order: { type: "string", enum: ["asc", "desc"] },
      Note: {
        type: "object",
        properties: {
          id: { type: "string" },
          state: { $ref: "#/components/schemas/State" },
          amount: { type: "number", format: "decimal" },
          author: {
            type: "object",
            properties: { name: { type: "string" } },
            required: ["name"]
          },
          editor: {
            type: ["object", "null"],
            properties: { name: { type: "string" } },
            required: ["name"]
          },
          parts: { type: "array", items: { $ref: "#/components/schemas/Note" } },
          whole: { anyOf: [{ $ref: "#/components/schemas/Note" }, { type: "null" }] }
        },
        required: ["id", "state", "amount", "author", "editor", "parts", "whole"]
      },
      Author: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
    }
  }
}

type Path = ReadonlyArray<string | number>

/** A copy with another value at a path; undefined removes the value. */
const changed = (json: Json, path: Path, value: Json | undefined): Json => {
  const [name, ...rest] = path
  if (name === undefined) return value ?? null
  if (Array.isArray(json)) {
    const list: ReadonlyArray<Json> = json
    const taken = rest.length === 0 && value === undefined
    if (taken) return list.filter((_, i) => i !== name)
    if (name === list.length) return [...list, value ?? null]
    return list.map((one, i) => (i === name ? changed(one, rest, value) : one))
  }
  const { [name]: inner, ...others } = json as { readonly [name: string]: Json }
  if (rest.length === 0 && value === undefined) return others
  return { ...others, [name]: changed(inner ?? {}, rest, value) }
}

const get: Path = ["paths", "/v1/notes", "get"]
const posted: Path = [
  "paths",
  "/v1/notes",
  "post",
  "requestBody",
  "content",
  "application/json",
  "schema"
]
const schemas: Path = ["components", "schemas"]

type Change = readonly [what: string, path: Path, value: Json | undefined]

const broken: ReadonlyArray<Change> = [
  [
    "a number of an answer that is a word of a set now",
    [...schemas, "Note", "properties", "amount"],
    { $ref: "#/components/schemas/State" }
  ],
  ["a path that is gone", ["paths", "/v1/notes"], undefined],
  ["a method that is gone", get, undefined],
  ["a parameter that is gone", [...get, "parameters", 1], undefined],
  ["a shared parameter that is gone", [...get, "parameters", 3], undefined],
  ["a parameter newly required", [...get, "parameters", 2, "required"], true],
  [
    "a new parameter that is required",
    [...get, "parameters", 4],
    { name: "zone", in: "query", required: true }
  ],
  ["a lower limit", [...get, "parameters", 2, "schema", "maximum"], 500],
  ["a higher least", [...get, "parameters", 2, "schema", "minimum"], 2],
  ["a status that is gone", [...get, "responses", "404"], undefined],
  [
    "a form of an answer that is gone",
    [...get, "responses", "200", "content", "application/json"],
    undefined
  ],
  ["an answer's header that is gone", [...get, "responses", "200", "headers", "ETag"], undefined],
  ["a role no longer admitted", [...get, "x-roles", 1], undefined],
  ["an answer's field that is gone", [...schemas, "Note", "properties", "amount"], undefined],
  [
    "a refusal's field that is gone",
    [
      "components",
      "responses",
      "absent",
      "content",
      "application/problem+json",
      "schema",
      "properties",
      "title"
    ],
    undefined
  ],
  ["an answer's field that may lack", [...schemas, "Note", "required", 2], undefined],
  [
    "an answer's field of another type",
    [...schemas, "Note", "properties", "amount", "type"],
    "string"
  ],
  [
    "an answer's field that may be null",
    [...schemas, "Note", "properties", "id", "type"],
    ["string", "null"]
  ],
  [
    "an answer's field of another format",
    [...schemas, "Note", "properties", "amount", "format"],
    undefined
  ],
  ["a value of a set that is gone", [...schemas, "State", "anyOf", 0, "enum"], ["open"]],
  ["a closed set that gained a value", [...schemas, "Order", "enum", 2], "none"],
  ["a closed set that lost a value", [...schemas, "Order", "enum", 0], undefined],
  [
    "a closed set that is opened",
    [...schemas, "Order"],
    { anyOf: [{ type: "string", enum: ["asc", "desc"] }, { type: "string" }], "x-extensible": true }
  ],
  ["an open set of another type", [...schemas, "State", "type"], "integer"],
  ["an open set that may be null", [...schemas, "State", "type"], ["string", "null"]],
  ["an open set that is closed", [...schemas, "State"], { type: "string", enum: ["open", "shut"] }],
  ["a body's field newly required", [...posted, "required", 1], "note"],
  [
    "a new field of a body that is required",
    posted,
    {
      type: "object",
      properties: {
        id: { type: "string", pattern: "^[a-z]+$", maxLength: 10 },
        note: { type: ["string", "null"] },
        more: {}
      },
      required: ["id", "more"]
    }
  ],
  ["a body's field that is gone", [...posted, "properties", "note"], undefined],
  ["a body that is now required", ["paths", "/v1/notes", "post", "requestBody", "required"], true],
  ["another pattern", [...posted, "properties", "id", "pattern"], "^[a-f]+$"],
  [
    "a field of an answer that is gone from one of its parts",
    [...schemas, "Note"],
    {
      allOf: [
        { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
        { type: "object", properties: { amount: { type: "number" } }, required: ["amount"] }
      ]
    }
  ],
  [
    "an answer that is always a word which the set does not have",
    [...schemas, "Note", "properties", "state"],
    { type: "string", const: "ajar" }
  ],
  [
    "a field of an answer that may be null by a choice",
    [...schemas, "Note", "properties", "id"],
    { anyOf: [{ type: "string" }, { type: "null" }] }
  ],
  [
    "an object of an answer that may be null by a choice",
    [...schemas, "Note", "properties", "author"],
    { anyOf: [{ $ref: "#/components/schemas/Author" }, { type: "null" }] }
  ],
  [
    "a member that is gone from an object that may be null by a choice",
    [...schemas, "Note", "properties", "editor"],
    {
      anyOf: [
        { type: "object", properties: { role: { type: "string" } }, required: ["role"] },
        { type: "null" }
      ]
    }
  ],
  ["a shorter text", [...posted, "properties", "id", "maxLength"], 5],
  ["a least length", [...posted, "properties", "note", "minLength"], 1],
  ["a field that takes null no more", [...posted, "properties", "note", "type"], "string"],
  ["a webhook that is gone", ["webhooks", "noted"], undefined],
  ["a webhook's header that is gone", ["webhooks", "noted", "post", "parameters", 0], undefined]
]

describe("the growth check", () => {
  it.each(broken)("never would miss %s", (_, path, value) => {
    expect(breaches(small, changed(small, path, value))).not.toEqual([])
  })
  it.each(broken)("never would miss %s, where only the baseline is kept", (_, path, value) => {
    const older = promised(small)
    const newer = changed(small, path, value)
    expect(breaches(older, newer)).toEqual(breaches(small, newer))
  })

  const grown: ReadonlyArray<Change> = [
    ["nothing", ["openapi"], "3.1.0"],
    ["a new route", ["paths", "/v1/more"], { get: { responses: {} } }],
    ["a new method", ["paths", "/v1/notes", "delete"], { responses: {} }],
    ["a new parameter that may lack", [...get, "parameters", 4], { name: "zone", in: "query" }],
    ["a new status", [...get, "responses", "429"], {}],
    ["a new header", [...get, "responses", "200", "headers", "Sunset"], {}],
    ["a new role", [...get, "x-roles", 2], "risk"],
    ["a new field of an answer", [...schemas, "Note", "properties", "more"], { type: "string" }],
    [
      "text of an answer whose words are listed now, in a set that may grow",
      [...schemas, "Note", "properties", "id"],
      { $ref: "#/components/schemas/State" }
    ],
    ["the type of an open set, which says it itself now", [...schemas, "State", "type"], "string"],
    ["a new value of an open set", [...schemas, "State", "anyOf", 0, "enum", 2], "ajar"],
    ["a new field of a body that may lack", [...posted, "properties", "more"], { type: "string" }],
    ["a field of a body that may lack now", [...posted, "required", 0], undefined],
    ["a longer text", [...posted, "properties", "id", "maxLength"], 20],
    [
      "a field of a body that takes null too",
      [...posted, "properties", "id", "type"],
      ["string", "null"]
    ],
    ["a higher limit", [...get, "parameters", 2, "schema", "maximum"], 2000],
    ["other words", [...schemas, "Note", "description"], "What somebody noted."],
    [
      "members of an answer that several answers share",
      [...schemas, "Note"],
      {
        allOf: [
          {
            type: "object",
            properties: {
              id: { type: "string" },
              state: { $ref: "#/components/schemas/State" },
              author: { $ref: "#/components/schemas/Author" },
              editor: { anyOf: [{ $ref: "#/components/schemas/Author" }, { type: "null" }] },
              parts: { type: "array", items: { $ref: "#/components/schemas/Note" } },
              whole: { anyOf: [{ $ref: "#/components/schemas/Note" }, { type: "null" }] }
            },
            required: ["id", "state", "author", "editor", "parts", "whole"]
          },
          {
            type: "object",
            properties: { amount: { type: "number", format: "decimal" } },
            required: ["amount"]
          }
        ]
      }
    ],
    [
      "an answer that always is one of the words of an open set",
      [...schemas, "Note", "properties", "state"],
      { type: "string", const: "shut" }
    ],
    [
      "an object that may be null by a choice, and has a name now",
      [...schemas, "Note", "properties", "editor"],
      { anyOf: [{ $ref: "#/components/schemas/Author" }, { type: "null" }] }
    ],
    [
      "an object that has a name now",
      [...schemas, "Note", "properties", "author"],
      { $ref: "#/components/schemas/Author" }
    ],
    [
      "a field that takes null by a choice",
      [...posted, "properties", "note"],
      { anyOf: [{ type: "string" }, { type: "null" }] }
    ]
  ]
  it.each(grown)("never would be red for %s", (_, path, value) => {
    expect(breaches(small, changed(small, path, value))).toEqual([])
  })
})
