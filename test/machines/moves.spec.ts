/** Tables of moves, machine by machine: a move that is misdirected, added or lost is named. */
import { describe, expect, it } from "vitest"
import { machines } from "#core/catalogue.ts"
import type { Machine } from "#core/kernel/Machine.ts"

/** One line a move: from, trigger, to; ▸ brings nearer to the end. `opens`: a state it opens in. */
const tables: Readonly<Record<string, string>> = {
  OperationState: `
    opens queued
    queued take running ▸
    running succeed succeeded ▸
    running fail failed`,
  ApprovalState: `
    opens awaiting
    awaiting sign awaiting
    approved void awaiting
    awaiting approve approved ▸
    awaiting reopen awaiting
    awaiting reject rejected
    awaiting withdraw rejected
    awaiting lapse lapsed`,
  HolderState: `
    opens pending
    pending activate active ▸
    pending close closed
    active lapse lapsed
    active succeed succeeded
    active close closed
    lapsed renew active ▸
    lapsed succeed succeeded
    lapsed close closed`,
  AttributeState: `
    opens pending
    opens valid
    opens rejected
    pending verify valid ▸
    pending reject rejected
    valid expire expired
    valid revoke revoked`,
  ScreeningState: `
    opens unscreened
    unscreened ask pending
    pending clear clear ▸
    pending doubt review
    pending confirm match
    clear age stale
    review clear clear ▸
    review confirm match
    match ask pending
    stale ask pending`,
  // A record that is agreed or admitted when a projection begins opens in that state: the ledger no
  // longer shows how it came about.
  AdmissionState: `
    opens offered
    opens admitted
    offered accept admitted ▸
    offered decline declined
    offered withdraw withdrawn
    offered expire expired
    admitted revoke revoked
    admitted expire expired`,
  AdmissionConsentState: `
    opens proposed
    opens agreed
    proposed agree agreed ▸
    proposed decline declined
    proposed replace withdrawn
    agreed end ended`,
  PrimaryMarketState: `
    opens proposed
    opens agreed
    proposed agree agreed ▸
    proposed decline declined
    proposed replace withdrawn
    agreed end ended`,
  IssuerPowersAgreementState: `
    opens proposed
    opens agreed
    proposed agree agreed ▸
    proposed decline declined
    proposed replace withdrawn
    agreed end ended`,
  ProvisionSettlementState: `
    opens proposed
    opens agreed
    proposed agree agreed ▸
    proposed decline declined
    proposed replace withdrawn
    agreed end ended`,
  IssuerPowersConsentState: `
    opens offered
    opens granted
    offered grant granted ▸
    offered decline declined
    offered replace withdrawn
    offered expire expired
    granted revoke revoked
    granted expire expired`,
  RestrictionState: `
    opens active
    active lift lifted
    active lapse lapsed
    active carry carried`,
  HoldState: `
    opens open
    open release released ▸`,
  PolicyVersionState: `
    opens scheduled
    opens current
    scheduled begin current ▸
    scheduled replace withdrawn
    current supersede superseded`,
  SubscriptionState: `
    opens claimed
    opens priced
    opens delivered
    claimed price priced ▸
    claimed withdraw withdrawn
    priced deliver delivered ▸
    priced exchange closed ▸
    priced release released
    delivered settle closed ▸`,
  RedemptionState: `
    opens claimed
    opens priced
    opens funded
    claimed price priced ▸
    claimed withdraw withdrawn
    priced fund funded ▸
    priced exchange settled ▸
    priced withdraw withdrawn
    priced release released
    funded burn burned ▸
    funded exchange settled ▸
    funded withdraw withdrawn
    funded release released
    burned settle settled ▸`,
  DealingCycleState: `
    opens open
    open settle ended ▸
    open release ended`,
  StandingSettlementState: `
    opens proposed
    opens paused
    proposed commit open ▸
    proposed expire expired
    open settle open
    open pause paused
    open close closed
    open expire expired
    paused resume open ▸
    paused close closed
    paused expire expired`,
  DistributionState: `
    opens executed
    executed clear payable ▸
    executed hold held
    held clear payable ▸
    payable hold held
    payable pay paid ▸`,
  DistributionLineState: `
    opens due
    opens suspended
    opens carried
    opens delivered
    due suspend suspended
    due deliver delivered ▸
    due void void
    suspended cure due ▸
    suspended deliver delivered ▸
    suspended void void
    delivered roll rolled ▸`,
  ReserveState: `
    opens proposed
    opens active
    opens closing
    proposed accept proposed
    proposed activate active ▸
    proposed decline declined
    proposed withdraw withdrawn
    active close closing
    closing empty closed ▸`,
  AmendmentState: `
    opens proposed
    opens accepted
    proposed decline declined
    proposed tighten effective ▸
    proposed loosen accepted ▸
    proposed withdraw withdrawn
    accepted begin effective ▸
    accepted withdraw withdrawn
    accepted overtake superseded
    effective supersede superseded`,
  LockAgreementState: `
    opens proposed
    opens active
    proposed accept proposed
    proposed activate active ▸
    proposed decline declined
    proposed withdraw withdrawn
    active release released`,
  ReserveOrderState: `
    opens started
    opens ready
    started allocate ready ▸
    started cancel cancelled
    started decline cancelled
    started expire expired
    ready reallocate ready
    ready settle settled ▸
    ready cancel cancelled
    ready decline cancelled
    ready expire expired
    expired release cancelled ▸`,
  DeliveryState: `
    opens pending
    pending take taken ▸
    pending exhaust exhausted
    pending cancel cancelled`
}

const lines = (table: string): ReadonlyArray<string> =>
  table
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .toSorted()

const written = (machine: Machine): ReadonlyArray<string> =>
  [
    ...machine.opensIn.map((state) => `opens ${state}`),
    ...Object.entries(machine.moves).flatMap(([from, row]) =>
      Object.entries(row).map(
        ([on, to]) => `${from} ${on} ${to}${machine.forward.includes(on) ? " ▸" : ""}`
      )
    )
  ].toSorted()

describe("the moves of each machine", () => {
  it.each(machines.map((machine) => [machine.name, machine] as const))("%s", (name, machine) => {
    expect(written(machine)).toEqual(lines(tables[name] ?? ""))
  })

  it("names no machine that is not declared", () => {
    expect(Object.keys(tables).toSorted()).toEqual(machines.map(({ name }) => name).toSorted())
  })
})
