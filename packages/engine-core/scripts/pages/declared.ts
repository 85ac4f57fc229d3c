/** Declarations of writes and reads in the catalogue, as far as the pages say them. */
import * as catalogue from "../../src/catalogue.ts"
import type { Role } from "../../src/vocabulary/Role.ts"

export interface Write {
  readonly kind: string
  readonly doc: string
  readonly route: string
  readonly makers: ReadonlyArray<Role>
  readonly approvers: 0 | 1 | 2
  readonly refuses: ReadonlyArray<string>
  /** Present where approvers sign figures; its type is not read here. */
  readonly figures?: unknown
}

/** A write that the engine opens by itself at a record's time. */
export interface Opened {
  readonly doc: string
  readonly operation: { readonly kind: string }
}

export interface DeclaredRead {
  readonly name: string
  readonly doc: string
  readonly route: string
  readonly audience: { readonly [R in Role]?: "all" | "own" | "near" | "redacted" }
}

/** The catalogue lists writes and reads once a context declares the first. */
interface Catalogue {
  readonly machines: unknown
  readonly operations?: ReadonlyArray<Write>
  readonly queries?: ReadonlyArray<DeclaredRead>
  readonly timely?: ReadonlyArray<Opened>
}

const { operations = [], queries = [], timely: opened = [] }: Catalogue = catalogue

export const writes: ReadonlyArray<Write> = operations
export const timely: ReadonlyArray<Opened> = opened
export const reads: ReadonlyArray<DeclaredRead> = queries
