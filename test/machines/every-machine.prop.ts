/** Laws of machines, for every machine of the catalogue: a new one is tested once it is listed. */
import { machines } from "#core/catalogue.ts"
import { machineLaws } from "#core/testing/index.ts"

for (const machine of machines) machineLaws(machine)
