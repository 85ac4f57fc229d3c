/**
 * A room of a venue's own: loans of the venue. Two people grant a loan on the ledger, the borrower repays it
 * from its wallet, the clock finds it overdue, and three people write it off.
 */
import { Decimal, Instant, Party, RecordId } from "@bursar/engine-core/kernel"
import {
  Collection,
  Event,
  FromLedger,
  Gates,
  LedgerRecord,
  Machine,
  Noun,
  opened,
  Operation,
  Precheck,
  Read,
  Records,
  RecordView,
  Refusal,
  Room,
  type Stored
} from "@bursar/engine-core/rooms"
import * as Template from "@bursar/engine-core/templates"
import { Effect, Option, Schema } from "effect"

// #region the machine
export const LoanMachine = Machine.declare("XLoanState", {
  doc: "A loan of the venue, from its grant to its end.",
  states: {
    running: "The borrower owes the principal until the loan is due.",
    overdue: "The loan was due and is not repaid.",
    repaid: "The borrower has repaid it.",
    "written-off": "The venue no longer asks for it."
  },
  triggers: {
    repay: { by: ["ledger"], announces: ["x-loan.ended"] },
    lapse: { by: ["clock"], announces: ["x-loan.overdue"] },
    "write-off": { by: ["x-loan.write-off"], announces: ["x-loan.ended"] }
  },
  initial: "running",
  opens: { by: ["x-loan.grant"] },
  moves: {
    running: { repay: "repaid", lapse: "overdue" },
    overdue: { repay: "repaid", "write-off": "written-off" },
    repaid: {},
    "written-off": {}
  },
  forward: ["repay"]
})
// #endregion

const terms = {
  loanId: RecordId.make("XLoanId"),
  borrower: Party.schema,
  principal: Decimal.schema,
  dueAt: Instant.schema
}
const Terms = Schema.Struct(terms)
const Id = Schema.Struct({ loanId: terms.loanId })
const members = { ...terms, state: LoanMachine.schema }
const Loan = Schema.Struct({ ...members, cid: Schema.String })
type Loan = typeof Loan.Type
const Fact = Schema.Struct({ on: Schema.Literals(["repay", "lapse", "write-off"]) })

// #region a template of the ledger
/** Template of the ledger: the venue signs the loan, and the borrower sees it. */
export const LoanContract = Template.define({
  typeRef: { packageName: "example-loans-v1", module: "Example.Loans", entity: "Loan" },
  payload: Schema.Struct({ ...terms, principal: Decimal.text, venue: Party.schema }),
  choices: {
    Repay: { consuming: true, argument: Schema.Struct({}), result: Schema.Struct({}) },
    WriteOff: { consuming: true, argument: Schema.Struct({}), result: Schema.Struct({}) }
  }
})
// #endregion

const OverduePayload = Schema.Struct({ dueAt: Instant.schema })
const EndedPayload = Schema.Struct({ state: LoanMachine.schema })
const events = {
  "x-loan.overdue": Event.about("x-loan", OverduePayload, "A loan was due and is not repaid."),
  "x-loan.ended": Event.about("x-loan", EndedPayload, "A loan was repaid or written off.")
} as const
const makeEvent = Event.announcing(events)

// #region records, their clock and their events
const loans = Collection.define<Loan, typeof Fact.Type>("x-loan", {
  doc: "A loan of the venue.",
  id: ({ loanId }) => loanId,
  record: Loan,
  fact: Fact,
  evolve: (self, { on }) => ({ ...self, state: Machine.follow(LoanMachine, self.state, on) }),
  keptBy: "ledger",
  filters: { state: ({ state }) => state },
  ripens: ["state"],
  due: ({ dueAt, state }) =>
    state === "running" ? { at: dueAt, fact: { on: "lapse" } } : undefined,
  waitingOn: ({ borrower, dueAt, state }) =>
    state === "running" || state === "overdue"
      ? [{ party: borrower, action: "x-loan.repay", by: dueAt }]
      : [],
  announce: ({ borrower, dueAt, loanId, state }, fact) => {
    if (fact === undefined) return []
    const event =
      fact.on === "lapse"
        ? makeEvent("x-loan.overdue", { dueAt })
        : makeEvent("x-loan.ended", { state })
    const about = { resourceKind: "x-loan", resourceId: loanId, instrumentId: null } as const
    return [{ ...event, ...about, party: borrower, holderIds: [] }]
  }
})
// #endregion

const LoanView = RecordView.schemaOf(members, {
  identifier: "XLoanView",
  description: "A loan of the venue, and who must act next."
})
const viewOf = (loan: Stored<Loan>) => RecordView.of(loans, members, loan)

const refusals = Refusal.declare({
  "x-loan-not-overdue": { status: 409, retryable: false, title: "The loan is not overdue." }
})

const conditions = Gates.declare({
  "x-loan-principal": {
    gate: "cash",
    sentence: "The principal is above zero.",
    recovery: "Name a principal above zero."
  },
  "x-loan-due-later": {
    gate: "window",
    sentence: "The loan is due later than it is granted.",
    recovery: "Name a later due date."
  }
})

/** Members that the writes of a loan share. */
const ofLoan = <I extends typeof Id.Type>() =>
  ({
    resource: {
      kind: "x-loan",
      id: ({ loanId }: I) => loanId,
      href: ({ loanId }: I) => `/v1/x-loans/${loanId}`
    },
    result: LoanView,
    finish: ({ loanId }: I) => Effect.map(opened(loans, loanId), viewOf)
  }) as const
const audience = { operator: "all", approver: "all", auditor: "all" } as const

// #region a write that two people make
/** Conditions of a grant; refuses an id that is taken. */
const judged = Effect.fnUntraced(function* (input: typeof Terms.Type, now: Instant.Instant) {
  const records = yield* Records
  if (Option.isSome(yield* records.find(loans, input.loanId))) {
    return yield* Effect.fail(Refusal.refused("already-exists"))
  }
  return [
    conditions.condition("x-loan-principal", Decimal.isPositive(input.principal)),
    conditions.condition("x-loan-due-later", Instant.isAfter(input.dueAt, now))
  ]
})

const grant = Operation.defineOnLedger("x-loan.grant", {
  ...ofLoan<typeof Terms.Type>(),
  doc: "Grants a loan: the venue signs it on the ledger.",
  route: "POST /v1/x-loans",
  makers: ["operator"],
  approvers: 1,
  input: Terms,
  refuses: ["already-exists", "rule-refused"],
  conditions: ["figures-moved", "x-loan-principal", "x-loan-due-later"],
  gates: (input, act) => judged(input, act.now),
  figures: ({ principal, dueAt }) =>
    Effect.succeed({
      figures: { principal, dueAt: Instant.format(dueAt) },
      tolerance: Decimal.zero
    }),
  plan: Effect.fn("x-loan.grant.plan")(function* (input, act) {
    yield* Effect.fromResult(Gates.judge(yield* judged(input, act.now)))
    return { commands: [Template.create(LoanContract, { ...input, venue: act.venue })], last: true }
  })
})
// #endregion

const writeOff = Operation.defineOnLedger("x-loan.write-off", {
  ...ofLoan<typeof Id.Type>(),
  doc: "Writes off a loan that is overdue.",
  route: "POST /v1/x-loans/{loanId}:write-off",
  makers: ["operator", "risk"],
  approvers: 2,
  input: Id,
  refuses: ["not-found", "x-loan-not-overdue"],
  plan: Effect.fn("x-loan.write-off.plan")(function* ({ loanId }) {
    const { cid, state } = yield* (yield* Records).get(loans, loanId)
    if (state !== "overdue") return yield* Effect.fromResult(refusals.refuse("x-loan-not-overdue"))
    return { commands: [Template.exercise(LoanContract, cid, "WriteOff", {})], last: true }
  })
})

const list = Read.list({
  name: "x-loans.list",
  doc: "Lists the loans of the venue.",
  route: "GET /v1/x-loans",
  audience,
  pinned: true,
  collection: loans,
  params: Schema.Struct({ state: Schema.optionalKey(Schema.Array(LoanMachine.schema)) }),
  item: LoanView,
  direction: "asc",
  order: "by id",
  changes: true,
  where: ({ state }) => (state === undefined ? {} : { state }),
  view: (found) => Effect.succeed(found.map(viewOf))
})

const get = Read.one({
  name: "x-loans.get",
  doc: "A loan of the venue.",
  route: "GET /v1/x-loans/{loanId}",
  audience,
  pinned: true,
  params: Id,
  value: LoanView,
  refuses: ["not-found"],
  run: ({ loanId }, { pin }) =>
    Effect.flatMap(Records, (records) => Effect.map(records.get(loans, loanId, pin), viewOf))
})

const precheck = Precheck.of(grant, {
  name: "x-loans.precheck",
  route: "GET /v1/x-loans:precheck",
  audience,
  params: Schema.Struct({ ...terms, principal: Decimal.text }),
  inputOf: (params) => params
})

// #region what the ledger shows
const moves = LedgerRecord.transitionsOf({
  collection: loans,
  machine: LoanMachine,
  resourceKind: "x-loan"
})
const fromLedger = FromLedger.of(LoanContract, {
  created: ({ venue: _, ...signed }, node) =>
    Effect.asVoid(
      LedgerRecord.open(loans, { ...signed, state: "running", cid: node.contractId }, node)
    ),
  exercised: {
    Repay: ({ payload }, node) => moves.moveBy(payload.loanId, node, { on: "repay" }),
    WriteOff: ({ payload }, node) => moves.moveBy(payload.loanId, node, { on: "write-off" })
  }
})
// #endregion

// #region the room
const loan = Noun.declare({
  collections: [loans],
  machine: LoanMachine,
  events,
  writes: [grant, writeOff],
  queries: [list, get, precheck],
  fromLedger: [fromLedger]
})

export const room = Room.declare({
  name: "x-loans",
  doc: "Loans of the venue, from their grant to their end.",
  nouns: [loan],
  refusals,
  conditions,
  waitingActions: { "x-loan.repay": "The borrower repays the loan." },
  templates: [LoanContract]
})
// #endregion
