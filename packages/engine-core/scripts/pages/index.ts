/** Every page that is drawn from the tables of the core. */
import { checkPage } from "./checks.ts"
import { conditionPage } from "./conditions.ts"
import { eventPage } from "./events.ts"
import { machinePages } from "./machines.ts"
import { operationPage } from "./operations.ts"
import type { Page } from "./page.ts"
import { refusalPage } from "./refusals.ts"
import { rolePage } from "./roles.ts"
import { statementSchema } from "./statements.ts"
import { workerPage } from "./workers.ts"

export const pages = (): ReadonlyArray<Page> => [
  ...machinePages(),
  operationPage(),
  refusalPage(),
  conditionPage(),
  checkPage(),
  eventPage(),
  rolePage(),
  workerPage(),
  statementSchema()
]
