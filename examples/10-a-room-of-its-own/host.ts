/** The whole command `bursar` with the room of loans: `node 10-a-room-of-its-own/host.ts start`. */
// #region serve
import * as Deployment from "@bursar/http-host/deployment"
import { room } from "./loans.ts"
import { loanRules } from "./rules.ts"

Deployment.main({
  rooms: [room],
  // Over a ledger of one's own nothing is added here: it has the template already.
  ledger: Deployment.simulatedLedgerWith({ entities: [loanRules] })
})
// #endregion
