/** The whole of example 01 as a page loads it: the first write, then a subscription from claim to close. */
import "../../../examples/01-embed-the-engine/first-write.ts"
import "../../../examples/01-embed-the-engine/main.ts"
