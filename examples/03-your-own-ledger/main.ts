/** The whole command `bursar` over a ledger of your own: `node 03-your-own-ledger/main.ts start`. */
// #region serve
import * as Deployment from "@bursar/http-host/deployment"
import { Duration, Layer } from "effect"
import * as PacedLedger from "./PacedLedger.ts"

const { simulatedLedger } = Deployment
const paced = PacedLedger.layer({ atOnce: 4, retryAfter: Duration.millis(100) })

Deployment.main({
  // A ledger that is reached over the network takes the place of the whole part: `ledgerOf`.
  ledger: {
    ...simulatedLedger,
    layer: (config) => Layer.provideMerge(paced, simulatedLedger.layer(config))
  }
})
// #endregion
