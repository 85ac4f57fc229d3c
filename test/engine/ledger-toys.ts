/** Notes on the ledger, the smallest thing to write and to read there: writes, a reading, a collection. */
import { type Operation, Records, Operation as Write } from "@bursar/engine-core"
import { Collection, Instant, Integer, type Party } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Option, Schema, Stream } from "effect"
import { contracts } from "#core/projection/Contract.ts"
import * as TypedFromLedger from "#core/projection/TypedFromLedger.ts"
import * as Unexpected from "#core/projection/Unexpected.ts"
import * as Outsiders from "./outsiders.ts"

/** A note is a proposal to a registrar: the venue makes and withdraws it, the registrar may decline. */
export const Note = Schema.Struct({
  noteId: Schema.String,
  contractId: Schema.String,
  state: Schema.Literals(["open", "withdrawn", "declined"]),
  openedAt: Instant.schema,
  touched: Integer.schema
})
const Fact = Schema.Struct({ on: Schema.Literals(["withdraw", "decline", "touch"]) })

export const notes = Collection.define<typeof Note.Type, typeof Fact.Type>("note", {
  doc: "A note on the ledger.",
  id: (self) => self.noteId,
  record: Note,
  fact: Fact,
  evolve: (self, { on }) =>
    on === "touch"
      ? { ...self, touched: self.touched + 1 }
      : { ...self, state: on === "withdraw" ? "withdrawn" : "declined" },
  keptBy: "ledger",
  filters: { state: (self) => self.state }
})

const ended = Effect.fnUntraced(function* (
  noteId: string,
  node: Parameters<typeof Unexpected.keep>[0],
  on: "withdraw" | "decline"
) {
  const records = yield* Records
  const found = yield* records.find(notes, noteId)
  if (Option.isSome(found) && found.value.contractId === node.contractId) {
    yield* records.append(notes, found.value, { on }, node.act)
    return
  }
  yield* Unexpected.keep(node, {
    resourceKind: "note",
    resourceId: noteId,
    on,
    detail: "There is no such note."
  })
})

/** A second note of one id is what no table allows: it is kept apart. */
export const reading = TypedFromLedger.of(Templates.AdmissionConsentProposal, {
  created: Effect.fnUntraced(function* ({ admissionConsentId: noteId }, node) {
    const records = yield* Records
    if (Option.isSome(yield* records.find(notes, noteId))) {
      yield* Unexpected.keep(node, {
        resourceKind: "note",
        resourceId: noteId,
        on: "open",
        detail: "There is such a note."
      })
      return
    }
    const { contractId } = node
    yield* records
      .open(
        notes,
        { noteId, contractId, state: "open", openedAt: node.effectiveAt, touched: 0 },
        node.act
      )
      .pipe(Effect.catchTag("Refused", () => Effect.die("it was just looked for")))
    yield* records.announce([
      {
        type: "settlement.proposed",
        resourceKind: "contract",
        resourceId: contractId,
        instrumentId: noteId,
        party: null,
        holderIds: [],
        payload: { contractId, reference: null },
        journal: {
          at: node.effectiveAt,
          offset: node.offset,
          source: `${node.updateId}:${node.nodeId}:settlement.proposed`
        }
      }
    ])
  }),
  exercised: {
    Withdraw: ({ payload }, node) => ended(payload.admissionConsentId, node, "withdraw"),
    Decline: ({ payload }, node) => ended(payload.admissionConsentId, node, "decline")
  }
})

// ---- writes -------------------------------------------------------------------------------------

const Input = Schema.Struct({ noteId: Schema.String, registrar: Schema.String })
type Input = typeof Input.Type
const Ended = Schema.Struct({ noteId: Schema.String })

export const proposal = (
  venue: Party.Party,
  { noteId, registrar }: { readonly noteId: string; readonly registrar: string }
) =>
  Templates.create(Templates.AdmissionConsentProposal, {
    venue,
    admissionConsentId: noteId,
    registrar: registrar as Party.Party,
    fund: venue,
    instrumentId: noteId,
    terms: ""
  })

const declared = {
  doc: "Writes on the ledger.",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "instrument",
    id: ({ noteId }: { readonly noteId: string }) => noteId,
    href: ({ noteId }: { readonly noteId: string }) => `/v1/notes/${noteId}`
  },
  refuses: ["rule-refused", "not-found"]
} as const

const refusedAs = (check: string) =>
  Effect.fail({
    _tag: "Refused" as const,
    slug: "rule-refused" as const,
    details: { gate: "units" as const, check }
  })

const unlessThere = Effect.fnUntraced(function* (noteId: string) {
  const records = yield* Records
  if (Option.isSome(yield* records.find(notes, noteId))) return yield* refusedAs("one-note")
})

const read = (noteId: string) =>
  Effect.flatMap(Records, (records) => records.get(notes, noteId)).pipe(
    Effect.catchTag("Refused", () => Effect.die(new Error(`note ${noteId} was not read`)))
  )

/** One step: one note. */
export const propose = Write.defineOnLedger("admission-consent.propose", {
  ...declared,
  route: "POST /v1/notes/{noteId}:propose",
  input: Input,
  result: Note,
  plan: Effect.fnUntraced(function* (input: Input, act: { readonly venue: Party.Party }) {
    yield* unlessThere(input.noteId)
    return { commands: [proposal(act.venue, input)] as const, last: true }
  }),
  finish: ({ noteId }) => read(noteId)
})

/** Two steps: two notes, one after the other. */
export const twice = Write.defineOnLedger("admission.offer", {
  ...declared,
  route: "POST /v1/notes/{noteId}:twice",
  input: Input,
  result: Note,
  plan: Effect.fnUntraced(function* (
    { noteId, registrar }: Input,
    act: { readonly venue: Party.Party },
    step: number
  ) {
    yield* unlessThere(`${noteId}-${step}`)
    const made = proposal(act.venue, { noteId: `${noteId}-${step}`, registrar })
    return { commands: [made] as const, last: step === 2 }
  }),
  finish: ({ noteId }) => read(`${noteId}-2`)
})

/** Uses up a contract: any open one whose id begins with the note's. */
export const withdraw = Write.defineOnLedger("admission.withdraw", {
  ...declared,
  route: "POST /v1/notes/{noteId}:withdraw",
  input: Ended,
  result: Ended,
  plan: Effect.fnUntraced(function* ({ noteId }: { readonly noteId: string }) {
    const records = yield* Records
    const open = yield* records.list(notes, { where: { state: ["open"] }, limit: 1_000 })
    const found = open.find(({ record }) => record.noteId.startsWith(noteId))
    if (found === undefined) return yield* refusedAs("an-open-note")
    const { contractId } = found.record
    const ending = Templates.exercise(
      Templates.AdmissionConsentProposal,
      contractId,
      "Withdraw",
      {}
    )
    return { commands: [ending] as const, last: true }
  }),
  finish: ({ noteId }) => Effect.succeed({ noteId })
})

/**
 * An operation with a defect: its second step dies as often as is said, the first one where the id asks
 * for it.
 */
export const dying = Write.defineOnLedger("holder.register", {
  ...declared,
  route: "POST /v1/notes/{noteId}:die",
  input: Input,
  result: Note,
  plan: Effect.fnUntraced(function* (
    { noteId, registrar }: Input,
    act: { readonly venue: Party.Party },
    step: number
  ) {
    // The call is let in; what runs later dies.
    if (step === 2 && deaths.left-- <= 0) {
      return { commands: [proposal(act.venue, { noteId: `${noteId}-2`, registrar })], last: true }
    }
    if (step === 2 || (noteId.startsWith("now") && act !== undefined && deaths.on)) {
      return yield* Effect.die(new Error("a bug"))
    }
    const made = proposal(act.venue, { noteId, registrar })
    return { commands: [made] as const, last: false }
  }),
  finish: ({ noteId }) => read(noteId)
})

/** Whether `dying` dies at its first step already, and how often at its second. */
export const deaths = { on: false, left: Number.POSITIVE_INFINITY }

export const operations: ReadonlyArray<Operation.Operation> = [propose, twice, withdraw, dying]
export const fromLedger = [reading]

// ---- beside the engine --------------------------------------------------------------------------

/** A party with a token of its own that declines notes and submits what it likes. */
export const outsider = (hint: string) =>
  Effect.gen(function* () {
    const { party, submit } = yield* Outsiders.outsider(hint)
    const act = (...commands: ReadonlyArray<Ledger.Command>) => Effect.orDie(submit(...commands))
    const decline = (contractId: string) =>
      act(Templates.exercise(Templates.AdmissionConsentProposal, contractId, "Decline", {}))
    return { party, act, decline }
  })

export type Outsider = Effect.Success<ReturnType<typeof outsider>>

/** Every transaction of the ledger that the venue sees, asked of the ledger itself. */
export const transactions = Effect.gen(function* () {
  const ledger = yield* Ledger.Ledger
  const through = yield* ledger.ledgerEnd
  const all = yield* Stream.runCollect(
    ledger.updates({
      after: 0 as typeof through,
      through,
      filter: { templates: [], interfaces: [] }
    })
  )
  return all.flatMap((one) => (one._tag === "Transaction" ? [one] : []))
}).pipe(Effect.orDie)

/** Commits of each operation, counted on the ledger; markers that spend a command id are none. */
export const commits = Effect.map(transactions, (all) => {
  const byOperation = new Map<string, number>()
  for (const { commandId, events } of all) {
    if (Templates.isSpending(events)) continue
    const id = Option.getOrElse(commandId, () => "").split(":")[0] ?? ""
    if (id.startsWith("op_")) byOperation.set(id, (byOperation.get(id) ?? 0) + 1)
  }
  return byOperation
})

export { contracts }
