/** Types of event, each with a sentence that says what happened. */
import * as ValueSet from "./ValueSet.ts"
import type { EventKind } from "./EventKind.ts"
import { isOwn, type OwnDottedWord } from "./OwnWord.ts"

/** The engine's own acts: on the feed and posted to webhooks. */
export const controlEvents = {
  "reconciliation.run": "A run finished, with its verdict and its number of findings.",
  "reconciliation.finding": "A run made findings, with how many per check.",
  "reconciliation.hold":
    "Reconciliation held an instrument on a blocking finding: no distribution until the hold is released.",
  "hold.released": "An instrument hold was released, under two approvers besides the maker.",
  "statement.received":
    "An external statement arrived and was stored: the first time these bytes came from this source.",
  "statement.overdue": "A source's statement is overdue, newly since the previous run.",
  "distribution.payable":
    "A distribution became payable: reconciliation found nothing stopping it.",
  "distribution.held": "A distribution was held because its instrument is under a hold.",
  "distribution.paid": "A distribution was paid: every line the registrar delivered is rolled.",
  "holder.restricted":
    "A holder was restricted, or a recovery carried a restriction to its successor.",
  "holder.unrestricted": "A restriction was lifted, under two approvers, or ended by its own date.",
  "holder.forced-transfer":
    "A consenting holder's units moved to an eligible receiver under a cited order; one event per move.",
  "holder.recovered":
    "A consenting holder's units moved to its registered successor; one event per instrument.",
  "instrument.paused": "An instrument was paused: its hold opened.",
  "distribution.rate-changed":
    "A period whose points carry more than one withholding rate executed at the latest rate, unacknowledged; only where the deployment and any standing approval say alert.",
  "distribution.carried":
    "A period executed leaving out holders whose earlier line is not rolled; only where the deployment's partial-distribution setting is carry.",
  "distribution.due":
    "A scheduled record date passed with no distribution of its period; again, with refused, when a standing approval's operation for the period was refused.",
  "standing-approval.granted":
    "A standing approval was granted: the scheduler executes the instrument's due distributions under it until it lapses or is revoked.",
  "standing-approval.revoked": "A standing approval was revoked, effective at once.",
  "reserve.minted":
    "A mint against a reserve settled: deposit locked and backed units minted in one transaction.",
  "reserve.redeemed":
    "A reserve redemption settled: backed units burned and the asset paid in one transaction.",
  "reserve.cover-low":
    "Reconciliation found a reserve's cover below its minimum and held its backed instrument: mints stop until release, redemptions go on.",
  "reserve.reported": "The ledger computed a reserve's report, on demand or on schedule.",
  "reserve.amended":
    "The issuer accepted new terms for a reserve, effective at once or at a time the payload names.",
  "retention.pruned": "Retention deleted records past their period, with how many of each.",
  "operation.succeeded": "An operation finished succeeded.",
  "operation.failed": "An operation finished failed.",
  "approval.requested": "A four-eyes action was recorded and awaits an approver.",
  "approval.signed": "An approver signed an action that needs two; it awaits the next.",
  "approval.approved": "A four-eyes action was approved and ran.",
  "approval.rejected": "An action was rejected by an approver or withdrawn by its maker.",
  "approval.lapsed": "An action waited longer than the deployment lets one wait; it never runs.",
  "subscription.priced":
    "A subscription's attestors priced it, when its lot was created on the ledger.",
  "subscription.delivered":
    "A subscription was delivered, units minted to the holder: the order's value date.",
  "subscription.ended":
    "A subscription ended: its lot closed, or its claim withdrawn before pricing.",
  "redemption.priced": "The fund's oracle priced a redemption claim.",
  "redemption.funded": "The holder's custodian requested the burn of a redemption's units.",
  "redemption.burned": "The registrar accepted the burn request and burned the units.",
  "redemption.settled": "The venue settled a redemption: the order's value date.",
  "redemption.withdrawn": "The venue withdrew a redemption claim before it settled.",
  "dealing-cycle.settled":
    "A dealing cycle settled its orders in one transaction, with the fund's net.",
  "dealing-cycle.released":
    "The venue released a dealing cycle, so nothing allocated to it settles.",
  "webhook.test": "Somebody asked for a test delivery to a webhook."
} as const satisfies Readonly<Record<string, string>>

/** The ledger's facts: on the feed for readers that ask for them, and never posted to a webhook. */
export const journalEvents = {
  "settlement.proposed": "A settlement intent was created on the ledger.",
  "price.point": "An oracle point was created on the ledger.",
  "subscription.created": "A lot was created on the ledger: the subscription is priced.",
  "admission.offered": "An admission offer was created on the ledger.",
  "admission.granted": "A credential admitting a holder was created on the ledger."
} as const satisfies Readonly<Record<string, string>>

/** Type of an event that tells what the engine itself does; those of rooms that a venue adds are such. */
export type ControlEventType = keyof typeof controlEvents | OwnDottedWord

/** Type of an event of a record. */
export type JournalEventType = keyof typeof journalEvents

/** Type of an event of the engine's. */
export type BuiltInEventType = Extract<keyof typeof controlEvents | JournalEventType, string>

/** Type of an event of the feed. */
export type EventType = BuiltInEventType | OwnDottedWord

export const EventType: ValueSet.RoomSet<EventType, BuiltInEventType> = ValueSet.openToDottedWords(
  "EventType",
  "What an event announces, as <record>.<event>.",
  [...Object.keys(controlEvents), ...Object.keys(journalEvents)] as ReadonlyArray<BuiltInEventType>
)

/** Whether a type is of an event that tells what the engine itself does. */
export const isControl = (type: EventType): type is ControlEventType =>
  Object.hasOwn(controlEvents, type) || isOwn(type)

/** Kind of the events of a type. */
export const kindOf = (type: EventType): EventKind => (isControl(type) ? "control" : "journal")

/** The sentence that says what an event of the engine announces. */
export const sentenceOf = (type: BuiltInEventType): string => sentences[type]

const sentences = { ...controlEvents, ...journalEvents }
