/**
 * Identity of one opening of a store. Ports of the same opening join one another's transactions; those of
 * two never do, so that an engine over a mix of them would record half of what it does.
 */
export interface StoreIdentity {
  /** Name of the store for people, such as `memory` or `PostgreSQL`. */
  readonly name: string
}

/** A port of a store, by the name that a person knows it by. */
interface NamedPort {
  readonly port: string
  readonly store: StoreIdentity
}

/** Sentence that names which ports are of which store; null where all are of one. */
export const mixOf = (ports: ReadonlyArray<NamedPort>): string | null => {
  const byStore = [...Map.groupBy(ports, ({ store }) => store)]
  if (byStore.length < 2) return null
  const names = new Map<string, number>()
  const groups = byStore.map(([{ name }, group]) => {
    const openings = (names.get(name) ?? 0) + 1
    names.set(name, openings)
    const store = openings === 1 ? name : `another opening of ${name}`
    return `${group.map(({ port }) => port).join(", ")} of ${store}`
  })
  return `The storage ports are of ${byStore.length} stores: ${groups.join("; ")}. A transaction spans one store alone: give the engine all storage ports of one layer.`
}
