/** Every machine of the catalogue keeps the laws of machines: a new one is tested by being listed. */
import { machines } from "../../packages/engine-core/src/catalogue.ts"
import { machineLaws } from "../../packages/engine-core/src/testing/index.ts"

for (const machine of machines) machineLaws(machine)
