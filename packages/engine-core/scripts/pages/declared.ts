/** What the catalogue declares of writes and reads, as far as the pages say it. */
import * as catalogue from "../../src/catalogue.ts"
import type { Role } from "../../src/vocabulary/Role.ts"

export interface Write {
  readonly kind: string
  readonly doc: string
  readonly route: string
  readonly makers: ReadonlyArray<Role>
  readonly approvers: 0 | 1 | 2
  readonly refuses: ReadonlyArray<string>
}

export interface Asked {
  readonly name: string
  readonly doc: string
  readonly route: string
  readonly audience: { readonly [R in Role]?: "all" | "own" | "near" | "redacted" }
}

/** The catalogue lists writes and reads once a context declares the first. */
interface Catalogue {
  readonly machines: unknown
  readonly operations?: ReadonlyArray<Write>
  readonly reads?: ReadonlyArray<Asked>
}

const { operations = [], reads = [] }: Catalogue = catalogue

export const writes: ReadonlyArray<Write> = operations
export const asked: ReadonlyArray<Asked> = reads
