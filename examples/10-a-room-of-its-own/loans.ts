/**
 * A room of a venue's own: loans of the venue. Two people grant a loan on the ledger, the borrower repays it
 * from its wallet, the clock finds it overdue, and three people write it off.
 */
import { Decimal, Instant, Party, RecordId } from "@bursar/engine-core/kernel"
import {
  Event,
  Gates,
  Machine,
  MachineRecords,
  Noun,
  Operation,
  Precheck,
  Records,
  Refusal,
  Resource,
  Room
} from "@bursar/engine-core/rooms"
import * as Template from "@bursar/engine-core/templates"
import { Effect, Schema } from "effect"

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
const members = { ...terms, state: LoanMachine.schema }

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

const EventPayload = Schema.Struct({ dueAt: Instant.schema, state: LoanMachine.schema })
const events = {
  "x-loan.overdue": Event.about("x-loan", EventPayload, "A loan was due and is not repaid."),
  "x-loan.ended": Event.about("x-loan", EventPayload, "A loan was repaid or written off.")
} as const

// #region records, their clock and their events
const loans = MachineRecords.define("x-loan", LoanMachine, {
  doc: "A loan of the venue.",
  id: ({ loanId }) => loanId,
  record: Schema.Struct({ ...members, cid: Schema.String }),
  due: { lapse: ({ dueAt }) => dueAt },
  waitingOn: {
    repay: ({ borrower, dueAt }) => ({ party: borrower, action: "x-loan.repay", by: dueAt })
  },
  events,
  about: ({ borrower, dueAt, state }) => ({ party: borrower, payload: { dueAt, state } })
})
// #endregion

const audience = { operator: "all", approver: "all", auditor: "all" } as const

// #region the path and the reads
const { get, list, vacant, written } = Resource.declare(loans, {
  name: "x-loans",
  list: "Lists the loans of the venue.",
  idMember: "loanId",
  members,
  view: { identifier: "XLoanView", description: "A loan of the venue, and who must act next." },
  audience
})
// #endregion

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

// #region a write that two people make
/** Conditions of a grant; refuses an id that is taken. */
const judged = Effect.fnUntraced(function* (input: typeof Terms.Type, now: Instant.Instant) {
  yield* vacant(input.loanId)
  return [
    conditions.condition("x-loan-principal", Decimal.isPositive(input.principal)),
    conditions.condition("x-loan-due-later", Instant.isAfter(input.dueAt, now))
  ]
})

const grant = Operation.defineOnLedger("x-loan.grant", {
  ...written,
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
  ...written,
  doc: "Writes off a loan that is overdue.",
  route: "POST /v1/x-loans/{loanId}:write-off",
  makers: ["operator", "risk"],
  approvers: 2,
  input: Schema.Struct({ loanId: terms.loanId }),
  refuses: ["not-found", "x-loan-not-overdue"],
  plan: Effect.fn("x-loan.write-off.plan")(function* ({ loanId }) {
    const { cid, state } = yield* (yield* Records).get(loans, loanId)
    if (state !== "overdue") return yield* Effect.fromResult(refusals.refuse("x-loan-not-overdue"))
    return { commands: [Template.exercise(LoanContract, cid, "WriteOff", {})], last: true }
  })
})

const precheck = Precheck.of(grant, {
  name: "x-loans.precheck",
  route: "GET /v1/x-loans:precheck",
  audience,
  params: Schema.Struct({ ...terms, principal: Decimal.text }),
  inputOf: (params) => params
})

// #region what the ledger shows
const fromLedger = MachineRecords.reading(loans, LoanContract, {
  opens: ({ venue: _, ...signed }, { contractId }) => ({
    ...signed,
    state: "running",
    cid: contractId
  }),
  moves: { Repay: "repay", WriteOff: "write-off" }
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
