/** Whose move it is, as a sentence: one table of all actions that a record may wait for. */
import { hintOf, word } from "./Words.ts"

export interface WaitingOn {
  readonly party: string | null
  readonly role: string | null
  readonly action: string
  readonly by: string | null
  readonly actionKey: string | null
  readonly resource: { readonly resourceKind: string; readonly id: string } | null
}

/** Who acts where the row names nobody, what is done, and by which means where it is an outside party. */
interface Move {
  readonly who?: string
  readonly does: string
  readonly how?: string
}

const wallet = "from its wallet"

const moves: Readonly<Record<string, Move>> = {
  approve: { who: "an approver", does: "signs" },
  "distribution.clear": { who: "a reconciliation run", does: "clears the distribution" },
  "statement.correct": { who: "the source", does: "corrects the statement" },
  "amendment.begin": { who: "the date", does: "brings the terms into force" },
  "standing-approval.begin": { who: "the date", does: "brings the standing approval into force" },
  "policy.begin": { who: "the date", does: "brings the policy version into force" },
  "screening.adjudicate": { who: "the screening source", does: "decides on the possible hit" },
  "screening.answer": { who: "the screening source", does: "answers" },
  "AdmissionConsentProposal.Accept": {
    who: "the registrar",
    does: "consents to admissions",
    how: wallet
  },
  "AdmissionOffer.Accept": { who: "the holder", does: "accepts its admission", how: wallet },
  "AmendmentProposal.Accept": { who: "the issuer", does: "accepts the other terms", how: wallet },
  "BurnRequest.Accept": { who: "the registrar", does: "burns the units", how: wallet },
  "DistributionLine.Deliver": { who: "the registrar", does: "pays the line", how: wallet },
  "Holding.Allocate": { who: "the party", does: "allocates its leg", how: wallet },
  "Holding.RequestBurn": {
    who: "the holder or its custodian",
    does: "asks for the burn of its units",
    how: wallet
  },
  "HolderInvitation.Accept": { who: "the holder", does: "accepts its registration", how: wallet },
  InstrumentConfiguration: {
    who: "the registrar",
    does: "puts the instrument on its registry",
    how: wallet
  },
  "IssuerPowersAgreementProposal.Accept": {
    who: "the issuer or the registrar",
    does: "agrees to the powers",
    how: wallet
  },
  "IssuerPowersConsentOffer.Accept": {
    who: "the holder",
    does: "consents to the powers",
    how: wallet
  },
  "LockAgreementProposal.Accept": {
    who: "the asset's registrar or the reserve's holder",
    does: "agrees to the lock",
    how: wallet
  },
  "MintOrder.Accept": {
    who: "the depositor",
    does: "names the allocation of its deposit",
    how: wallet
  },
  "MintRequest.Accept": { who: "the registrar", does: "mints the units", how: wallet },
  "PrimaryMarketProposal.Accept": {
    who: "the fund or the registrar",
    does: "agrees to the market",
    how: wallet
  },
  "ProvisionSettlementProposal.Accept": {
    who: "the fund",
    does: "agrees to the provision",
    how: wallet
  },
  "ReserveProposal.Accept": {
    who: "the issuer or the reserve's holder",
    does: "agrees to the reserve",
    how: wallet
  },
  "ReserveRedemptionOrder.Accept": {
    who: "the owner",
    does: "names the units that it redeems",
    how: wallet
  },
  "RedemptionClaim.Price": { who: "the oracle", does: "prices the redemption", how: wallet },
  SignedTerms: { who: "the holder", does: "signs the venue's terms", how: wallet },
  "StandingSettlement.Commit": { who: "the party", does: "commits what it puts in", how: wallet },
  "SubscriptionClaim.Attest": { who: "the attestor", does: "attests the price", how: wallet }
}

/** Actions that the table has; the test compares them with the interface. */
export const listedActions: ReadonlyArray<string> = Object.keys(moves)

const article = (role: string): string => (/^[aeiou]/u.test(role) ? `an ${role}` : `a ${role}`)

/** The move without its instant: "an approver signs". */
export const moveOf = ({
  action,
  party,
  role
}: Pick<WaitingOn, "action" | "party" | "role">): string => {
  const move = moves[action]
  const named = party === null ? null : hintOf(party)
  if (move === undefined) {
    const who = role === null ? (named ?? "somebody") : article(role)
    return `${who} makes “${word(action)}”`
  }
  const part = move.who ?? "somebody"
  // A hint that says the part already, such as that of a registrar, says it once.
  const who = named === null || part.endsWith(` ${named}`) ? part : `${named} (${part})`
  return `${who} ${move.does}${move.how === undefined ? "" : ` ${move.how}`}`
}
