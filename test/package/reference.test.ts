/** The reference of the public surface: a sentence for every name, and examples that run. */
import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../architecture/sources.ts"
import { type PublicName, publicNames } from "./public-names.ts"

const names: ReadonlyArray<PublicName> = publicNames(
  globSync("packages/*/package.json", { cwd: root })
    .toSorted()
    .map((path) => {
      const { exports } = JSON.parse(readFileSync(join(root, path), "utf8"))
      return [dirname(path), exports] as const
    })
)

/** Whether a declaration has its sentence as data, as a set of words or a metric does. */
const saysItself = ({ text }: PublicName): boolean =>
  /^export const \w+ = [\w.]+\(\s*"[\w.]+",\s*(?:\{\s*description:\s*)?"[A-Z]\w* [^"]+/u.test(text)

/** Names that programs use most, by their calls in packages, tests and examples. */
const mostUsed: Readonly<Record<string, ReadonlyArray<string>>> = {
  Decimal: [
    ...["of", "format", "formatPlain", "formatPlaces", "fromInteger", "fromAtoms", "atoms"],
    ...["add", "subtract", "sum", "atMost", "isPositive", "isZero"]
  ],
  Instant: [
    ...["of", "format", "sortable", "add", "fromNanos", "fromEpochMillis", "toEpochMillis"]
  ],
  Duration: ["of", "millis", "seconds"],
  Zone: ["of", "dateAt"],
  Date: ["of"],
  Month: ["of"],
  Rational: ["of"],
  Offset: ["of"],
  Party: ["of"],
  PlainJson: ["parse", "stringify"],
  Refusal: ["refused"],
  Template: ["create", "exercise"],
  Venue: ["make", "memory"],
  OpenVenue: ["open"]
}

const fence = /@example\s+```ts\n(?<code>[\s\S]*?)```/gu

const examples: ReadonlyArray<readonly [name: string, code: string]> = names.flatMap(
  ({ comment, name, path }) =>
    [...(comment ?? "").matchAll(fence)].map(
      ({ groups }) => [`${path} ${name}`, groups?.["code"] ?? ""] as const
    )
)

/** The body of a program: imports are loaded, and `value // => expected` is compared. */
const programOf = (code: string): string =>
  code
    .replaceAll(/^import \{(?<names>[^}]+)\} from (?<from>"[^"]+")$/gmu, (_, taken, from) => {
      return `const {${taken.replaceAll(" as ", ": ")}} = await load(${from})`
    })
    .replaceAll(/^import \* as (?<name>\w+) from (?<from>"[^"]+")$/gmu, "const $1 = await load($2)")
    .replaceAll(/^(?<value>\S.*) \/\/ => (?<expected>.*)$/gmu, ";compare(($1), ($2))")

type Program = (
  load: (from: string) => Promise<unknown>,
  compare: (value: unknown, expected: unknown) => void
) => Promise<void>

const compiled = (code: string): Program => {
  // Cast: the constructor of asynchronous functions has no name of its own.
  const Asynchronous = (async () => {}).constructor as unknown as new (
    ...text: ReadonlyArray<string>
  ) => Program
  return new Asynchronous("load", "compare", programOf(code))
}

describe("the reference", () => {
  it("has a sentence for every public name", () => {
    expect(names.length).toBeGreaterThan(1_000)
    const silent = names
      .filter((name) => name.comment === null && !saysItself(name))
      .map(({ name, path }) => `${path} ${name}`)
    expect([...new Set(silent)]).toEqual([])
  })

  it("has an example of each name that is used most", () => {
    const shown = new Set(
      names
        .filter(({ comment }) => comment?.includes("@example") === true)
        .map(({ name, path }) => `${path.replace(/^.*\//u, "").replace(".ts", "")}.${name}`)
    )
    const wanted = Object.entries(mostUsed).flatMap(([module, all]) =>
      all.map((name) => `${module}.${name}`)
    )
    expect(wanted.length).toBeGreaterThanOrEqual(30)
    expect(wanted.filter((name) => !shown.has(name))).toEqual([])
  })

  it.each(examples)("has an example of %s that says what comes of it", async (_, code) => {
    let count = 0
    await compiled(code)(
      (from) => import(from),
      (value, expected) => {
        count += 1
        expect(value).toEqual(expected)
      }
    )
    expect(count).toBeGreaterThan(0)
  })
})
