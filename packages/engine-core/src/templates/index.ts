/** Every ledger type the engine reads or writes, and the functions that make commands of them. */
export * from "./Template.ts"
export * from "./Registry.ts"
export * from "./Admission.ts"
export * from "./Market.ts"
export * from "./Settlement.ts"
export * from "./Price.ts"
export * from "./Interfaces.ts"
export type { Asset, Reference } from "./Field.ts"
