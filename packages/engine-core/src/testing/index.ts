/** Test kit for state machines: laws, and given-when-then. */
export { type Decider, given, givenState, type Then } from "./GivenWhenThen.ts"
export { type Law, laws, machineLaws, walk } from "./MachineLaws.ts"
