/** The interface of the service as one value: what the host serves and what a client calls. */
import { Catalogue } from "@bursar/engine-core"
import * as Interface from "./Interface.ts"
import * as Route from "./Route.ts"

/** Every route of this engine. */
export const routes = Route.table(Catalogue)

export const Api = Interface.make(routes)
