/** Every machine of the catalogue keeps the laws of machines: a new one is tested by being listed. */
import { machines } from "#core/catalogue.ts"
import { machineLaws } from "#core/testing/index.ts"

for (const machine of machines) machineLaws(machine)
