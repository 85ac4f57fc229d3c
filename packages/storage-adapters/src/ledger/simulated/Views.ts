/**
 * Projection of transactions and contracts to their readers: the nodes they witness, without the
 * other witnesses.
 */
import type { Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Option, Result } from "effect"
import * as Disclosure from "./Disclosure.ts"
import type * as Entry from "./Entry.ts"
import type { PartyFilter, Reading, SeenActive, SeenEvent, SeenTransaction } from "./Participant.ts"
import * as Registry from "./Registry.ts"

/** Synchronizer that every contract of the simulated ledger is on. */
export const synchronizerId = "bursar::sim"

/** Filter of the engine's reads: everything that one party sees. */
export const everything: PartyFilter = {
  wildcard: true,
  templates: [],
  interfaces: [],
  blobs: []
}

/** Refuses a filter with an unknown type, which would otherwise match nothing without notice. */
export const validate = (registry: Registry.Registry, reading: Reading) => {
  for (const filter of reading.byParty.values()) {
    for (const ref of [...filter.templates, ...filter.interfaces.map(({ ref }) => ref)]) {
      const existing = Registry.checkExists(registry, ref)
      if (Result.isFailure(existing)) return existing
    }
  }
  return Result.void
}

/**
 * A transaction as the reader sees it; none if no node is visible, and then it is not delivered.
 */
export const transaction = (
  registry: Registry.Registry,
  reading: Reading,
  entry: Entry.Transaction
): Option.Option<SeenTransaction> => {
  const events: Array<SeenEvent> = []
  for (const node of entry.nodes) {
    const visibleEvent = event(registry, reading, { node, entry })
    if (visibleEvent !== null) events.push(visibleEvent)
  }
  if (events.length === 0) return Option.none()
  return Option.some({
    _tag: "Transaction",
    offset: entry.offset,
    updateId: entry.updateId,
    commandId: entry.actAs.some((party) => reading.byParty.has(party))
      ? Option.some(entry.commandId)
      : Option.none(),
    workflowId: Option.fromNullishOr(entry.workflowId),
    effectiveAt: entry.effectiveAt,
    recordTime: entry.recordTime,
    synchronizerId,
    traceparent: entry.traceparent,
    events
  })
}

/** An active contract as those readers see it who are its stakeholders; null for others. */
export const active = (
  registry: Registry.Registry,
  reading: Reading,
  contract: Entry.Contract
): SeenActive | null => {
  const stakeholders = [...contract.signatories, ...contract.observers]
  const readers = matching(registry, reading, {
    template: contract.template,
    parties: stakeholders
  })
  if (readers.length === 0) return null
  const node = { ...contract, nodeId: 0 }
  return {
    ...created(registry, reading, { contract: node, readers, inAcs: true }),
    createdOffset: contract.createdOffset,
    synchronizerId
  }
}

const event = (
  registry: Registry.Registry,
  reading: Reading,
  at: { readonly node: Entry.Node; readonly entry: Entry.Transaction }
): SeenEvent | null => {
  const { node, entry } = at
  const delta = reading.shape === "ACS_DELTA"
  if (delta && (node.transient || (node._tag === "Exercise" && !node.consuming))) return null
  const stakeholders = [...node.signatories, ...node.observers]
  const parties = delta ? stakeholders : node.witnesses
  const readers = matching(registry, reading, { template: node.template, parties })
  if (readers.length === 0) return null
  const inAcs = !node.transient && readers.some((party) => stakeholders.includes(party))
  if (node._tag === "Create") {
    const contract = { ...node, createdAt: entry.effectiveAt, createdOffset: entry.offset }
    return created(registry, reading, { contract, readers, inAcs })
  }
  const { nodeId, contractId, template, packageId } = node
  return delta
    ? { _tag: "Archived", nodeId, contractId, template, packageId, witnesses: readers }
    : {
        _tag: "Exercised",
        nodeId,
        lastDescendant: node.lastDescendant,
        contractId,
        template,
        packageId,
        iface: Option.fromNullishOr(node.iface),
        choice: node.choice,
        arg: node.arg,
        result: node.result,
        actors: node.actors,
        consuming: node.consuming,
        witnesses: readers,
        inAcs: node.consuming && inAcs
      }
}

const created = (
  registry: Registry.Registry,
  reading: Reading,
  {
    contract,
    readers,
    inAcs
  }: {
    readonly contract: Entry.Contract & { readonly nodeId: number }
    readonly readers: ReadonlyArray<Party.Party>
    readonly inAcs: boolean
  }
): Ledger.Created => {
  const filters = readers.flatMap((party) => reading.byParty.get(party) ?? [])
  return {
    _tag: "Created",
    nodeId: contract.nodeId,
    contractId: contract.contractId,
    template: contract.template,
    packageId: contract.packageId,
    payload: contract.payload,
    views: views(registry, filters, contract),
    signatories: contract.signatories,
    observers: contract.observers,
    witnesses: readers,
    createdAt: contract.createdAt,
    blob: filters.some((filter) => wantsBlob(registry, filter, contract.template))
      ? Option.some(Disclosure.blob(contract))
      : Option.none(),
    inAcs
  }
}

/** Parties whose filter includes the template. */
const matching = (
  registry: Registry.Registry,
  reading: Reading,
  {
    parties,
    template
  }: { readonly template: Ledger.TypeRef; readonly parties: ReadonlyArray<Party.Party> }
): ReadonlyArray<Party.Party> => {
  const readers: Array<Party.Party> = []
  for (const [party, filter] of reading.byParty) {
    if (!parties.includes(party)) continue
    if (
      filter.wildcard ||
      filter.templates.some((ref) => Templates.same(ref, template)) ||
      filter.interfaces.some(({ ref }) => implementsIt(registry, template, ref))
    ) {
      readers.push(party)
    }
  }
  return readers
}

const implementsIt = (
  registry: Registry.Registry,
  template: Ledger.TypeRef,
  iface: Ledger.TypeRef
): boolean =>
  registry.entities
    .get(Templates.key(template))
    ?.interfaces.some((ref) => Templates.same(ref, iface)) ?? false

const wantsBlob = (
  registry: Registry.Registry,
  filter: PartyFilter,
  template: Ledger.TypeRef
): boolean =>
  filter.blobs === "all" ||
  filter.blobs.some((ref) => Templates.same(ref, template) || implementsIt(registry, template, ref))

const views = (
  registry: Registry.Registry,
  filters: ReadonlyArray<PartyFilter>,
  contract: Entry.Contract
): ReadonlyArray<Ledger.InterfaceView> => {
  const interfaces = filters
    .flatMap((filter) => filter.interfaces)
    .filter(({ ref, view }) => view && implementsIt(registry, contract.template, ref))
  if (interfaces.length === 0) return []
  const read = Result.flatMap(Registry.entity(registry, contract.template), (entity) =>
    entity.read(contract.payload)
  )
  if (Result.isFailure(read)) throw new Error(read.failure.cause)
  const found = new Map<string, Ledger.InterfaceView>()
  for (const { ref } of interfaces) {
    const value = read.success.view(ref)
    if (value !== null) found.set(Templates.key(ref), { iface: ref, value })
  }
  return [...found.values()]
}
