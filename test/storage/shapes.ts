/** Statements whose answer is known before they are asked, in many texts with unlike columns. */
import { type Random, randomOf } from "./chunks.ts"
import * as Values from "#adapters/storage/postgres/Values.ts"
import type { Row } from "#adapters/storage/postgres/Values.ts"

export interface Shape {
  readonly sql: string
  readonly parameters: ReadonlyArray<unknown>
  readonly rows: ReadonlyArray<Row>
}

interface Kind {
  readonly type: string
  readonly draw: (random: Random) => { readonly given: unknown; readonly answered: unknown }
}

const same = (value: unknown) => ({ given: value, answered: value })
const WORDS = ["", "a", "Zürich", "漢字かな", "0/174B5E0", "😀😀"]
const wordOf = (random: Random) => `${WORDS[random(WORDS.length)]}${"é".repeat(random(40))}`
const wholeOf = (random: Random) =>
  random(2) === 0 ? random(300) - 150 : random(2 ** 31) - 2 ** 30

/** Bytes of one kind are seldom bytes of another: a value read as a neighbour's type stands out. */
const KINDS: ReadonlyArray<Kind> = [
  { type: "text", draw: (random) => same(wordOf(random)) },
  {
    type: "int8",
    draw: (random) => {
      const whole = wholeOf(random) * 4096
      return { given: Values.integer(whole), answered: BigInt(whole) }
    }
  },
  { type: "int4", draw: (random) => same(wholeOf(random)) },
  { type: "bool", draw: (random) => same(random(2) === 0) },
  { type: "float8", draw: (random) => same(wholeOf(random) / 8 + 0.0625) },
  {
    type: "bytea",
    draw: (random) => same(Uint8Array.from({ length: random(60) }, () => 128 + random(128)))
  },
  {
    type: "jsonb",
    draw: (random) => {
      const value = { n: random(1000), word: wordOf(random) }
      return { given: JSON.stringify(value), answered: value }
    }
  },
  {
    type: "text[]",
    draw: (random) => {
      const words = Array.from({ length: random(4) }, () => wordOf(random))
      return { given: Values.texts(words), answered: words }
    }
  },
  {
    type: "int8[]",
    draw: (random) => {
      const wholes = Array.from({ length: random(4) }, () => wholeOf(random))
      return { given: Values.integers(wholes), answered: wholes.map(BigInt) }
    }
  }
]

const pick = (random: Random): Kind => KINDS[random(KINDS.length)] ?? KINDS[0]!

/** The text is the number's alone; what it is asked with, and so what it must answer, is drawn. */
export const shapeOf = (number: number, random: Random): Shape => {
  const ofText = randomOf(number)
  const kinds = Array.from({ length: 1 + ofText(6) }, () => pick(ofText))
  const drawn = kinds.map((kind) =>
    random(8) === 0 ? { given: null, answered: null } : kind.draw(random)
  )
  const count = random(5)
  const columns = kinds.map((kind, i) => `$${i + 2}::${kind.type} as s${number}_${i}`)
  return {
    sql: `select n as s${number}, ${columns.join(", ")} from generate_series(1, $1::int4) n`,
    parameters: [count, ...drawn.map(({ given }) => given)],
    rows: Array.from({ length: count }, (_, n) =>
      Object.fromEntries([
        [`s${number}`, n + 1],
        ...drawn.map(({ answered }, i) => [`s${number}_${i}`, answered])
      ])
    )
  }
}

/** Statements that fail at every stage: in the text, in a parameter, and after some rows. */
export const FAILING: ReadonlyArray<Pick<Shape, "sql" | "parameters">> = [
  { sql: "selec 1", parameters: [] },
  { sql: "select nothing from nowhere", parameters: [] },
  { sql: "select $1::int4 as whole", parameters: ["no whole number"] },
  {
    sql: "select n, 6 / ($1::int4 - n) as sixth, 'é'::text as word from generate_series(1, 9) n",
    parameters: [5]
  },
  { sql: "select $1::text[] as words", parameters: [[["nested"]]] }
]

/** A value of the same name under three types, as a schema that changes would leave it. */
export const SHIFTS: ReadonlyArray<{
  readonly type: string
  readonly literal: string
  readonly value: unknown
}> = [
  { type: "text", literal: "'wörd'", value: "wörd" },
  { type: "int8", literal: "-2", value: -2n },
  { type: "bytea", literal: "'\\xfffefdfc'", value: new Uint8Array([255, 254, 253, 252]) }
]
