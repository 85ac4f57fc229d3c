/**
 * Every condition that a refusal may name: the gate it belongs to, what must hold, and the advice to the
 * caller where it does not hold. A use that has figures or names of its own replaces the texts.
 */
import type { Gate } from "./Refusal.ts"

/** Row of the table: what a condition says, and what helps where it does not hold. */
export interface ConditionRow {
  /** Null: the refusal names no gate. */
  readonly gate: Gate | null
  /** Sentence that is true where the condition is met. */
  readonly sentence: string
  /** Null: the refusal needs no recovery text. */
  readonly recovery: string | null
}

// biome-ignore format: a table, one row a line, in the order in which the gates refuse
/** Conditions of every gate, each with the sentence that a person reads. */
export const conditions = {
  "figures-moved": { gate: "four-eyes", sentence: "The figures are those that were signed, within the tolerance of the policy.", recovery: "Read the approval and approve the figures it shows now." },

  "not-held": { gate: "hold", sentence: "No open hold on the instrument stops the act.", recovery: "Have the hold released." },
  "findings-of-hold": { gate: "hold", sentence: "The findings that the release accepts are findings behind the hold.", recovery: "Name only findings that the hold itself names." },
  "findings-cleared": { gate: "hold", sentence: "Each blocking finding behind the hold is cleared or accepted.", recovery: "Have a later run clear the findings, or accept each by its id with a reason." },

  "may-subscribe": { gate: "restriction", sentence: "No restriction stops the holder from ordering more units.", recovery: "Have the restriction lifted, or wait until it lapses." },
  "may-receive": { gate: "restriction", sentence: "No restriction stops the holder from receiving units.", recovery: "Have the restriction lifted, or wait until it lapses." },
  "may-redeem": { gate: "restriction", sentence: "No restriction stops the holder from giving units back to the fund.", recovery: "Have the restriction lifted, or wait until it lapses." },
  "may-be-paid": { gate: "restriction", sentence: "No restriction stops the holder from being paid for units that are burned.", recovery: "Have the restriction lifted, or wait until it lapses." },
  "no-restriction": { gate: "restriction", sentence: "No restriction of the holder is in force.", recovery: "Have the restriction lifted, or wait until it lapses." },
  "successor-unrestricted": { gate: "restriction", sentence: "The successor has no restriction of its own on the instrument.", recovery: "Have the successor's own restriction lifted." },

  standing: { gate: "admission", sentence: "Nothing that only the venue may know stops the act.", recovery: "Ask the venue." },
  "holder-active": { gate: "admission", sentence: "The holder is active: its registration and its terms are accepted. A redemption and its settlement also pass with a registration that lapsed.", recovery: "Have the holder's registration and terms accepted." },
  "not-admitted-yet": { gate: "admission", sentence: "No admission of the holder to the instrument is offered or in force.", recovery: "Withdraw the admission that stands before another is offered." },
  "instrument-repeated": { gate: "admission", sentence: "The registration names each instrument once.", recovery: "Name each instrument once." },
  admitted: { gate: "admission", sentence: "The holder's admission to the instrument is in force.", recovery: "Offer the holder an admission, and have it accept." },
  "credential-in-force": { gate: "admission", sentence: "The credential of the admission has begun.", recovery: "Wait until the credential is in force." },
  "asset-credential": { gate: "admission", sentence: "Who receives an asset whose holders are admitted has the venue's credential for it.", recovery: "Have the receiver admitted to the asset, or name another asset of the reserve." },

  "attributes-valid": { gate: "attribute", sentence: "The attributes that the instrument asks of its holders are verified and in time.", recovery: "Have the attributes that the instrument asks for verified and in time." },
  "attribute-repeated": { gate: "attribute", sentence: "The call names each attribute once.", recovery: "Name each attribute once in a call." },
  "attribute-period": { gate: "attribute", sentence: "Each attribute ends after it begins.", recovery: "Name an end after the beginning." },
  "attribute-in-time": { gate: "attribute", sentence: "An attribute that is verified has not ended.", recovery: "Name an end that is still to come." },
  "attributes-max": { gate: "attribute", sentence: "The holder has no more attributes than a holder may have.", recovery: "Name fewer attributes." },

  "screening-clear": { gate: "screening", sentence: "The holder's screening is clear, or the deployment screens nobody.", recovery: "Wait for a clear screening." },

  "terms-signed": { gate: "consent", sentence: "The holder has signed the terms.", recovery: "Have the holder sign the terms from its wallet." },
  "admission-consent": { gate: "consent", sentence: "The registrar has accepted an admission consent for the instrument.", recovery: "Propose an admission consent and wait for the registrar to accept it." },
  "order-signed": { gate: "consent", sentence: "The holder has signed the order, where it is paid on the ledger.", recovery: "Have the holder sign the order in its wallet." },
  "order-fits": { gate: "consent", sentence: "The signed order is for what is asked, to the fund and cash of the market, and has not expired.", recovery: "Have the holder sign an order to this market, for what is asked, in time." },
  "issuer-powers-agreement": { gate: "consent", sentence: "Issuer and registrar have agreed the power over the instrument.", recovery: "Propose an issuer powers agreement, and have issuer and registrar accept it." },
  "issuer-powers-consent": { gate: "consent", sentence: "The holder has granted its consent to the power.", recovery: "Offer the holder the consent, and have it grant it." },
  "powers-agreed": { gate: "consent", sentence: "Issuer and registrar have agreed each power that the consent asks for.", recovery: "Ask for powers that issuer and registrar have agreed." },

  "in-manifest": { gate: "policy", sentence: "The venue's manifest has the terms of the instrument.", recovery: "Record the instrument first." },
  "primary-market": { gate: "policy", sentence: "A primary market of the instrument is agreed, where the act needs one; for settling, the market that priced the orders.", recovery: "Propose a primary market and have it agreed." },
  "oracle-named": { gate: "policy", sentence: "The instrument or its market names an oracle.", recovery: "Name the instrument's oracle, or agree a primary market." },
  "oracle-of-instrument": { gate: "policy", sentence: "The market's oracle is the instrument's own, where the instrument names one.", recovery: "Name the instrument's own oracle, or none." },
  "attestor-named": { gate: "policy", sentence: "Somebody is named who attests the order's price.", recovery: "Name the instrument's oracle, or agree a primary market." },
  "attestors-suffice": { gate: "policy", sentence: "The market has as many attestors as it requires.", recovery: "Require no more attestors than the market has." },
  distributes: { gate: "policy", sentence: "The instrument distributes monthly at the end of the month's record date.", recovery: "Name a month of the instrument's monthly schedule." },
  "in-order": { gate: "policy", sentence: "The month is the next period of the instrument: it has a point, and no earlier one is open.", recovery: "Execute the months that have a point in their order." },
  "went-ex": { gate: "policy", sentence: "The price went ex after the last payout.", recovery: "Have the oracle publish the price without the income that was paid." },
  "rate-range": { gate: "policy", sentence: "Each withholding rate that a point of the period states is from 0 to 1.", recovery: "Have the oracle correct the point." },
  "rate-acknowledged": { gate: "policy", sentence: "The rate that is acknowledged is the latest of rates that differ.", recovery: "Acknowledge the latest rate, or none where the rates do not differ." },
  "rate-change": { gate: "policy", sentence: "The withholding rates of the period's points do not differ, or the latest is acknowledged, or deployment and policy let it be announced.", recovery: "Name the latest rate as acknowledgedRate." },
  "lines-rolled": { gate: "policy", sentence: "Every line of an earlier period is rolled, or deployment and policy let its holder be left out.", recovery: "Have the earlier lines delivered and rolled." },
  payment: { gate: "policy", sentence: "The order is paid by wire, or its instrument does not rebase.", recovery: "Pay by wire: an order paid on the ledger sets units aside before its index is known." },
  "minimum-subscription": { gate: "policy", sentence: "The subscription is worth at least the minimum, at the last price.", recovery: "Order at least the minimum." },
  "maximum-subscription": { gate: "policy", sentence: "The subscription is worth no more than the policy's limit, at the last price.", recovery: "Order no more than the policy's limit." },
  "maximum-redemption": { gate: "policy", sentence: "The redemption is of no more units than the policy's limit.", recovery: "Order no more units than the policy allows." },
  "minimum-holding": { gate: "policy", sentence: "The redemption leaves the holder nothing, or at least the minimum holding.", recovery: "Leave at least the minimum, or give all units back." },
  "holder-cap": { gate: "policy", sentence: "The instrument has fewer holders and offers than its holder cap.", recovery: "Withdraw an offer that nobody answers, or raise the holder cap." },
  calendar: { gate: "policy", sentence: "The instrument distributes monthly, by a calendar.", recovery: "Set a monthly schedule with a calendar first." },
  "approval-period": { gate: "policy", sentence: "The standing approval ends after it begins, at an instant to come.", recovery: "Name an end after its begin that is still to come." },
  "approval-longest": { gate: "policy", sentence: "The standing approval is for no longer than the longest period that the deployment allows.", recovery: "Name an earlier end." },
  "standing-approval": { gate: "policy", sentence: "The instrument's standing approval is active, and its limit admits the net of the distribution.", recovery: "Grant a standing approval that admits the distribution, or have the distribution approved by people." },
  "effective-ahead": { gate: "policy", sentence: "The policy takes effect at an instant to come, or at once.", recovery: "Set it to take effect later, or name no instant to have it at once." },
  "fixed-after-mint": { gate: "policy", sentence: "Once units were minted, no term changes that they are counted by.", recovery: "Leave these terms out." },
  "fixed-at-once": { gate: "policy", sentence: "Terms that units are counted by change at once, never at an instant to come.", recovery: "Set these terms without an instant." },
  payout: { gate: "policy", sentence: "An instrument that rebases withholds nothing and pays no cash: its units hold the income already.", recovery: "Name withholding 0 and payout units." },
  "payout-places": { gate: "policy", sentence: "Cash is paid out in no more decimal places than the instrument's currency has (ISO 4217).", recovery: "Name no more payoutDecimals than the currency has, or pay units." },
  "swing-forward": { gate: "policy", sentence: "A policy that swings prices has forward pricing: an order that is priced historically deals before the orders of its day are known.", recovery: "Name pricing forward, or no swing." },
  "valid-until": { gate: "policy", sentence: "The registration ends at an instant to come, if it ends.", recovery: "Name an instant to come." },
  "holder-is-venue": { gate: "policy", sentence: "The holder's party is not the venue's own.", recovery: "Name the holder's own party." },
  "no-open-order": { gate: "policy", sentence: "All orders of the holder have ended.", recovery: "Settle, withdraw or release the holder's orders." },
  "no-open-line": { gate: "policy", sentence: "No distribution line of the holder is due, suspended or delivered.", recovery: "Wait until the holder's distribution lines are paid and rolled." },
  "no-carry": { gate: "policy", sentence: "The last distribution of no instrument left the holder as much as a payout's smallest amount.", recovery: "Execute the next distribution, which pays the carry." },
  "no-accrued-income": { gate: "policy", sentence: "No instrument owes the holder an income that is not distributed: a daily one of days since its last distribution, or the gain of units at a record date since.", recovery: "Execute the distribution of the days on which the holder had units." },
  "account-owner": { gate: "policy", sentence: "The account names the holder or the instrument that it belongs to.", recovery: "Name the holder or the instrument whose account it is." },
  "source-active": { gate: "policy", sentence: "The configuration of the deployment names the source.", recovery: "Name a source that is active." },
  "source-instrument": { gate: "policy", sentence: "The source states the instrument.", recovery: "Name an instrument of the source." },
  "source-account": { gate: "policy", sentence: "The external account of the source is mapped.", recovery: "Map the account that the source names." },
  "as-of-ahead": { gate: "policy", sentence: "The statement is of a moment and a business date that have come.", recovery: "Send the statement once its moment has come." },
  "business-date": { gate: "policy", sentence: "The statement is of the business date that its sender names.", recovery: "Name the business date of the file, or none." },
  "statement-of-date": { gate: "policy", sentence: "The statement is the first of its date, follows the last one of it, or corrects one in force.", recovery: "Name the statement in force as the one that is corrected." },
  "account-cash": { gate: "policy", sentence: "Only an account of cash has a currency, or is kept apart for suspended lines.", recovery: "Name neither for an account at a custodian." },
  "account-mapped": { gate: "policy", sentence: "No other external account has the number in that currency.", recovery: "Use the account that is mapped already." },
  "external-accounts-max": { gate: "policy", sentence: "The holder has fewer external accounts than a holder may have.", recovery: "Name another holder." },
  "auto-release-at": { gate: "policy", sentence: "The restriction ends by itself at an instant to come, if it does.", recovery: "Name an instant to come, or none." },
  entries: { gate: "policy", sentence: "Each entry of the batch can be restricted.", recovery: "Correct the entries that are named, or leave them out." },
  "another-receiver": { gate: "policy", sentence: "The receiver of the move is not the holder itself.", recovery: "Name a receiver that is not the holder itself." },
  "one-way": { gate: "policy", sentence: "No holder gives and receives units in one call.", recovery: "Move the units of a holder who also receives some in a call of its own." },
  "moves-few": { gate: "policy", sentence: "The call moves no more instruments than one call may.", recovery: "Name fewer of the holder's instruments at a time." },
  "lines-voidable": { gate: "policy", sentence: "Each distribution line that the order voids is a suspended line of the holder.", recovery: "Name suspended lines of the holder alone." },
  "successor-registered": { gate: "policy", sentence: "The holder has named a successor, and it is registered.", recovery: "Register the holder's successor." },
  "successor-usable": { gate: "policy", sentence: "The cooling time of the successor is over.", recovery: "Wait until the successor's cooling time is over." },
  instrument: { gate: "policy", sentence: "The orders of the iteration are of the settlement's instrument.", recovery: "Name orders of its instrument alone." },
  "in-cycle": { gate: "policy", sentence: "The order is in no open dealing cycle.", recovery: "Settle its cycle, or release the order." },
  priced: { gate: "policy", sentence: "The orders of the iteration are priced and not settled, with no burn requested.", recovery: "Name orders that are priced and not settled, with no burn requested." },
  "paid-by-wire": { gate: "policy", sentence: "The order is paid by wire.", recovery: "Settle it: an order paid on the ledger is delivered and paid in one." },
  "paid-on-ledger": { gate: "policy", sentence: "The order is paid on the ledger.", recovery: "Name orders that are paid on the ledger, to its fund." },
  backed: { gate: "policy", sentence: "No reserve backs the instrument.", recovery: "Mint against its reserve, or redeem from it." },
  "not-recorded": { gate: "policy", sentence: "The instrument that a reserve is to back is recorded, at par or accumulating, and its registrar has configured it.", recovery: "Record the instrument, and have its registrar configure it." },
  "issuer-is-registrar": { gate: "policy", sentence: "The registrar of a backed instrument is its issuer.", recovery: "Have the registrar configure the instrument with itself as its issuer." },
  "unit-is-currency": { gate: "policy", sentence: "The reserve counts in the currency of its instrument.", recovery: "Name the instrument's currency as the unit." },
  "nothing-outstanding": { gate: "policy", sentence: "An instrument without a reserve has no units, no open order, cycle or settlement, and no primary market.", recovery: "Name an instrument of which there is nothing yet." },
  "one-reserve": { gate: "policy", sentence: "No other reserve of the instrument is proposed, active or closing.", recovery: "Close the other reserve first." },
  "own-asset": { gate: "policy", sentence: "The instrument itself is no asset of its reserve.", recovery: "Leave the instrument out of the assets." },
  "reserve-decimals": { gate: "policy", sentence: "The reserve rounds to no more places than the instrument's units have.", recovery: "Name no more places than the instrument's unitDecimals." },
  "initial-share-price": { gate: "policy", sentence: "Only an accumulating reserve has an initial share price.", recovery: "Leave the initial share price out: a unit is worth its par value." },
  feasible: { gate: "policy", sentence: "Some deposits meet the terms of the reserve.", recovery: "Lower minCover or the haircuts, or raise the largest shares." },
  "reserve-active": { gate: "policy", sentence: "The reserve is active: its issuer and its holder have accepted it, and it is not closing. A redemption also passes while it is closing.", recovery: "Have the reserve accepted by its issuer and its holder." },
  "asset-in-terms": { gate: "policy", sentence: "The asset is one of the terms in force, and of those that are to come; of what is paid out, of those in force.", recovery: "Name an asset of the reserve's terms." },
  "one-agreement": { gate: "policy", sentence: "No other agreement to lock the asset for the reserve is proposed or active.", recovery: "Use the agreement that there is, or release it first." },
  "asset-orders-ended": { gate: "policy", sentence: "No mint or redemption of the reserve in the asset is open.", recovery: "Wait until the asset's mints and redemptions have settled, or cancel them." },
  "reserve-empty": { gate: "policy", sentence: "Of a reserve that is closing nothing is outstanding, open or locked, and no agreement to lock is live.", recovery: "Have the units redeemed, and release the lock agreements." },
  "one-amendment": { gate: "policy", sentence: "No other amendment of the reserve awaits its issuer.", recovery: "Withdraw the other amendment, or wait for its answer." },
  "nothing-pending": { gate: "policy", sentence: "Terms that loosen are proposed while no others wait; terms that only tighten may be at any time.", recovery: "Withdraw the amendment that waits, or wait until it is in force." },
  "terms-changed": { gate: "policy", sentence: "The terms differ from those in force.", recovery: "Name terms that differ." },
  "asset-locked": { gate: "policy", sentence: "The terms of an accumulating reserve keep each asset that is locked.", recovery: "Keep the asset, or have what is locked of it released first." },
  "statement-account": { gate: "policy", sentence: "The file has one statement of the source's account or instrument.", recovery: "Send the statement of the source's own account or instrument, once in a file." },
  "statement-complete": { gate: "policy", sentence: "The file is the whole statement: its first and last page, with all positions.", recovery: "Send the statement as one file that is complete." },
  "statement-field": { gate: "policy", sentence: "Each element or column that is read is there once, in its form.", recovery: "Have the sender correct the file at the line that is named." },
  "statement-places": { gate: "policy", sentence: "No figure of the file has more than 10 decimal places that are not zero.", recovery: "Have the sender round its figures to 10 places." },
  "statement-assets": { gate: "policy", sentence: "No account has an asset twice at one safekeeping place.", recovery: "Have the sender state each asset once for each account and place." },
  "statement-nav": { gate: "policy", sentence: "The statement has one official net asset value in the instrument's currency, or its valuation is suspended.", recovery: "Send the official net asset value: an estimate alone prices nothing." },
  "statement-function": { gate: "policy", sentence: "The report is new, or replaces the statement that the sender names in `corrects`.", recovery: "Send the whole report, and name in `corrects` the statement that it replaces." },
  "statement-columns": { gate: "policy", sentence: "The columns of the file are those of its source, and each row has them all.", recovery: "Have the sender correct the row that is named." },
  "own-reserve": { gate: "policy", sentence: "The holder that deposits is not the reserve's own.", recovery: "Name another holder." },
  "lock-agreement": { gate: "policy", sentence: "An agreement to lock the asset for the reserve is active.", recovery: "Propose a lock agreement for the asset, and have its registrar and the reserve's holder accept it." },

  "window-open": { gate: "window", sentence: "The ordering window of the policy is open.", recovery: "Order while the policy's window is open." },
  "cut-off-to-come": { gate: "window", sentence: "The cut-off that is named is still to come.", recovery: "Name a cut-off that is still to come." },
  "cut-off-in-reach": { gate: "window", sentence: "The cut-off that is named is within the coming year.", recovery: "Name a cut-off of the coming year." },
  "cut-off-of-instrument": { gate: "window", sentence: "The cut-off that is named is one of the instrument's rule.", recovery: "Name a cut-off of the instrument." },
  "settle-by-after-cut-off": { gate: "window", sentence: "The cycle's last time to settle is after the cut-off, and before its orders run out.", recovery: "Name a time after the cut-off, at which its orders still stand." },
  "record-date-passed": { gate: "window", sentence: "The record date has passed, and the projection has read the ledger as it was then.", recovery: "Execute the month after its record date." },
  "cut-off-passed": { gate: "window", sentence: "The cut-off of the cycle has passed.", recovery: "Wait for the cut-off: until then the cycle takes orders." },
  "settle-by": { gate: "window", sentence: "The order's or the cycle's time to settle has not passed.", recovery: "Release the order: its time to settle passed." },
  "cycle-sequence": { gate: "window", sentence: "No cycle of an earlier cut-off is open.", recovery: "Settle or release it first." },
  "deadline-ahead": { gate: "window", sentence: "The deadline of the standing settlement or of the reserve's order is still to come.", recovery: "Name a deadline that is still to come." },
  "offer-in-time": { gate: "window", sentence: "The offer of the admission and the admission end at instants to come, if they end.", recovery: "Name instants that are still to come." },
  "offer-period": { gate: "window", sentence: "The admission ends after it begins.", recovery: "Name an end after the beginning." },
  "market-in-time": { gate: "window", sentence: "The primary market ends at an instant to come, if it ends.", recovery: "Name an end that is still to come." },
  "provision-in-time": { gate: "window", sentence: "The fund's consent to provisions ends at an instant to come, if it ends.", recovery: "Name an end that is still to come." },
  "agreement-in-time": { gate: "window", sentence: "The issuer powers agreement ends at an instant to come, if it ends.", recovery: "Name an end that is still to come." },
  "consent-in-time": { gate: "window", sentence: "The offer of the issuer powers consent and the consent end at instants to come, if they end.", recovery: "Name an end that is still to come." },

  "unit-decimals": { gate: "units", sentence: "Units have no more decimal places than the instrument's units have.", recovery: "Name units with fewer places." },
  "units-held": { gate: "units", sentence: "The holder holds units of the instrument.", recovery: "Name a holder that holds units of the instrument." },
  "enough-units": { gate: "units", sentence: "The holder holds the units that are to move.", recovery: "Name no more than is held." },
  "locks-releasable": { gate: "units", sentence: "Each lock on the units is one that a forced act can end.", recovery: "End what locks the units first: no forced act ends such a lock." },
  "zero-units": { gate: "units", sentence: "The holder holds no units of any instrument.", recovery: "Have the holder redeem or transfer its units." },
  "units-free": { gate: "units", sentence: "The holder has the ordered units free, at the last price where it orders by amount.", recovery: "Order no more than the holder has free." },
  "too-large": { gate: "units", sentence: "The order is for fewer than 10^15 units at the last price, and of a rebasing instrument for fewer base units: no order of more can be priced.", recovery: "Order fewer units, or a smaller amount." },
  "too-small": { gate: "units", sentence: "The amount less its fee buys some units at the last price, and units redeemed are paid at least the currency's smallest amount; a deposit mints some units, and units redeemed from a reserve are paid some of the asset.", recovery: "Order an amount that buys at least the smallest part of a unit." },
  "base-units": { gate: "units", sentence: "Units ordered of a rebasing instrument come to some base units at the last index.", recovery: "Order more units: these round to no base units." },
  "cycle-has-orders": { gate: "units", sentence: "The cycle has orders.", recovery: "Release the cycle: no order is in it." },
  "mint-requested": { gate: "units", sentence: "No mint request of the order awaits the registrar.", recovery: "Wait for the registrar to accept or reject the mint request." },
  "units-allocated": { gate: "units", sentence: "The holder has allocated the order's units.", recovery: "Have the holder allocate the order's units from its wallet." },
  "burn-requested": { gate: "units", sentence: "No burn request of the order is open.", recovery: "Have the burn request taken back by who made it, or rejected by the registrar." },
  committed: { gate: "units", sentence: "The parties have committed what the orders of the iteration take of them; where cash is missing, the gate is `cash`.", recovery: "Name fewer orders: their payer has committed less than they take." },

  "currency-decimals": { gate: "cash", sentence: "Amounts have no more decimal places than the instrument's currency has.", recovery: "Name an amount with fewer places." },
  "cash-allocated": { gate: "cash", sentence: "The order's cash is allocated; in an iteration of a standing settlement no order has cash allocated to itself.", recovery: "Have the holder allocate the order's cash from its wallet." },
  "allocation-live": { gate: "cash", sentence: "The allocation of the mint's deposit still stands.", recovery: "Have the depositor accept the mint again with another allocation." },
  "fund-cash": { gate: "cash", sentence: "The fund has allocated the cash that the cycle pays out beyond what it takes in, or a provision is agreed, and one provider keeps the cash of each payment.", recovery: "Have the fund allocate it to itself for the cycle, with one provider, or agree a provision." },
  "funding-asset": { gate: "cash", sentence: "The funding is the market's cash or units of the instrument.", recovery: "Fund it with the market's cash or with the instrument's units." },
  "cash-on-ledger": { gate: "cash", sentence: "An order paid on the ledger names no bank lines.", recovery: "Name no bank lines." },
  "cash-line-repeated": { gate: "cash", sentence: "Each bank line is named once for the order.", recovery: "Name each bank line once." },
  "line-known": { gate: "cash", sentence: "Each bank line is one of a statement in force, of an account that is mapped to the instrument.", recovery: "Name lines of the newest statement of the instrument's account." },
  "line-side": { gate: "cash", sentence: "Each bank line is in the order's currency, and a credit where it pays a subscription, a debit where it pays a redemption or a refund.", recovery: "Name lines that move the cash the way the order does." },
  "line-left": { gate: "cash", sentence: "Each bank line has the named amount left, after what other orders took of it.", recovery: "Name no more of a line than it has left." },
  "cash-over": { gate: "cash", sentence: "The bank lines come to no more than the order.", recovery: "Match no more than the order comes to." },
  "cash-matched": { gate: "cash", sentence: "The bank lines come to all of the order's cash.", recovery: "Name the bank lines that paid the whole order." },
  "refund-over": { gate: "cash", sentence: "The bank lines of the refund come to no more than is still to be paid back.", recovery: "Name no more than the order has to pay back." },

  "feed-usable": { gate: "nav-feed", sentence: "The point that prices is neither corrected nor withdrawn, and the administrator's NAV of its business date confirms it, where a feed is mapped.", recovery: "Wait for a statement of the business date that confirms the price, or have it corrected; release an order whose point is taken back, to be claimed anew." },
  "orders-priced": { gate: "nav-feed", sentence: "All orders of the cycle have a price.", recovery: "Wait for the orders' price, or withdraw what gets none." },
  "one-point": { gate: "nav-feed", sentence: "One point of the price series priced all orders of the cycle.", recovery: "Release the orders that another point priced." },
  "price-of-cycle": { gate: "nav-feed", sentence: "All orders of the cycle have the price that its point and the dealing rules give.", recovery: "Release the orders that are priced otherwise." },

  "price-known": { gate: "reserve-cover", sentence: "The asset and the share of the reserve have a price, at which the order is within the limit of one.", recovery: "Have the asset's source publish a price." },
  "price-fresh": { gate: "reserve-cover", sentence: "Each price that the order rests on is no older than the terms allow, and not of the future.", recovery: "Have the asset's source publish a new price." },
  "price-moved": { gate: "reserve-cover", sentence: "The prices still give as much as the order is for.", recovery: "Cancel the order and start another one at the prices of now." },
  cover: { gate: "reserve-cover", sentence: "After the act the counted value of the reserve covers what is outstanding.", recovery: "Have more locked, or units redeemed." },
  "asset-available": { gate: "reserve-cover", sentence: "As much of the asset is locked as the redemption pays, after what open redemptions are paid.", recovery: "Redeem fewer units, or for another asset of the reserve." },

  "on-registry": { gate: "ledger", sentence: "The registrar has configured the instrument on the ledger.", recovery: "Have the registrar configure the instrument." },
  "history-whole": { gate: "ledger", sentence: "The history of the projection holds the register of every day of the period, and the distribution before.", recovery: "Execute the month with a projection that has read the ledger since before it." },
  "distribution-size": { gate: "ledger", sentence: "The distribution has no more lines than the deployment allows.", recovery: "Raise distribution.linesMax." },
  "transaction-size": { gate: "ledger", sentence: "One ledger transaction can use as many contracts as the act takes.", recovery: "Raise ledger.maxInputs to what the ledger allows." },
  "ledger-credential": { gate: "ledger", sentence: "The ledger lets the engine act.", recovery: null },

  "holder-id": { gate: null, sentence: "No other holder has the id.", recovery: null },
  party: { gate: null, sentence: "The party is no holder yet.", recovery: null },
  "successor-named": { gate: null, sentence: "The holder has no successor yet.", recovery: null },
  "webhooks-max": { gate: null, sentence: "There are fewer webhooks than there may be.", recovery: null },
  "signing-key": { gate: null, sentence: "A key that signs deliveries has begun, where the deployment has keys of webhooks.", recovery: "Wait until the first key begins (notBefore), or give the deployment a key that has begun." }
} as const satisfies Readonly<Record<string, ConditionRow>>

/** Name of a condition: the value of `check` in a problem and in a precheck. */
export type ConditionName = keyof typeof conditions

/**
 * Description of a member that names a condition. The document of the API adds the names; a client that
 * bundles the schema of a problem does without them.
 */
export const description =
  "The name of a check. An open set: a client must expect more. A state-conflict names a set of states, such as HolderState."
