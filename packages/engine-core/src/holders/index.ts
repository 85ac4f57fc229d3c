/** What the holders context holds: its state sets, then its writes and reads. */
import { AttributeMachine } from "./attribute/AttributeMachine.ts"
import { HolderMachine } from "./holder/HolderMachine.ts"
import { ScreeningMachine } from "./screening/ScreeningMachine.ts"

export const machines = [HolderMachine, AttributeMachine, ScreeningMachine] as const
export const judged = [] as const
